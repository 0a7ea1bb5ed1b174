//! What errors mean for the kind: its table, its classifier, and the errors of extensions.

use std::time::Duration;

use super::pass::Pass;
use crate::backoff::RetryClass;
use crate::classify::classify;
use crate::condition::reason;
use crate::extension::{ExtensionError, Next};
use crate::outcome::Failure;
use crate::remote::{Refusal, RemoteError};

impl Pass<'_> {
    /// What a refusal means for this kind. One of "not found" that does not mean the resource is looked at again, whatever
    /// its class.
    pub(super) async fn meaning(&self, refusal: Refusal) -> Failure {
        let (error, retry_after, doubt) = match refusal {
            Refusal::Known(failure) => return failure,
            Refusal::Told {
                error,
                retry_after,
                doubt,
            } => (error, retry_after, doubt),
        };
        let mut failure = self.classified(&*error, retry_after).await;
        if let Some(doubt) = doubt {
            failure.message = format!("{}; {doubt}", failure.message);
            failure = failure.as_warning();
            failure.retry = RetryClass::Slow;
        }
        failure
    }

    /// The tables of error rules, wrapped by the kind's classifier (ASO behaviour §1.7).
    pub(super) async fn classified(
        &self,
        error: &dyn RemoteError,
        after: Option<Duration>,
    ) -> Failure {
        let error = error.covering(&self.findings.inputs.resolved.secret_values());
        let default = classify(self.kind().errors, &*error, after);
        let Some(classifier) = self.points.error_classifier.clone() else {
            return default;
        };
        let next = Next::value(default.clone());
        let classified = classifier
            .classify(&self.context(), &self.current(), &*error, next)
            .await;
        classified.unwrap_or_else(|problem| {
            tracing::warn!(error = %problem, "the error classifier failed; using the table");
            default
        })
    }

    /// What the refusal of an action means for this kind. What is not there now may come.
    pub(super) async fn action_failure(&self, refusal: Refusal) -> Failure {
        let status = match &refusal {
            Refusal::Told { error, .. } => error.status(),
            Refusal::Known(_) => None,
        };
        let failure = self.meaning(refusal).await;
        match status {
            Some(404 | 410) => failure.as_warning(),
            _ => failure,
        }
    }

    /// What an extension's error becomes.
    pub(super) async fn extension_failure(&self, error: ExtensionError) -> Failure {
        match error {
            ExtensionError::Azure {
                error, retry_after, ..
            } => {
                let refusal = Refusal::Told {
                    error,
                    retry_after,
                    doubt: None,
                };
                self.action_failure(refusal).await
            }
            ExtensionError::Unanswered { failure, .. } => *failure,
            other => Failure::warning(reason::FAILED, RetryClass::Slow, other.to_string()),
        }
    }
}

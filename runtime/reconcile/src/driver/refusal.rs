//! What errors mean for the kind: its table, its classifier, and the errors of extensions.

use std::time::Duration;

use armature_azure::CloudError;

use super::pass::Pass;
use crate::backoff::RetryClass;
use crate::classify::classify;
use crate::condition::reason;
use crate::extension::{ExtensionError, Next};
use crate::outcome::Failure;
use crate::remote::{Refusal, transport_failure};

impl Pass<'_> {
    /// What a refusal means for this kind. One of "not found" that does not mean the resource is looked at again, whatever
    /// its class.
    pub(super) async fn meaning(&self, refusal: Refusal) -> Failure {
        let (error, retry_after, doubt) = match refusal {
            Refusal::Known(failure) => return failure,
            Refusal::Azure {
                error,
                retry_after,
                doubt,
            } => (error, retry_after, doubt),
        };
        let mut failure = self.classified(*error, retry_after).await;
        if let Some(doubt) = doubt {
            failure.message = format!("{}; {doubt}", failure.message);
            failure = failure.as_warning();
            failure.retry = RetryClass::Slow;
        }
        failure
    }

    /// The tables of error rules, wrapped by the kind's classifier (ASO behaviour §1.7).
    pub(super) async fn classified(&self, error: CloudError, after: Option<Duration>) -> Failure {
        let error = error.covering(&self.findings.inputs.resolved.secret_values());
        let default = classify(self.kind().errors, &error, after);
        let Some(classifier) = self.points.error_classifier.clone() else {
            return default;
        };
        let next = Next::value(default.clone());
        let classified = classifier
            .classify(&self.context(), &self.current(), &error, next)
            .await;
        classified.unwrap_or_else(|problem| {
            tracing::warn!(error = %problem, "the error classifier failed; using the table");
            default
        })
    }

    /// What an extension's error becomes.
    pub(super) async fn extension_failure(&self, error: ExtensionError) -> Failure {
        match error {
            ExtensionError::Azure {
                error, retry_after, ..
            } => {
                let is_absence = matches!(error.status, Some(404 | 410));
                let failure = self.classified(*error, retry_after).await;
                if is_absence {
                    failure.as_warning()
                } else {
                    failure
                }
            }
            ExtensionError::Transport(error) => transport_failure(&error),
            other => Failure::warning(reason::FAILED, RetryClass::Slow, other.to_string()),
        }
    }
}

//! What Azure's errors, and the lack of an answer, are to the reconciler.

use std::fmt;
use std::sync::Arc;

use armature_azure::{CloudError, Refused, TransportError};
use armature_shapes::kind::ErrorClass;

use super::classify::class_of;
use armature_reconcile::backoff::RetryClass;
use armature_reconcile::condition::{Severity, reason};
use armature_reconcile::outcome::Failure;
use armature_reconcile::remote::RemoteError;

/// An error of Azure Resource Manager as the reconciler sees it.
#[derive(Clone, Debug)]
pub struct ArmError(pub CloudError);

impl fmt::Display for ArmError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl RemoteError for ArmError {
    fn status(&self) -> Option<u16> {
        self.0.status
    }

    fn code(&self) -> &str {
        self.0.code()
    }

    fn has_code(&self, code: &str) -> bool {
        self.0.has_code(code)
    }

    fn class(&self) -> ErrorClass {
        class_of(self)
    }

    fn covering(&self, secrets: &[&str]) -> Arc<dyn RemoteError> {
        Arc::new(Self(self.0.clone().covering(secrets)))
    }
}

/// No answer. A credential that cannot be used is the user's to fix, anything else may pass.
pub(super) fn transport_failure(error: &TransportError) -> Failure {
    let mut failure = if error.is_early() {
        Failure {
            severity: Severity::Info,
            ..Failure::warning(reason::RECONCILING, RetryClass::Poll, error.message.clone())
        }
    } else if error.refused == Some(Refused::Scope) {
        Failure::error(reason::SCOPE_NOT_ALLOWED, error.to_string())
    } else if error.credential {
        // It names the Secret and the key, and no request is to blame.
        Failure::warning(reason::FAILED, RetryClass::Slow, error.message.clone())
    } else {
        Failure::unknown(error.to_string())
    };
    failure.retry_after = error.retry_after;
    failure
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use armature_azure::Method;
    use armature_reconcile::backoff::Requeue;
    use armature_reconcile::condition::Verdict;

    use super::*;

    #[test]
    fn a_credential_that_is_not_ready_yet_is_no_failure() {
        let after = Some(Duration::from_secs(2));
        let early = transport_failure(&TransportError {
            method: Method::Get,
            url: "/subscriptions".to_owned(),
            message: "being read".to_owned(),
            credential: true,
            refused: None,
            retry_after: after,
        });
        let told = Verdict::from(&early);
        assert_eq!(told, Verdict::progress(reason::RECONCILING, "being read"));
        let requeue = Requeue::BackoffAtLeast(RetryClass::Poll, Duration::from_secs(2));
        assert_eq!(early.requeue(), requeue);
    }

    #[test]
    fn a_credential_that_cannot_be_used_is_told_as_a_sentence() {
        let error = |credential: bool| TransportError {
            method: Method::Get,
            url: "/subscriptions".to_owned(),
            message: "key AZURE_CLIENT_ID of Secret a/b cannot be used".to_owned(),
            credential,
            refused: None,
            retry_after: None,
        };
        let told = |credential: bool| transport_failure(&error(credential)).message;
        assert_eq!(told(true), error(true).message);
        assert_eq!(told(false), error(false).to_string());
    }
}

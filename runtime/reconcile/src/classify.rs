//! What an error of a remote means for the object (ASO behaviour §1.7).
//!
//! The rules of one kind are rows `[[errors]]` of its group's curation file. What an error means without them, the remote knows.

use std::time::Duration;

use armature_shapes::kind::{ErrorClass, ErrorRule};

use super::backoff::RetryClass;
use super::condition::Severity;
use super::outcome::Failure;
use crate::remote::RemoteError;

/// Whether a row is about an error: all that it names has to fit.
pub fn matches(rule: &ErrorRule, error: &dyn RemoteError) -> bool {
    let says = |part: &str| {
        let message = error.to_string().to_lowercase();
        message.contains(&part.to_lowercase())
    };
    rule.code.is_none_or(|code| code == error.code())
        && rule
            .status
            .is_none_or(|status| error.status() == Some(status))
        && rule.message.is_none_or(says)
}

/// Class of an error: the kind's own rules come first.
fn class_of(own: &[ErrorRule], error: &dyn RemoteError) -> ErrorClass {
    let rule = own.iter().find(|rule| matches(rule, error));
    rule.map_or_else(|| error.class(), |rule| rule.class)
}

/// The failure that an error becomes when no extension says otherwise: by the kind's own rules, then by those of the
/// remote. Whatever the class of a retry is, it waits at least as long as the remote asked for.
pub fn classify(
    own: &[ErrorRule],
    error: &dyn RemoteError,
    retry_after: Option<Duration>,
) -> Failure {
    let (severity, retry) = match class_of(own, error) {
        ErrorClass::Fatal => (Severity::Error, RetryClass::Slow),
        ErrorClass::RetryFast => (Severity::Warning, RetryClass::Fast),
        ErrorClass::RetrySlow => (Severity::Warning, RetryClass::Slow),
        ErrorClass::RetryVerySlow => (Severity::Warning, RetryClass::VerySlow),
    };
    Failure {
        severity,
        reason: error.code().to_owned(),
        message: error.to_string(),
        retry,
        retry_after,
    }
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::sync::Arc;

    use super::*;
    use crate::backoff::Requeue;

    #[derive(Clone, Debug)]
    struct ErrorOfCode {
        code: String,
        status: Option<u16>,
        message: String,
        class: ErrorClass,
    }

    impl fmt::Display for ErrorOfCode {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str(&self.message)
        }
    }

    impl RemoteError for ErrorOfCode {
        fn status(&self) -> Option<u16> {
            self.status
        }

        fn code(&self) -> &str {
            &self.code
        }

        fn class(&self) -> ErrorClass {
            self.class
        }

        fn covering(&self, _: &[&str]) -> Arc<dyn RemoteError> {
            Arc::new(self.clone())
        }
    }

    fn error(code: &str, status: Option<u16>, message: &str) -> ErrorOfCode {
        ErrorOfCode {
            status,
            code: code.to_owned(),
            message: message.to_owned(),
            class: ErrorClass::RetrySlow,
        }
    }

    #[test]
    fn rules_of_a_kind_come_first_and_need_all_that_they_name() {
        let own = [
            ErrorRule {
                code: Some("BadRequest"),
                status: Some(400),
                message: Some("was not found"),
                class: ErrorClass::RetryFast,
            },
            ErrorRule {
                code: Some("ServiceUnavailable"),
                status: None,
                message: None,
                class: ErrorClass::Fatal,
            },
        ];
        let rows = [
            (
                "BadRequest",
                Some(400),
                "X Was Not Found.",
                ErrorClass::RetryFast,
            ),
            ("BadRequest", Some(400), "no", ErrorClass::RetrySlow),
            ("BadRequest", None, "was not found", ErrorClass::RetrySlow),
            (
                "Conflict",
                Some(400),
                "was not found",
                ErrorClass::RetrySlow,
            ),
            ("ServiceUnavailable", Some(503), "", ErrorClass::Fatal),
        ];
        for (code, status, message, class) in rows {
            let found = class_of(&own, &error(code, status, message));
            assert_eq!(found, class, "{code} {status:?} {message}");
        }
    }

    #[test]
    fn fatal_errors_wait_for_the_user_but_never_while_deleting() {
        let told = ErrorOfCode {
            class: ErrorClass::Fatal,
            ..error("LocationRequired", Some(400), "no location")
        };
        let fatal = classify(&[], &told, None);
        assert_eq!(fatal.severity, Severity::Error);
        assert_eq!(fatal.requeue(), Requeue::Never);
        assert_eq!(
            fatal.as_warning().requeue(),
            Requeue::Backoff(RetryClass::Slow)
        );
    }

    #[test]
    fn retry_after_of_a_failure_is_obeyed() {
        let wait = Duration::from_secs(17);
        for (code, status) in [("TooManyRequests", 429), ("ServiceUnavailable", 503)] {
            let failure = classify(&[], &error(code, Some(status), "slow down"), Some(wait));
            assert_eq!(failure.reason, code);
            assert_eq!(
                failure.requeue(),
                Requeue::BackoffAtLeast(RetryClass::Slow, wait)
            );
        }
    }
}

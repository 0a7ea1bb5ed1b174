//! What an Azure error means for the object: tables of rules, read here (ASO behaviour §1.7).
//!
//! The rules for all kinds are below; those of one kind are rows `[[errors]]` of its group's curation file.

use std::time::Duration;

use armature_shapes::kind::{ErrorClass, ErrorRule};

use super::backoff::RetryClass;
use super::condition::Severity;
use super::outcome::Failure;
use crate::remote::RemoteError;

const fn code(code: &'static str, class: ErrorClass) -> ErrorRule {
    ErrorRule {
        code: Some(code),
        status: None,
        message: None,
        class,
    }
}

const fn any(status: Option<u16>, class: ErrorClass) -> ErrorRule {
    ErrorRule {
        code: None,
        status,
        message: None,
        class,
    }
}

/// Rules for all kinds: ASO behaviour §1.7, row by row, without the codes that only the network's service has. The last
/// one matches everything.
static RULES: &[ErrorRule] = &[
    code("InvalidRequestContent", ErrorClass::Fatal),
    code("InvalidResourceType", ErrorClass::Fatal),
    code("InvalidTemplate", ErrorClass::Fatal),
    code("InvalidValuesForRequestParameters", ErrorClass::Fatal),
    code("K8sVersionNotSupported", ErrorClass::Fatal),
    code("LocationRequired", ErrorClass::Fatal),
    code("MissingRequiredParameter", ErrorClass::Fatal),
    code("PasswordTooLong", ErrorClass::Fatal),
    code("PropertyChangeNotAllowed", ErrorClass::Fatal),
    code("AllocationFailed", ErrorClass::RetrySlow),
    code("AnotherOperationInProgress", ErrorClass::RetrySlow),
    code("AuthorizationFailed", ErrorClass::RetrySlow),
    code("Conflict", ErrorClass::RetrySlow),
    code("FailedIdentityOperation", ErrorClass::RetrySlow),
    code("InvalidResourceReference", ErrorClass::RetrySlow),
    code(
        "InvalidSubscriptionRegistrationState",
        ErrorClass::RetrySlow,
    ),
    code("LinkedAuthorizationFailed", ErrorClass::RetrySlow),
    code("MissingRegistrationForLocation", ErrorClass::RetrySlow),
    code("MissingSubscriptionRegistration", ErrorClass::RetrySlow),
    code("NoRegisteredProviderFound", ErrorClass::RetrySlow),
    code("NotFound", ErrorClass::RetrySlow),
    code("ParentResourceNotFound", ErrorClass::RetrySlow),
    code("PrincipalNotFound", ErrorClass::RetrySlow),
    code("RequestDisallowedByPolicy", ErrorClass::RetrySlow),
    code("ResourceGroupNotFound", ErrorClass::RetrySlow),
    code("ResourceNotFound", ErrorClass::RetrySlow),
    code("ResourceQuotaExceeded", ErrorClass::RetrySlow),
    code("SubscriptionNotRegistered", ErrorClass::RetrySlow),
    code("BadRequest", ErrorClass::RetryVerySlow),
    code("BadRequestFormat", ErrorClass::RetryVerySlow),
    code("InvalidParameter", ErrorClass::RetryVerySlow),
    code("InvalidParameterValue", ErrorClass::RetryVerySlow),
    code("InvalidResourceGroupLocation", ErrorClass::RetryVerySlow),
    code("MethodNotAllowed", ErrorClass::RetryVerySlow),
    code("RegionIsOfferRestricted", ErrorClass::RetryVerySlow),
    code("ReservedResourceName", ErrorClass::RetryVerySlow),
    code("ScopeLocked", ErrorClass::RetryVerySlow),
    code("SkuNotAvailable", ErrorClass::RetryVerySlow),
    code("SubscriptionNotFound", ErrorClass::RetryVerySlow),
    any(Some(400), ErrorClass::RetryVerySlow),
    any(None, ErrorClass::RetrySlow),
];

fn matches(rule: &ErrorRule, error: &dyn RemoteError) -> bool {
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
    let mut rules = own.iter().chain(RULES);
    let rule = rules.find(|rule| matches(rule, error));
    rule.map_or(ErrorClass::RetrySlow, |rule| rule.class)
}

/// The failure that an Azure error becomes when no extension says otherwise: by the kind's own rules, then by those
/// for all kinds. Whatever the class of a retry is, it waits at least as long as Azure asked for.
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
    struct Told {
        code: String,
        status: Option<u16>,
        message: String,
    }

    impl fmt::Display for Told {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str(&self.message)
        }
    }

    impl RemoteError for Told {
        fn status(&self) -> Option<u16> {
            self.status
        }

        fn code(&self) -> &str {
            &self.code
        }

        fn covering(&self, _: &[&str]) -> Arc<dyn RemoteError> {
            Arc::new(self.clone())
        }
    }

    fn error(code: &str, status: Option<u16>, message: &str) -> Told {
        Told {
            status,
            code: code.to_owned(),
            message: message.to_owned(),
        }
    }

    #[test]
    fn no_code_has_two_rules_and_the_last_rule_matches_everything() {
        let mut codes: Vec<_> = RULES.iter().filter_map(|rule| rule.code).collect();
        codes.sort_unstable();
        for pair in codes.windows(2) {
            assert!(pair[0] < pair[1], "{pair:?}");
        }
        assert_eq!(RULES.last(), Some(&any(None, ErrorClass::RetrySlow)));
    }

    /// ASO behaviour §1.7, "Error classification", its rows in its order.
    #[test]
    fn table_of_all_kinds() {
        use ErrorClass::{Fatal, RetrySlow, RetryVerySlow};
        let rows: [(&[&str], Option<u16>, ErrorClass); 8] = [
            (
                &[
                    "InvalidRequestContent",
                    "InvalidResourceType",
                    "K8sVersionNotSupported",
                    "LocationRequired",
                    "PasswordTooLong",
                    "PropertyChangeNotAllowed",
                ],
                Some(400),
                Fatal,
            ),
            (
                &[
                    "AllocationFailed",
                    "AnotherOperationInProgress",
                    "Conflict",
                    "MissingSubscriptionRegistration",
                    "ResourceNotFound",
                    "SubscriptionNotRegistered",
                ],
                Some(400),
                RetrySlow,
            ),
            (
                &[
                    "BadRequest",
                    "InvalidParameter",
                    "ScopeLocked",
                    "SkuNotAvailable",
                ],
                Some(409),
                RetryVerySlow,
            ),
            (&["SomethingNew", "UnknownError"], Some(400), RetryVerySlow),
            // "There is no separate rule for 401, 403, 409, 412, 429 or 5xx."
            (&["SomethingNew"], Some(403), RetrySlow),
            (&["SubscriptionRequestsThrottled"], Some(429), RetrySlow),
            (&["ServiceUnavailable"], Some(503), RetrySlow),
            (&["SomethingNew"], None, RetrySlow),
        ];
        for (codes, status, class) in rows {
            for code in codes {
                let found = class_of(&[], &error(code, status, ""));
                assert_eq!(found, class, "{code} {status:?}");
            }
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
            code("ServiceUnavailable", ErrorClass::Fatal),
        ];
        let rows = [
            (
                "BadRequest",
                Some(400),
                "X Was Not Found.",
                ErrorClass::RetryFast,
            ),
            ("BadRequest", Some(400), "no", ErrorClass::RetryVerySlow),
            (
                "BadRequest",
                None,
                "was not found",
                ErrorClass::RetryVerySlow,
            ),
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
        let fatal = classify(
            &[],
            &error("LocationRequired", Some(400), "no location"),
            None,
        );
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

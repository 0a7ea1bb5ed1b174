//! What an Azure error means for the object: a table of error codes (ASO behaviour §1.7).

use std::time::Duration;

use super::backoff::{Requeue, RetryClass};
use super::condition::{Severity, reason};

/// An error as a condition will show it, and when to try again.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// `Error` stops retries until the object changes; `Warning` retries.
    pub severity: Severity,
    /// Reason in one word: a constant of [`reason`] or Azure's error code.
    pub reason: String,
    /// Text for people, with Azure's request id where there is one.
    pub message: String,
    /// Patience of the retry; without effect when the severity is `Error`.
    pub retry: RetryClass,
    /// Azure asked to wait this long.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// A warning that retries.
    pub fn warning(reason: &str, retry: RetryClass, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            reason: reason.to_owned(),
            message: message.into(),
            retry,
            retry_after: None,
        }
    }

    /// An error that waits for the user.
    pub fn error(reason: &str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            ..Self::warning(reason, RetryClass::Slow, message)
        }
    }

    /// Something that is no answer of Azure: network, TLS, token.
    pub fn unknown(message: impl Into<String>) -> Self {
        Self::warning(reason::UNKNOWN_ERROR, RetryClass::Slow, message)
    }

    /// The same failure, retried whatever it is: deletions never give up (ASO behaviour §1.9 item 4).
    pub fn as_warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// When to look again.
    pub fn requeue(&self) -> Requeue {
        match (self.severity, self.retry_after) {
            (Severity::Error, _) => Requeue::Never,
            (_, Some(least)) => Requeue::BackoffAtLeast(self.retry, least),
            (_, None) => Requeue::Backoff(self.retry),
        }
    }
}

/// What to do about an error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Only a change of the object can help.
    Fatal,
    /// Trying again may help.
    Retryable(RetryClass),
}

/// Codes and their class, sorted by code. A row is data from ASO behaviour §1.7.
static CODES: &[(&str, Class)] = {
    use Class::{Fatal, Retryable};
    const SLOW: Class = Retryable(RetryClass::Slow);
    const VERY_SLOW: Class = Retryable(RetryClass::VerySlow);
    &[
        ("AllocationFailed", SLOW),
        ("AnotherOperationInProgress", SLOW),
        ("AuthorizationFailed", SLOW),
        ("BadRequest", VERY_SLOW),
        ("BadRequestFormat", VERY_SLOW),
        ("Conflict", SLOW),
        ("FailedIdentityOperation", SLOW),
        ("InvalidGatewaySize", Fatal),
        ("InvalidGatewaySkuProvidedForGatewayVpnType", Fatal),
        ("InvalidParameter", VERY_SLOW),
        ("InvalidParameterValue", VERY_SLOW),
        ("InvalidRequestContent", Fatal),
        ("InvalidResourceGroupLocation", VERY_SLOW),
        ("InvalidResourceReference", SLOW),
        ("InvalidResourceType", Fatal),
        ("InvalidSubscriptionRegistrationState", SLOW),
        ("InvalidTemplate", Fatal),
        ("InvalidValuesForRequestParameters", Fatal),
        ("K8sVersionNotSupported", Fatal),
        ("LinkedAuthorizationFailed", SLOW),
        ("LocationRequired", Fatal),
        ("MethodNotAllowed", VERY_SLOW),
        ("MissingRegistrationForLocation", SLOW),
        ("MissingRequiredParameter", Fatal),
        ("MissingSubscriptionRegistration", SLOW),
        ("NoRegisteredProviderFound", SLOW),
        ("NotFound", SLOW),
        ("ParentResourceNotFound", SLOW),
        ("PasswordTooLong", Fatal),
        ("PrincipalNotFound", SLOW),
        ("PrivateIPAddressInReservedRange", Fatal),
        ("PrivateIPAddressNotInSubnet", Fatal),
        ("PropertyChangeNotAllowed", Fatal),
        ("PublicIpForGatewayIsRequired", Fatal),
        ("RegionIsOfferRestricted", VERY_SLOW),
        ("RequestDisallowedByPolicy", SLOW),
        ("ReservedResourceName", VERY_SLOW),
        ("ResourceGroupNotFound", SLOW),
        ("ResourceNotFound", SLOW),
        ("ResourceQuotaExceeded", SLOW),
        ("ScopeLocked", VERY_SLOW),
        ("SkuNotAvailable", VERY_SLOW),
        ("SubscriptionNotFound", VERY_SLOW),
        ("SubscriptionNotRegistered", SLOW),
    ]
};

/// Class of an error code; what the table lacks goes by the HTTP status.
pub fn class_of(code: &str, http_status: Option<u16>) -> Class {
    match CODES.binary_search_by(|(known, _)| known.cmp(&code)) {
        Ok(index) => CODES[index].1,
        Err(_) if http_status == Some(400) => Class::Retryable(RetryClass::VerySlow),
        Err(_) => Class::Retryable(RetryClass::Slow),
    }
}

/// The failure that an Azure error becomes when no extension says otherwise.
pub fn classify(
    code: &str,
    http_status: Option<u16>,
    message: impl Into<String>,
    retry_after: Option<Duration>,
) -> Failure {
    let (severity, retry) = match class_of(code, http_status) {
        Class::Fatal => (Severity::Error, RetryClass::Slow),
        Class::Retryable(retry) => (Severity::Warning, retry),
    };
    Failure {
        severity,
        reason: code.to_owned(),
        message: message.into(),
        retry,
        retry_after,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_unique() {
        for pair in CODES.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{} then {}", pair[0].0, pair[1].0);
        }
    }

    #[test]
    fn table_rows_and_fallbacks() {
        let rows = [
            ("LocationRequired", Some(400), Class::Fatal),
            ("Conflict", Some(409), Class::Retryable(RetryClass::Slow)),
            (
                "BadRequest",
                Some(400),
                Class::Retryable(RetryClass::VerySlow),
            ),
            (
                "SomethingNew",
                Some(400),
                Class::Retryable(RetryClass::VerySlow),
            ),
            (
                "SomethingNew",
                Some(503),
                Class::Retryable(RetryClass::Slow),
            ),
            (
                "TooManyRequests",
                Some(429),
                Class::Retryable(RetryClass::Slow),
            ),
            ("SomethingNew", None, Class::Retryable(RetryClass::Slow)),
        ];
        for (code, status, class) in rows {
            assert_eq!(class_of(code, status), class, "{code} {status:?}");
        }
    }

    #[test]
    fn fatal_errors_wait_for_the_user_but_never_while_deleting() {
        let fatal = classify("LocationRequired", Some(400), "no location", None);
        assert_eq!(fatal.requeue(), Requeue::Never);
        assert_eq!(
            fatal.as_warning().requeue(),
            Requeue::Backoff(RetryClass::Slow)
        );
    }

    #[test]
    fn retry_after_of_a_failure_is_obeyed() {
        let wait = Duration::from_secs(17);
        let failure = classify("TooManyRequests", Some(429), "slow down", Some(wait));
        assert_eq!(
            failure.requeue(),
            Requeue::BackoffAtLeast(RetryClass::Slow, wait)
        );
    }
}

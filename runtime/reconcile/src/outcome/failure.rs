//! What went wrong: as a condition will show it, and when to try again.

use std::time::Duration;

use armature_shapes::quote;

use crate::backoff::{Requeue, RetryClass};
use crate::condition::{Severity, Verdict, reason};
use crate::plain::plain;

/// Bytes of the longest reason (Kubernetes' `metav1.Condition` has 1,024) and message: words of an object and answers of Azure
/// may be of any length, and a status that etcd does not take tells nothing.
const LONGEST_REASON: usize = 1000;
const LONGEST_MESSAGE: usize = 8 << 10;

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

impl From<&Failure> for Verdict {
    fn from(failure: &Failure) -> Self {
        let [mut reason, mut message] =
            [&failure.reason, &failure.message].map(|text| plain(text).into_owned());
        quote::cut(&mut reason, LONGEST_REASON);
        quote::cut(&mut message, LONGEST_MESSAGE);
        Self {
            ready: false,
            severity: failure.severity,
            reason,
            message,
        }
    }
}

//! What could not be exported, and why.

use crate::backoff::RetryClass;
use crate::condition::reason;
use crate::outcome::Failure;

/// Messages named in one condition.
const SHOWN: usize = 8;

/// Why an export cannot be written.
pub(super) enum Unwritten {
    /// The manifest has to change.
    Wrong(Failure),
    /// Azure may have it later.
    Missing(String),
    /// It needs more steps than the object's expressions have left.
    Short(String),
}

impl Unwritten {
    /// As a condition says it.
    pub fn into_message(self) -> String {
        match self {
            Self::Wrong(failure) => failure.message,
            Self::Missing(message) | Self::Short(message) => message,
        }
    }
}

/// What could not be written and may be later.
#[derive(Default)]
pub(super) struct Missing {
    messages: Vec<String>,
    /// An answer of Azure, which has a reason and a class of its own.
    failure: Option<Failure>,
}

impl Missing {
    /// Adds a message.
    pub fn add(&mut self, message: String) {
        self.messages.push(message);
    }

    /// The values; without them the rest is written all the same.
    pub fn unless_failed<T>(&mut self, values: Result<T, Failure>) -> Option<T> {
        let failure = match values {
            Ok(values) => return Some(values),
            Err(failure) => failure,
        };
        self.failure.get_or_insert(failure);
        None
    }

    /// The failure that all of it is together, if there is any.
    pub fn outcome(mut self) -> Result<(), Failure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if self.messages.is_empty() {
            return Ok(());
        }
        let more = self
            .messages
            .split_off(self.messages.len().min(SHOWN))
            .len();
        let mut message = self.messages.join("; ");
        if more > 0 {
            message.push_str(&format!("; and {more} more"));
        }
        Err(Failure::warning(
            reason::EXPORT_FAILED,
            RetryClass::Slow,
            message,
        ))
    }
}

/// The manifest asks for something that cannot be exported.
pub(super) fn export_failure(message: impl Into<String>) -> Failure {
    Failure::error(reason::EXPORT_FAILED, message)
}

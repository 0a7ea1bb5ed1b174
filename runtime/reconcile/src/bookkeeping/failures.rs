//! Operations in a row that failed, after which each next one waits longer.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Longest time between two operations when one after the other fails.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// Operations in a row that failed after Azure had accepted them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    /// Generation of the object that they were for.
    generation: i64,
    /// Whether they were to delete.
    deleting: bool,
    /// How many.
    count: u32,
    /// When the last one was found to have failed.
    last: Timestamp,
}

impl Failures {
    /// The failures with one more, or the first.
    #[must_use]
    pub fn and_one(before: Option<Self>, generation: i64, deleting: bool, now: Timestamp) -> Self {
        let before = before.map_or(0, |failures| failures.count);
        Self {
            generation,
            deleting,
            count: before.saturating_add(1),
            last: now,
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Whether they were for what the object still says: an edit starts over.
    pub(super) fn are_for(&self, generation: i64, deleting: bool) -> bool {
        self.generation == generation && self.deleting == deleting
    }

    /// Time from the last failure to the next operation: a second, and twice as much after each further failure.
    #[must_use]
    pub fn pause(&self) -> Duration {
        let exponent = self.count.saturating_sub(1).min(16);
        Duration::from_secs(1 << exponent).min(LONGEST_PAUSE)
    }

    /// How much of it is left.
    #[must_use]
    pub fn left(&self, now: Timestamp) -> Option<Duration> {
        let passed = Duration::try_from(now.duration_since(self.last)).unwrap_or_default();
        let left = self.pause().checked_sub(passed)?;
        (!left.is_zero()).then_some(left)
    }
}

impl fmt::Display for Failures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        formatter.write_str(&text)
    }
}

//! How many queries a principal may send: so many in each window ("guidance for throttled requests").

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::GraphSettings;

/// Windows by principal: when it began, and how many queries were sent in it.
#[derive(Debug, Default)]
pub struct Quota(BTreeMap<String, (Timestamp, u32)>);

/// What the headers of an answer say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Whether the query is within the quota.
    pub is_admitted: bool,
    /// Queries left in the window.
    pub remaining: u32,
    /// Time until the window ends.
    pub resets_after: Duration,
}

impl Quota {
    /// Takes one query.
    pub fn take(&mut self, principal: &str, settings: &GraphSettings, now: Timestamp) -> Left {
        let window = SignedDuration::try_from(settings.window).unwrap_or(SignedDuration::ZERO);
        let (began, used) = self.0.entry(principal.to_owned()).or_insert((now, 0));
        if now.duration_since(*began) >= window {
            (*began, *used) = (now, 0);
        }
        let is_admitted = *used < settings.quota;
        *used += u32::from(is_admitted);
        let left = window - now.duration_since(*began);
        Left {
            is_admitted,
            remaining: settings.quota - *used,
            resets_after: left.unsigned_abs(),
        }
    }
}

impl Left {
    /// `x-ms-user-quota-resets-after`: whole seconds, rounded up.
    pub fn clock(&self) -> String {
        let seconds = self.resets_after.as_millis().div_ceil(1000);
        format!(
            "{:02}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_begins_with_the_first_query_and_ends_for_all() {
        let (mut quota, settings) = (Quota::default(), GraphSettings::default());
        let start = Timestamp::UNIX_EPOCH;
        for number in 1..=15 {
            let left = quota.take("a", &settings, start);
            assert_eq!((left.is_admitted, left.remaining), (true, 15 - number));
        }
        let later = start + SignedDuration::from_millis(2500);
        let left = quota.take("a", &settings, later);
        assert!(!left.is_admitted);
        assert_eq!(left.clock(), "00:00:03");
        assert!(quota.take("b", &settings, later).is_admitted);
        let after = start + SignedDuration::from_secs(5);
        assert_eq!(quota.take("a", &settings, after).remaining, 14);
    }
}

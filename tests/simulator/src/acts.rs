//! Acts of Azure by name, and when one is due: what the settings and the state know of them.
//!
//! What does not live here: what an act changes ([`crate::autonomy`]).

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// Something that Azure does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// An autoscaler changes a number of units within its bounds.
    Autoscale,
    /// Units are added, and never taken back.
    Inflate,
    /// Places change their roles.
    Failover,
    /// A disk grows.
    Grow,
    /// A key, a certificate, a commit or an address is followed by the next.
    Rotate,
    /// A version goes up.
    Upgrade,
    /// A policy adds a tag.
    TagByPolicy,
    /// Another object adds its item to a list or a map.
    AddItem,
    /// The same answer in other casing, order and format.
    Respell,
}

impl Act {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Autoscale,
        Self::Inflate,
        Self::Failover,
        Self::Grow,
        Self::Rotate,
        Self::Upgrade,
        Self::TagByPolicy,
        Self::AddItem,
        Self::Respell,
    ];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Autoscale => "autoscale",
            Self::Inflate => "inflate",
            Self::Failover => "failover",
            Self::Grow => "grow",
            Self::Rotate => "rotate",
            Self::Upgrade => "upgrade",
            Self::TagByPolicy => "tag-by-policy",
            Self::AddItem => "add-item",
            Self::Respell => "respell",
        }
    }
}

/// What Azure does without being asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Autonomy {
    /// Time from one act to the next, by the simulator's clock.
    #[serde(
        with = "crate::duration::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub every: Option<Duration>,
    /// ARM requests from one act to the next.
    pub every_requests: Option<u64>,
    /// The same seed does the same to the same resources.
    pub seed: u64,
    /// Acts that happen; all where none is named.
    pub acts: Vec<Act>,
    /// Tags that a policy adds to whatever is PUT and has tags.
    pub policy_tags: BTreeMap<String, String>,
}

/// How far the profile is.
#[derive(Clone, Debug, Default)]
pub struct Clockwork {
    due: Option<Timestamp>,
    requests: u64,
    acts: u64,
}

impl Clockwork {
    /// Counts a request, and tells whether an act is due.
    pub fn tick(&mut self, autonomy: &Autonomy, now: Timestamp) -> bool {
        self.requests += 1;
        let by_requests = autonomy
            .every_requests
            .is_some_and(|every| every > 0 && self.requests.is_multiple_of(every));
        let Some(every) = autonomy.every else {
            return by_requests;
        };
        let every = SignedDuration::try_from(every).unwrap_or(SignedDuration::MAX);
        let next = now.saturating_add(every).unwrap_or(Timestamp::MAX);
        let due = *self.due.get_or_insert(next);
        if now >= due {
            self.due = Some(next);
        }
        by_requests || now >= due
    }

    /// The number of the act that happens now.
    pub fn count(&mut self) -> u64 {
        self.acts += 1;
        self.acts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(autonomy: &Autonomy, seconds: &[i64]) -> Vec<bool> {
        let mut clockwork = Clockwork::default();
        let at = |seconds: &i64| Timestamp::from_second(*seconds).unwrap();
        seconds
            .iter()
            .map(|it| clockwork.tick(autonomy, at(it)))
            .collect()
    }

    #[test]
    fn an_act_is_due_by_time_or_by_requests() {
        let nothing = Autonomy::default();
        assert_eq!(ticks(&nothing, &[0, 99]), [false, false]);
        let by_time = Autonomy {
            every: Some(Duration::from_secs(10)),
            ..Autonomy::default()
        };
        let times = [0, 9, 10, 19, 100, 101];
        let expected = [false, false, true, false, true, false];
        assert_eq!(ticks(&by_time, &times), expected);
        let by_requests = Autonomy {
            every_requests: Some(2),
            ..Autonomy::default()
        };
        assert_eq!(
            ticks(&by_requests, &[0, 0, 0, 0]),
            [false, true, false, true]
        );
    }
}

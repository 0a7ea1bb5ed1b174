//! Acts that nobody asks for: the profile `autonomy`.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Act, Wanted, acts_of};
use crate::state::State;

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
    fn tick(&mut self, autonomy: &Autonomy, now: Timestamp) -> bool {
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
}

impl State {
    /// Lets an act happen where the profile says that one is due.
    pub fn act_by_itself(&mut self, now: Timestamp) {
        if !self.clockwork.tick(&self.settings.autonomy, now) {
            return;
        }
        self.clockwork.acts += 1;
        let seed = scattered(self.settings.autonomy.seed, self.clockwork.acts);
        let acts = &self.settings.autonomy.acts;
        let mut wanted: Vec<Wanted> = Vec::new();
        for resource in self.store.all().filter(|resource| resource.visible) {
            let arm_type = resource.id.arm_type();
            let known = acts_of(&arm_type).into_iter();
            let is_meant = |act: &Act| acts.is_empty() || acts.contains(act);
            let has_tags = resource.body.get("tags").is_some();
            let fits = |act: &Act| is_meant(act) && (*act != Act::TagByPolicy || has_tags);
            wanted.extend(known.filter(fits).map(|act| Wanted {
                id: resource.id.to_string(),
                act,
                path: None,
                value: None,
                seed,
            }));
        }
        // From the drawn one on, the first that can happen now.
        let count = u64::try_from(wanted.len()).unwrap_or(1).max(1);
        let first = usize::try_from(seed % count).unwrap_or(0);
        let (before, from) = wanted.split_at(first.min(wanted.len()));
        for wanted in from.iter().chain(before) {
            if self.move_by_itself(wanted).is_ok() {
                return;
            }
        }
    }
}

/// A number that looks like chance and depends on these alone (SplitMix64).
fn scattered(seed: u64, number: u64) -> u64 {
    let mut mixed = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
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

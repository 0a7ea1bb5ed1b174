//! Drift that comes back: somebody in Azure changes again what the operator has put right.
//!
//! The first time it is put right at once, and then with pauses that grow to an hour, so that two that want something else of a
//! value write it a few times a day each and not every minute. Where it cannot be told whether anybody wrote the resource at all,
//! once an hour becomes once a day. What differs although nobody wrote the resource changes by itself: it is left for a day.

use std::time::Duration;

use armature_engine::compare::{Difference, Keyed, MOST_TIMED, Record, Timed, Topic};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::pass::Pass;
use crate::observed::Contest;

/// The pause after a value was put right for the first time; it doubles with each further time.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_mins(1);

/// The longest pause where somebody writes the resource.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_hours(1);

/// The pause where nobody does, or nobody may.
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// How long it is remembered that a value was put right.
const REMEMBERED: SignedDuration = SignedDuration::from_hours(48);

/// Most paths that are told apart. Beyond them all count as one.
const PATHS: usize = MOST_TIMED / 4;

/// Stands for all paths where there are more than are told apart.
const ALL: &str = "";

/// A path that differs: whether and when it was put right before.
#[derive(Clone, Copy, Debug)]
struct Before {
    times: u8,
    at: Timestamp,
    /// Whether nobody has written the resource since; nothing where that cannot be told.
    is_untouched: Option<bool>,
}

/// The pause after it was put right so many times.
fn pause(before: Before) -> SignedDuration {
    let doublings = u32::from(before.times.saturating_sub(1)).min(10);
    let pause = FIRST_PAUSE * 2_i32.pow(doublings);
    match before.is_untouched {
        Some(true) => DAY,
        None if pause > LONGEST_PAUSE * 2 => DAY,
        _ => pause.min(LONGEST_PAUSE),
    }
}

/// When what differs is put right, and how often it was. `befores` has an entry for each path, nothing for one that was not put
/// right before: such a path is put right at once, and the others with it.
fn contest(befores: &[Option<Before>], now: Timestamp) -> Option<Contest> {
    let known: Option<Vec<Before>> = befores.iter().copied().collect();
    let known = known?;
    let due = known
        .iter()
        .map(|before| before.at.saturating_add(pause(*before)))
        .filter_map(Result::ok);
    let until = due.min()?;
    let wait = Duration::try_from(until.duration_since(now)).ok();
    Some(Contest {
        until,
        wait: wait.filter(|wait| !wait.is_zero()),
        times: known.iter().map(|before| before.times).max()?,
        by: None,
        is_noise: known.iter().all(|before| before.is_untouched == Some(true)),
    })
}

fn paths(differences: &[Difference]) -> Vec<&str> {
    if differences.len() > PATHS {
        return vec![ALL];
    }
    differences.iter().map(|it| it.path.as_str()).collect()
}

impl Pass<'_> {
    /// Whether this drift was put right before, and has to wait.
    pub(super) fn contest(
        &self,
        differences: &[Difference],
        record: Option<&Record>,
        keyed: Keyed<'_>,
    ) -> Option<Contest> {
        let now = self.reconciler.clock.now();
        let state = self.state_in_azure();
        let before = |path: &str| {
            let entry = record?.timed(Topic::Contested, path, keyed)?;
            let is_remembered = now.duration_since(entry.at()) < REMEMBERED;
            is_remembered.then(|| Before {
                times: entry.times,
                // A clock that was ahead once makes no pause longer.
                at: entry.at().min(now),
                is_untouched: entry.is_in_state(state.as_deref(), keyed),
            })
        };
        let befores: Vec<_> = paths(differences).into_iter().map(before).collect();
        let contest = contest(&befores, now)?;
        Some(Contest {
            by: self.last_writer(),
            ..contest
        })
    }

    /// What the record is to remember of values that are put right: those of this pass, and earlier ones.
    pub(super) fn contested(
        &self,
        corrected: &[Difference],
        record: Option<&Record>,
        keyed: Keyed<'_>,
    ) -> Vec<Timed> {
        let now = self.reconciler.clock.now();
        let state = self.state_in_azure();
        let paths = paths(corrected);
        let earlier = record.into_iter().flat_map(Record::contested);
        let earlier = earlier.filter(|entry| now.duration_since(entry.at()) < REMEMBERED);
        let is_of_now = |entry: &&Timed| {
            let mut paths = paths.iter();
            paths.any(|path| entry.is_of(Topic::Contested, path, keyed))
        };
        let others = earlier.filter(|entry| !is_of_now(entry)).copied();
        let of_now = paths.iter().map(|path| {
            let before = record.and_then(|record| record.timed(Topic::Contested, path, keyed));
            let before = before.filter(|it| now.duration_since(it.at()) < REMEMBERED);
            // One that was noted in this pass is noted once.
            let times = before.map_or(1, |before| {
                match before.at().as_second() == now.as_second() {
                    true => before.times,
                    false => before.times.saturating_add(1),
                }
            });
            Timed::new((Topic::Contested, path), times, now, None, keyed)
        });
        let all = of_now.chain(others).take(MOST_TIMED / 2);
        // A write of our own is what the state is now.
        all.map(|entry| match self.observed().wrote() {
            true => entry.in_state(state.as_deref(), keyed),
            false => entry,
        })
        .collect()
    }

    /// What Azure says of the resource as a whole, another text after each write.
    fn state_in_azure(&self) -> Option<String> {
        // What stands in a list of it may be written by itself, and the resource does not tell.
        if !self.version().keep_unknown.is_empty() {
            return None;
        }
        let answer = self.findings.seen.answer.as_ref()?;
        let body = answer.body.as_ref();
        let written = body.and_then(|body| body.pointer("/systemData/lastModifiedAt"));
        let written = written.and_then(Value::as_str).map(str::to_owned);
        written.or_else(|| answer.etag.clone())
    }

    /// Who wrote the resource last, where Azure says so: in the resource, else in its Graph.
    fn last_writer(&self) -> Option<String> {
        let graph = || self.reconciler.written.another(&self.object.key());
        self.last_writer_in_resource().or_else(graph)
    }

    fn last_writer_in_resource(&self) -> Option<String> {
        let data = self.findings.remote_body()?.get("systemData")?;
        let text = |name: &str| data[name].as_str().map(armature_shapes::quote::shortened);
        let who = text("lastModifiedBy")?;
        let kind = text("lastModifiedByType").unwrap_or_default();
        let at = text("lastModifiedAt").unwrap_or_default();
        Some(format!("{who} ({kind}) at {at}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before(times: u8, minutes: i64, is_untouched: Option<bool>) -> Option<Before> {
        let at = Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes);
        Some(Before {
            times,
            at,
            is_untouched,
        })
    }

    #[test]
    fn pauses_grow_to_an_hour_and_to_a_day_where_nobody_may_have_written() {
        let minutes =
            |times: u8, is_untouched| pause(before(times, 0, is_untouched).unwrap()).as_mins();
        let grown = [1, 2, 4, 8, 16, 32, 60, 60, 60];
        for (times, expected) in (1..).zip(grown) {
            assert_eq!(minutes(times, Some(false)), expected, "{times}");
        }
        assert_eq!(
            [7, 8, 9].map(|times| minutes(times, None)),
            [60, 1440, 1440]
        );
        assert_eq!(minutes(1, Some(true)), 1440);
        assert_eq!(minutes(255, Some(false)), 60);
    }

    #[test]
    fn a_path_that_is_new_is_put_right_at_once_and_else_the_first_that_is_due() {
        let now = Timestamp::from_second(200).unwrap();
        let contest = |befores: &[Option<Before>]| contest(befores, now);
        assert_eq!(contest(&[]), None);
        assert_eq!(contest(&[before(1, 0, None), None]), None);
        let found = contest(&[before(3, 0, Some(false)), before(1, 1, Some(true))]).unwrap();
        assert_eq!((found.until.as_second(), found.times), (240, 3));
        assert_eq!(found.wait, Some(Duration::from_secs(40)));
        assert!(!found.is_noise);
        let due = contest(&[before(2, 0, Some(false))]).unwrap();
        assert_eq!(due.wait, None);
        assert!(contest(&[before(1, 0, Some(true))]).unwrap().is_noise);
    }
}

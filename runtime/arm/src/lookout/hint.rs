//! Which objects are read because the Graph noted a change. Pure.
//!
//! Some resources change all the time by themselves, and each of our own writes is a change too. So each object has an
//! allowance of hints; when that is used up, it is read at each sync, as if the Graph did not show it.

use std::time::Duration;

use armature_azure::graph::Change;
use armature_reconcile::queue::LatestPass;
use armature_reconcile::written::Put;
use jiff::{SignedDuration, Timestamp};

/// Hints that count at once.
pub(super) const BURST: f64 = 4.0;

/// One more hint counts after so many sync periods.
pub(super) const SYNCS_PER_HINT: u32 = 4;

/// By how much Azure's clock may be another one than ours where nothing is known of it, and at most.
const LONGEST_SKEW: SignedDuration = SignedDuration::from_secs(60);

/// By how much the clocks that Azure notes changes by may differ from the one of its answers, fractions of a second included.
const WITHIN_AZURE: SignedDuration = SignedDuration::from_secs(5);

/// By how much a change may have been earlier or later than Azure notes it, where its clock is ahead by this.
pub fn skew(ahead: Option<SignedDuration>) -> SignedDuration {
    ahead.map_or(LONGEST_SKEW, |ahead| {
        ahead.abs().saturating_add(WITHIN_AZURE).min(LONGEST_SKEW)
    })
}

/// What becomes of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The object is read.
    Read,
    /// We have made the change ourselves, and have read since what came of it.
    Ours,
    /// It was read since, and all was well.
    ReadSince,
    /// Its first look is still to come.
    ReadSoon,
    /// It was hinted at too often: the next sync reads it.
    TooMany,
    /// It is looked at when something changes in the cluster, and not before.
    Unwanted,
}

/// How many more hints of an object count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowance {
    left: f64,
    at: Timestamp,
}

impl Allowance {
    /// All that there are.
    pub fn full(now: Timestamp) -> Self {
        Self {
            left: BURST,
            at: now,
        }
    }

    /// Hints that count now.
    pub fn left(&self, now: Timestamp, sync: Duration) -> f64 {
        let passed = now.duration_since(self.at).as_secs_f64().max(0.0);
        let one = (sync * SYNCS_PER_HINT).as_secs_f64();
        (self.left + passed / one).min(BURST)
    }

    /// Whether there is one left.
    pub fn has_one(&self, now: Timestamp, sync: Duration) -> bool {
        self.left(now, sync) >= 1.0
    }

    /// Uses one, if there is one.
    fn take(&mut self, now: Timestamp, sync: Duration) -> bool {
        let left = self.left(now, sync);
        let has_one = left >= 1.0;
        *self = Self {
            left: if has_one { left - 1.0 } else { left },
            at: now,
        };
        has_one
    }
}

/// A change that Azure noted.
#[derive(Clone, Copy, Debug)]
pub struct Noted {
    /// When it was, by Azure's clock.
    pub at: Timestamp,
    /// By how much that may be wrong by ours.
    pub skew: SignedDuration,
}

/// Whether a change is what the latest PUT of this object has made, and was seen by the read after it. What anybody else has done
/// along with it, a policy or the service itself, has another correlation id, another actor, or comes later.
pub fn is_ours(change: &Change, put: Option<&Put>, names: &[String]) -> bool {
    let is = |word: &Option<String>, name: &str| {
        let word = word.as_deref();
        word.is_some_and(|word| word.eq_ignore_ascii_case(name))
    };
    let Some(put) = put.filter(|put| is(&change.correlation, &put.correlation)) else {
        return false;
    };
    let seen_until = put
        .read
        .and_then(|read| read.checked_add(WITHIN_AZURE).ok());
    names.iter().any(|name| is(&change.actor, name))
        && seen_until.is_some_and(|until| change.at <= until)
}

/// What becomes of the hint that an object's resource changed.
pub fn judge(
    noted: Noted,
    latest: LatestPass,
    allowance: &mut Allowance,
    (now, sync): (Timestamp, Duration),
) -> Verdict {
    match latest {
        LatestPass::Unknown => return Verdict::Unwanted,
        LatestPass::Never => return Verdict::ReadSoon,
        LatestPass::Well(ago) if is_before(noted, now, ago) => return Verdict::ReadSince,
        LatestPass::Well(_) | LatestPass::NotWell => {}
    }
    match allowance.take(now, sync) {
        true => Verdict::Read,
        false => Verdict::TooMany,
    }
}

/// Whether something was for certain before a moment that is so long ago.
fn is_before(noted: Noted, now: Timestamp, ago: Duration) -> bool {
    let since = SignedDuration::try_from(ago).map(|ago| ago.saturating_add(noted.skew));
    since.is_ok_and(|since| now.duration_since(noted.at) > since)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    #[test]
    fn an_object_is_read_unless_it_was_read_since() {
        let well = |ago| LatestPass::Well(Duration::from_secs(ago));
        for (changed, latest, expected) in [
            (900, well(500), Verdict::Read),
            // The pass began at 500, and a minute is what clocks may differ by.
            (445, well(500), Verdict::Read),
            (439, well(500), Verdict::ReadSince),
            // Azure's clock is ahead.
            (1005, well(0), Verdict::Read),
            (100, LatestPass::NotWell, Verdict::Read),
            // After a start: what will be read anyway.
            (900, LatestPass::Never, Verdict::ReadSoon),
            (900, LatestPass::Unknown, Verdict::Unwanted),
        ] {
            let mut allowance = Allowance::full(at(0));
            let noted = Noted {
                at: at(changed),
                skew: skew(None),
            };
            let found = judge(noted, latest, &mut allowance, (at(1000), HOUR));
            assert_eq!(found, expected, "{changed} {latest:?}");
            let used = if expected == Verdict::Read { 3.0 } else { 4.0 };
            assert_eq!(allowance.left(at(1000), HOUR), used, "{changed} {latest:?}");
        }
    }

    #[test]
    fn clocks_differ_by_no_more_than_answers_tell() {
        for (ahead, expected) in [
            (None, 60),
            (Some(0), 5),
            (Some(3), 8),
            (Some(-3), 8),
            (Some(3600), 60),
        ] {
            let found = skew(ahead.map(SignedDuration::from_secs));
            assert_eq!(found, SignedDuration::from_secs(expected), "{ahead:?}");
        }
    }

    #[test]
    fn what_changes_all_the_time_is_read_at_its_syncs_instead() {
        let mut allowance = Allowance::full(at(0));
        let mut read = 0;
        // A change every two minutes of a day.
        for minute in (0..24 * 60).step_by(2) {
            let now = at(minute * 60);
            let latest = LatestPass::NotWell;
            let noted = Noted {
                at: now,
                skew: skew(None),
            };
            let verdict = judge(noted, latest, &mut allowance, (now, HOUR));
            read += u32::from(verdict == Verdict::Read);
            assert!(matches!(verdict, Verdict::Read | Verdict::TooMany));
        }
        assert_eq!(read, 4 + 5);
        assert!(!allowance.has_one(at(24 * 3600 - 100), HOUR));
        assert!(allowance.has_one(at(28 * 3600), HOUR));
    }
}

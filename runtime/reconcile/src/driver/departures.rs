//! Resources whose objects have gone a short while ago and left them in Azure, as this process has seen it.
//!
//! Where a list of the parent names such a resource and drops it, an object is most likely being moved or made again, and the
//! resource stays. A process that has just started knows of none.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use armature_shapes::id::RemoteId;
use jiff::{SignedDuration, Timestamp};

/// How long it is remembered.
const LATELY: SignedDuration = SignedDuration::from_hours(1);

/// Most that are remembered; the oldest go first.
const MOST: usize = 4096;

/// When the object of each went; bounded in number and time.
#[derive(Debug, Default)]
pub struct Departures(Mutex<VecDeque<(String, Timestamp)>>);

impl Departures {
    /// The object of a resource goes, and the resource stays.
    pub(super) fn note(&self, id: &RemoteId, now: Timestamp) {
        let mut all = self.lock();
        all.retain(|(_, at)| now.duration_since(*at) < LATELY);
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back((id.as_str().to_lowercase(), now));
    }

    /// Whether that was within the last hour.
    pub(super) fn has_lately(&self, id: &RemoteId, now: Timestamp) -> bool {
        let id = id.as_str().to_lowercase();
        let all = self.lock();
        let mut of_id = all.iter().filter(|(known, _)| *known == id);
        of_id.any(|(_, at)| now.duration_since(*at) < LATELY)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, Timestamp)>> {
        // A panic while the list was held leaves a list that is still valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use armature_shapes::testing::gadget::MODEL;

    use super::*;

    #[test]
    fn what_has_gone_is_known_for_an_hour_and_the_oldest_go_first() {
        let departures = Departures::default();
        let start = Timestamp::UNIX_EPOCH;
        let id = |name: &str| {
            let text = format!("/subscriptions/s/resourceGroups/g/providers/P/t/{name}");
            RemoteId::parse(&MODEL, &text).unwrap()
        };
        departures.note(&id("a"), start);
        let after = |minutes: i64| start + SignedDuration::from_mins(minutes);
        assert!(departures.has_lately(&id("A"), after(59)));
        assert!(!departures.has_lately(&id("b"), after(1)));
        assert!(!departures.has_lately(&id("a"), after(60)));
        for number in 0..MOST {
            departures.note(&id(&number.to_string()), after(1));
        }
        assert!(!departures.has_lately(&id("a"), after(1)));
        assert!(departures.has_lately(&id("0"), after(1)));
    }
}

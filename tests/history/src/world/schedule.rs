//! When which object is looked at, by the injected clock.

use std::time::Duration;

use armature_runtime::reconcile::backoff::{Periods, Requeue, RetryClass};
use armature_runtime::reconcile::testing::FixedRandom;
use armature_runtime::resource::ObjectKey;
use jiff::Timestamp;

/// Attempts in a row after which an object counts as one that waits for somebody.
const PATIENCE: u32 = 14;

#[derive(Clone, Debug)]
struct Entry {
    key: ObjectKey,
    due: Timestamp,
    last: Requeue,
    attempts: u32,
    /// Those since somebody wanted it.
    waited: u32,
}

impl Entry {
    /// Whether nothing is expected of it but that it stays as it is.
    fn is_settled(&self) -> bool {
        match self.last {
            Requeue::Sync | Requeue::Never | Requeue::Backoff(RetryClass::VerySlow) => true,
            Requeue::Backoff(_) | Requeue::BackoffAtLeast(..) => self.waited >= PATIENCE,
            _ => false,
        }
    }
}

/// Keys and when they are due.
#[derive(Clone, Debug, Default)]
pub struct Schedule(Vec<Entry>);

impl Schedule {
    /// The key is wanted at once.
    pub fn want(&mut self, key: &ObjectKey, now: Timestamp) {
        match self.0.iter_mut().find(|entry| entry.key == *key) {
            Some(entry) => {
                entry.due = entry.due.min(now);
                entry.last = Requeue::Now;
                entry.waited = 0;
            }
            None => self.0.push(Entry {
                key: key.clone(),
                due: now,
                last: Requeue::Now,
                attempts: 0,
                waited: 0,
            }),
        }
    }

    /// All that is known is forgotten.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// What a pass asked for.
    pub fn finish(&mut self, key: &ObjectKey, requeue: Requeue, now: Timestamp) {
        let Some(index) = self.0.iter().position(|entry| entry.key == *key) else {
            return;
        };
        let entry = &mut self.0[index];
        entry.attempts = requeue.attempts(entry.attempts);
        entry.waited = requeue.attempts(entry.waited);
        entry.last = requeue;
        let delay = Periods::default().delay(requeue, entry.attempts, &FixedRandom(0.5));
        match delay {
            Some(delay) => entry.due = later(now, delay),
            None => {
                self.0.remove(index);
            }
        }
    }

    /// The key that is due first, when that is not after the moment.
    pub fn next(&self, until: Timestamp) -> Option<(ObjectKey, Timestamp)> {
        let due = self.0.iter().filter(|entry| entry.due <= until);
        let first = due.min_by_key(|entry| entry.due)?;
        Some((first.key.clone(), first.due))
    }

    /// Whether nothing is due but syncs.
    pub fn is_quiet(&self) -> bool {
        self.0.iter().all(Entry::is_settled)
    }

    /// What the last pass over a key asked for.
    pub fn last(&self, key: &ObjectKey) -> Option<Requeue> {
        let mut entries = self.0.iter();
        let entry = entries.find(|entry| entry.key == *key)?;
        Some(entry.last)
    }
}

fn later(now: Timestamp, delay: Duration) -> Timestamp {
    now.saturating_add(delay).unwrap_or(Timestamp::MAX)
}

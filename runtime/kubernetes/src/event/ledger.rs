//! Which events there are, and what of them is due to be written.
//!
//! What happens again within [`IDLE`] is counted in the series of the first event: the second time is written at once, later
//! ones together, at most every [`REFRESH`]. An object may have [`BURST`] events, and one more every [`REFILL`]; what is
//! beyond that is counted in the series of its latest one. These are the bounds of Kubernetes' own recorder (client-go,
//! `tools/events` and the spam filter of `tools/record`).

use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use armature_shapes::quote;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::ObjectReference;

use super::figures::EventFigures;

/// A series ends when nothing happened for so long.
const IDLE: SignedDuration = SignedDuration::from_mins(6);

/// A running series is written at most so often.
const REFRESH: SignedDuration = SignedDuration::from_mins(1);

/// Events that an object may have at once.
const BURST: f64 = 25.0;

/// After this time it may have one more.
const REFILL: SignedDuration = SignedDuration::from_mins(5);

/// Pause before what failed is tried again, and how often it is.
const PAUSE: SignedDuration = SignedDuration::from_secs(10);
const TRIES: u32 = 12;

/// Longest message that an Event holds (Kubernetes API: 1 KiB).
const MESSAGE_LIMIT: usize = 1000;

/// Something that happened.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub(super) regarding: ObjectReference,
    pub(super) warning: bool,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) at: Timestamp,
}

/// By what repeats are known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// The object.
    uid: String,
    pub(super) warning: bool,
    pub(super) reason: String,
    pub(super) message: String,
}

/// An event as it is to be written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Job {
    pub(super) key: Arc<Key>,
    pub(super) name: String,
    pub(super) regarding: ObjectReference,
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    pub(super) count: i32,
    /// Whether the API server does not have it yet.
    pub(super) is_new: bool,
}

/// What the API server said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It has this many.
    Written(i32),
    /// It has forgotten the event: they live for an hour by default.
    Expired,
    /// It may take it later.
    Failed,
    /// It never will: the namespace goes, or the right is missing.
    Refused,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Rests,
    Waits,
    IsWritten,
    RetriesAt(Timestamp),
}

#[derive(Debug)]
struct Event {
    name: String,
    regarding: ObjectReference,
    first: Timestamp,
    last: Timestamp,
    count: i32,
    /// How many the API server knows of, and since when.
    written: i32,
    written_at: Timestamp,
    failures: u32,
    state: State,
}

impl Event {
    fn is_due(&self, now: Timestamp) -> bool {
        self.count > self.written
            && (self.written <= 1
                || now.duration_since(self.written_at) >= REFRESH
                || self.is_idle(now))
    }

    fn is_idle(&self, now: Timestamp) -> bool {
        now.duration_since(self.last) >= IDLE
    }
}

/// How many events an object may still have.
#[derive(Debug)]
struct Allowance {
    left: f64,
    at: Timestamp,
    latest: Arc<Key>,
}

impl Allowance {
    fn left(&self, now: Timestamp) -> f64 {
        let refilled = now.duration_since(self.at).as_secs_f64() / REFILL.as_secs_f64();
        (self.left + refilled).min(BURST)
    }
}

/// All events of the last minutes.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    events: HashMap<Arc<Key>, Event>,
    waiting: VecDeque<Arc<Key>>,
    allowances: HashMap<String, Allowance>,
    /// How many are being written, or wait for another try.
    under_way: usize,
    written: u64,
    merged: u64,
    lost: u64,
}

impl Ledger {
    /// Takes note of something that happened.
    pub(super) fn note(&mut self, note: Note) {
        let Note {
            regarding,
            warning,
            reason,
            mut message,
            at,
        } = note;
        quote::cut(&mut message, MESSAGE_LIMIT);
        let key = Arc::new(Key {
            uid: regarding.uid.clone().unwrap_or_default(),
            warning,
            reason,
            message,
        });
        if self.count_in(&key, at) {
            return;
        }
        if let Some(latest) = self.spend(&key, at)
            && self.count_in(&latest, at)
        {
            return;
        }
        let event = Event {
            name: name(&regarding, &key, at),
            regarding,
            first: at,
            last: at,
            count: 1,
            written: 0,
            written_at: at,
            failures: 0,
            state: State::Waits,
        };
        self.events.insert(Arc::clone(&key), event);
        self.waiting.push_back(key);
    }

    /// Counts one more in a series that goes on.
    fn count_in(&mut self, key: &Arc<Key>, at: Timestamp) -> bool {
        let Some(event) = self.events.get_mut(key) else {
            return false;
        };
        if event.state == State::Rests && event.is_idle(at) {
            return false;
        }
        event.count = event.count.saturating_add(1);
        event.last = event.last.max(at);
        self.merged += 1;
        if event.state == State::Rests && event.is_due(at) {
            event.state = State::Waits;
            self.waiting.push_back(Arc::clone(key));
        }
        true
    }

    /// Takes one of the object's events; its latest one where it has none left.
    fn spend(&mut self, key: &Arc<Key>, at: Timestamp) -> Option<Arc<Key>> {
        match self.allowances.entry(key.uid.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(Allowance {
                    left: BURST - 1.0,
                    at,
                    latest: Arc::clone(key),
                });
                None
            }
            Entry::Occupied(mut entry) => {
                let allowance = entry.get_mut();
                let left = allowance.left(at);
                if left < 1.0 {
                    return Some(Arc::clone(&allowance.latest));
                }
                (allowance.left, allowance.at) = (left - 1.0, at);
                allowance.latest = Arc::clone(key);
                None
            }
        }
    }

    /// The next event to write.
    pub(super) fn next(&mut self) -> Option<Job> {
        loop {
            let key = self.waiting.pop_front()?;
            let Some(event) = self.events.get_mut(&key) else {
                continue;
            };
            event.state = State::IsWritten;
            self.under_way += 1;
            return Some(Job {
                name: event.name.clone(),
                regarding: event.regarding.clone(),
                first: event.first,
                last: event.last,
                count: event.count,
                is_new: event.written == 0,
                key,
            });
        }
    }

    /// Takes in what came of a job.
    pub(super) fn written(&mut self, key: &Arc<Key>, outcome: Outcome, now: Timestamp) {
        let Some(event) = self.events.get_mut(key) else {
            return;
        };
        self.under_way = self.under_way.saturating_sub(1);
        match outcome {
            Outcome::Written(count) => {
                self.written += 1;
                (event.written, event.written_at, event.failures) = (count, now, 0);
                event.state = State::Rests;
            }
            Outcome::Expired => {
                event.name = name(&event.regarding, key, now);
                (event.written, event.state) = (0, State::Rests);
            }
            Outcome::Failed if event.failures + 1 < TRIES => {
                event.failures += 1;
                event.state = State::RetriesAt(now + PAUSE);
                self.under_way += 1;
            }
            Outcome::Failed | Outcome::Refused => {
                self.lost += u64::try_from(event.count - event.written).unwrap_or(0);
                self.events.remove(key);
                return;
            }
        }
        if event.state == State::Rests && event.is_due(now) {
            event.state = State::Waits;
            self.waiting.push_back(Arc::clone(key));
        }
    }

    /// Looks what has become due, and forgets what is over.
    pub(super) fn sweep(&mut self, now: Timestamp) {
        let (waiting, under_way) = (&mut self.waiting, &mut self.under_way);
        self.events.retain(|key, event| {
            let is_due = match event.state {
                State::Rests if event.is_due(now) => true,
                State::RetriesAt(at) => at <= now,
                State::Rests => return !event.is_idle(now),
                State::Waits | State::IsWritten => false,
            };
            if is_due {
                if event.state != State::Rests {
                    *under_way = under_way.saturating_sub(1);
                }
                event.state = State::Waits;
                waiting.push_back(Arc::clone(key));
            }
            true
        });
        self.allowances.retain(|_, it| it.left(now) < BURST);
    }

    /// Whatever the API server does not know yet is tried once more: the process ends.
    pub(super) fn try_all(&mut self) {
        for (key, event) in &mut self.events {
            if matches!(event.state, State::RetriesAt(_)) {
                event.state = State::Waits;
                self.under_way = self.under_way.saturating_sub(1);
                self.waiting.push_back(Arc::clone(key));
            }
        }
        self.flush();
    }

    /// What the API server does not know yet is lost; how many that are.
    pub(super) fn give_up(&mut self) -> u64 {
        let unwritten = |event: &Event| u64::try_from(event.count - event.written).unwrap_or(0);
        let lost = self.events.values().map(unwritten).sum();
        self.events.clear();
        self.waiting.clear();
        self.under_way = 0;
        self.lost += lost;
        lost
    }

    /// What was counted in series is due.
    pub(super) fn flush(&mut self) {
        for (key, event) in &mut self.events {
            if event.count > event.written && event.state == State::Rests {
                event.state = State::Waits;
                self.waiting.push_back(Arc::clone(key));
            }
        }
    }

    /// Shows what became of all events so far.
    pub(super) fn tell(&self, figures: &EventFigures) {
        let waiting = u64::try_from(self.waiting.len() + self.under_way).unwrap_or(u64::MAX);
        figures.set([self.written, self.merged, self.lost, waiting]);
    }
}

/// Name of an event: that of its object, and what makes it unique.
fn name(regarding: &ObjectReference, key: &Key, at: Timestamp) -> String {
    let mut hasher = DefaultHasher::new();
    (key, at.as_nanosecond()).hash(&mut hasher);
    let object = regarding.name.as_deref().unwrap_or_default();
    let short: String = object.chars().take(200).collect();
    format!("{short}.{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests;

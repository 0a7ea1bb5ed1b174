//! The queue's book-keeping, without tasks or clocks.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use super::QueueDepth;
use crate::reconcile::backoff::Requeue;
use crate::resource::{Kind, ObjectKey};

/// Position in the order of deadlines; the number keeps keys of the same moment in order of arrival.
type Slot = (Instant, u64);

#[derive(Default)]
struct Entry {
    /// Where it waits in `waiting`.
    slot: Option<Slot>,
    /// It stands in `due` or `parked`, since this moment.
    due: Option<Instant>,
    /// A worker has it.
    running: bool,
    /// Earliest deadline that was asked for while a worker has it.
    again: Option<Instant>,
    /// Passes in a row that asked for backoff.
    attempts: u32,
}

/// Keys and where they stand.
pub(super) struct State {
    entries: HashMap<ObjectKey, Entry>,
    waiting: BTreeMap<Slot, ObjectKey>,
    due: VecDeque<ObjectKey>,
    /// Due keys of kinds that are at their limit.
    parked: HashMap<Kind, VecDeque<ObjectKey>>,
    running_by_kind: HashMap<Kind, usize>,
    running: usize,
    sequence: u64,
    workers: usize,
    workers_per_kind: usize,
}

impl State {
    pub(super) fn new(workers: usize, workers_per_kind: usize) -> Self {
        Self {
            entries: HashMap::new(),
            waiting: BTreeMap::new(),
            due: VecDeque::new(),
            parked: HashMap::new(),
            running_by_kind: HashMap::new(),
            running: 0,
            sequence: 0,
            workers: workers.max(1),
            workers_per_kind: workers_per_kind.max(1),
        }
    }

    pub(super) fn depth(&self, now: Instant) -> QueueDepth {
        let waiting = self.entries.values().filter_map(|entry| entry.due);
        let (count, oldest) = waiting.fold((0, None), |(count, oldest), since| {
            (
                count + 1,
                Some(oldest.map_or(since, |oldest| since.min(oldest))),
            )
        });
        QueueDepth {
            known: self.entries.len(),
            due: count,
            running: self.running,
            age: oldest.map_or(Duration::ZERO, |since: Instant| now.duration_since(since)),
        }
    }

    /// Wants the key at this moment or earlier.
    pub(super) fn add(&mut self, key: ObjectKey, at: Instant) {
        let entry = self.entries.entry(key.clone()).or_default();
        if entry.running {
            entry.again = Some(entry.again.map_or(at, |earlier| earlier.min(at)));
            return;
        }
        if entry.due.is_some() || entry.slot.is_some_and(|(earlier, _)| earlier <= at) {
            return;
        }
        self.sequence += 1;
        let slot = (at, self.sequence);
        if let Some(old) = entry.slot.replace(slot) {
            self.waiting.remove(&old);
        }
        self.waiting.insert(slot, key);
    }

    /// A key to work on now, or the next deadline when there is none or no worker is free.
    pub(super) fn take(&mut self, now: Instant) -> Result<ObjectKey, Option<Instant>> {
        self.promote(now);
        while self.running < self.workers
            && let Some(key) = self.due.pop_front()
        {
            let running = self.running_by_kind.entry(key.kind).or_default();
            if *running >= self.workers_per_kind {
                self.parked.entry(key.kind).or_default().push_back(key);
                continue;
            }
            *running += 1;
            self.running += 1;
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.due = None;
                entry.running = true;
            }
            return Ok(key);
        }
        Err(self.waiting.first_key_value().map(|((at, _), _)| *at))
    }

    /// Takes the key back. `deadline` gets the number of attempts in a row; `None` means that nothing more is
    /// wanted unless something asked for the key meanwhile.
    pub(super) fn finish(
        &mut self,
        key: &ObjectKey,
        requeue: Requeue,
        deadline: impl FnOnce(u32) -> Option<Instant>,
    ) {
        self.release(key.kind);
        let Some(entry) = self.entries.get_mut(key) else {
            return;
        };
        entry.running = false;
        entry.attempts = requeue.attempts(entry.attempts);
        let own = deadline(entry.attempts);
        let asked = entry.again.take();
        match own.into_iter().chain(asked).min() {
            Some(at) => self.add(key.clone(), at),
            None => {
                self.entries.remove(key);
            }
        }
    }

    fn promote(&mut self, now: Instant) {
        while let Some(first) = self.waiting.first_entry()
            && first.key().0 <= now
        {
            let (at, _) = *first.key();
            let key = first.remove();
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.slot = None;
                // Since it was wanted, not since somebody looked.
                entry.due = Some(at);
            }
            self.due.push_back(key);
        }
    }

    /// Frees a worker; the kind's first parked key may use it.
    fn release(&mut self, kind: Kind) {
        self.running = self.running.saturating_sub(1);
        if let Some(running) = self.running_by_kind.get_mut(&kind) {
            *running -= 1;
            if *running == 0 {
                self.running_by_kind.remove(&kind);
            }
        }
        if let Some(parked) = self.parked.get_mut(&kind) {
            if let Some(key) = parked.pop_front() {
                self.due.push_front(key);
            }
            if parked.is_empty() {
                self.parked.remove(&kind);
            }
        }
    }
}

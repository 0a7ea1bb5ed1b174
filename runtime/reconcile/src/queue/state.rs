//! The queue's book-keeping, without tasks or clocks.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use armature_shapes::resource::{Kind, ObjectKey};
use tokio::time::Instant;

use super::parked::{Parked, Share};
use super::pool::Pool;
use super::turns::{Place, Turns};
use super::{Answers, LatestPass, QueueDepth};
use crate::backoff::Requeue;
use crate::urgency::Urgency;

/// Position in the order of deadlines; the number keeps keys of the same moment in order of arrival.
type Slot = (Instant, u64);

/// One of so many workers looks at what nobody waits for, if there is any due.
const BACKGROUND_SHARE: usize = 8;

/// A pass that has run for as long takes long: it waits for Azure.
const LONG: Duration = Duration::from_secs(30);

/// A key whose time has come.
#[derive(Clone, Copy)]
struct Due {
    since: Instant,
    /// Where it stands in `due` or `parked`.
    place: Place,
}

/// What is kept of every key, for as long as it is known.
struct Entry {
    /// Where it waits in `waiting`.
    slot: Option<Slot>,
    /// Whether somebody waits for the pass that is wanted, or running.
    urgency: Urgency,
    /// Passes in a row that asked for backoff.
    attempts: u32,
    /// The pass that is wanted is a sync: nothing but time asks for it.
    is_sync: bool,
    looked: Looked,
}

/// What came of the passes over a key so far.
#[derive(Clone, Copy, Default)]
enum Looked {
    /// There was none yet.
    #[default]
    Never,
    /// The latest one began at this moment and found all well.
    Well(Instant),
    /// All was not well since the pass that began at this moment.
    NotWell(Instant),
}

impl Looked {
    /// After a pass that began at this moment.
    fn after(self, began: Instant, is_well: bool) -> Self {
        match self {
            _ if is_well => Self::Well(began),
            Self::NotWell(first) => Self::NotWell(first),
            Self::Never | Self::Well(_) => Self::NotWell(began),
        }
    }

    fn well_at(self) -> Option<Instant> {
        match self {
            Self::Well(at) => Some(at),
            Self::Never | Self::NotWell(_) => None,
        }
    }

    fn not_well_since(self) -> Option<Instant> {
        match self {
            Self::NotWell(first) => Some(first),
            Self::Never | Self::Well(_) => None,
        }
    }
}

/// A key that a worker has.
struct Running {
    since: Instant,
    urgency: Urgency,
    /// The earliest deadline that was asked for meanwhile, and whether somebody waits for that.
    again: Option<(Instant, Urgency)>,
}

/// A key to work on.
pub(super) struct Taken {
    pub key: ObjectKey,
    /// How long ago all was well, where the pass is a sync of what was.
    pub sync_after: Option<Duration>,
    /// How long ago the first pass began of those in a row that did not find all well; nothing where this is that pass.
    pub since_first: Duration,
    /// How long it waited for a worker.
    pub waited: Duration,
}

impl Default for Entry {
    fn default() -> Self {
        Self {
            slot: None,
            urgency: Urgency::Background,
            attempts: 0,
            is_sync: false,
            looked: Looked::Never,
        }
    }
}

/// Keys and where they stand. There is one key for each object, which all of these share.
pub(super) struct State {
    entries: HashMap<Arc<ObjectKey>, Entry>,
    waiting: BTreeMap<Slot, Arc<ObjectKey>>,
    due: BTreeMap<Place, Arc<ObjectKey>>,
    /// Due keys of kinds and namespaces that have as many workers as they may.
    parked: Parked,
    /// Every key of `due` and `parked`.
    pressing: HashMap<Arc<ObjectKey>, Due>,
    /// Keys that workers have.
    running: HashMap<Arc<ObjectKey>, Running>,
    running_by_kind: HashMap<Kind, usize>,
    /// How many passes took long when this was looked at last.
    long: usize,
    share: Share,
    turns: Turns,
    sequence: u64,
    pub(super) pool: Pool,
    workers_per_kind: usize,
}

impl State {
    pub(super) fn new(workers: usize, workers_per_kind: Option<usize>) -> Self {
        Self {
            entries: HashMap::new(),
            waiting: BTreeMap::new(),
            due: BTreeMap::new(),
            parked: Parked::default(),
            pressing: HashMap::new(),
            running: HashMap::new(),
            running_by_kind: HashMap::new(),
            long: 0,
            share: Share::default(),
            turns: Turns::new(),
            sequence: 0,
            pool: Pool::new(workers),
            workers_per_kind: workers_per_kind.unwrap_or(workers).max(1),
        }
    }

    pub(super) fn depth(&self, now: Instant) -> QueueDepth {
        let oldest = self.pressing.values().map(|due| due.since).min();
        QueueDepth {
            known: self.entries.len(),
            due: self.pressing.len(),
            running: self.running.len(),
            workers: self.pool.size(),
            age: oldest.map_or(Duration::ZERO, |since| now.duration_since(since)),
        }
    }

    /// Keys whose time has come and that wait for a worker, by kind and whether somebody waits for them.
    pub(super) fn due_by_kind(&self, now: Instant) -> HashMap<(Kind, Urgency), usize> {
        let mut counts = HashMap::new();
        for (key, due) in &self.pressing {
            *counts.entry((key.kind, due.place.0)).or_default() += 1;
        }
        // Those whose time came since a worker was free.
        for (_, key) in self.waiting.range(..=(now, u64::MAX)) {
            let entry = self.entries.get(key);
            let urgency = entry.map_or(Urgency::Background, |entry| entry.urgency);
            *counts.entry((key.kind, urgency)).or_default() += 1;
        }
        counts
    }

    /// What came of the latest pass over a key.
    pub(super) fn latest_pass(&self, key: &ObjectKey, now: Instant) -> LatestPass {
        match self.entries.get(key).map(|entry| entry.looked) {
            None => LatestPass::Unknown,
            Some(Looked::Never) if !self.running.contains_key(key) => LatestPass::Never,
            Some(Looked::Never | Looked::NotWell(_)) => LatestPass::NotWell,
            Some(Looked::Well(at)) => LatestPass::Well(now.saturating_duration_since(at)),
        }
    }

    /// Wants the key at this moment or earlier, and says whether somebody waits for that.
    pub(super) fn add(&mut self, key: ObjectKey, at: Instant, urgency: Urgency) {
        self.want(key, at, urgency, false);
    }

    fn want(&mut self, key: ObjectKey, at: Instant, urgency: Urgency, is_sync: bool) {
        let known = self.entries.get_key_value(&key);
        let key = known.map_or_else(|| Arc::new(key), |(known, _)| Arc::clone(known));
        if let Some(running) = self.running.get_mut(&key) {
            let (earlier, other) = running.again.unwrap_or((at, urgency));
            running.again = Some((earlier.min(at), other.min(urgency)));
            return;
        }
        let entry = self.entries.entry(Arc::clone(&key)).or_default();
        entry.is_sync = is_sync;
        let is_hurried = urgency < entry.urgency;
        entry.urgency = entry.urgency.min(urgency);
        if let Some(due) = self.pressing.get(&key).copied() {
            if is_hurried {
                self.hurry(&key, due);
            }
            return;
        }
        if entry.slot.is_some_and(|(earlier, _)| earlier <= at) {
            return;
        }
        self.sequence += 1;
        let slot = (at, self.sequence);
        if let Some(old) = entry.slot.replace(slot) {
            self.waiting.remove(&old);
        }
        self.waiting.insert(slot, key);
    }

    /// Moves a due key to the end of those that somebody waits for.
    fn hurry(&mut self, key: &Arc<ObjectKey>, due: Due) {
        self.sequence += 1;
        let turn = self.turns.next(key, self.is_begun(key));
        let place = (Urgency::Foreground, turn, self.sequence);
        let parked = self.parked.where_is(key, due.place);
        let queue = parked.unwrap_or(&mut self.due);
        queue.remove(&due.place);
        queue.insert(place, Arc::clone(key));
        self.pressing.insert(Arc::clone(key), Due { place, ..due });
    }

    /// Whether something was begun for the key that did not come to its end.
    fn is_begun(&self, key: &ObjectKey) -> bool {
        let entry = self.entries.get(key);
        entry.is_some_and(|entry| entry.looked.not_well_since().is_some())
    }

    /// A key to work on now, or the next deadline when there is none or no worker is free.
    pub(super) fn take(&mut self, now: Instant) -> Result<Taken, Option<Instant>> {
        self.promote(now);
        self.note_long(now);
        while let Some((place, key)) = self.pop_due(now) {
            let free = self.free(now);
            let running = self.running_by_kind.entry(key.kind).or_default();
            if *running >= self.workers_per_kind {
                self.parked.by_kind(place, key);
                continue;
            }
            if !self.share.take(&key.namespace, place.0, free) {
                self.pool.is_short();
                // Its kind's place is for who stands behind it.
                self.due.extend(self.parked.next_of(key.kind));
                self.parked.by_namespace(place, key);
                continue;
            }
            *running += 1;
            // One that came before its turn takes none.
            if self.most_urgent().is_none_or(|urgency| place.0 <= urgency) {
                self.turns.taken(place.1);
            }
            let pressed = self.pressing.remove(&key);
            // What a burst took, such as the first looks after a restart, is given back.
            let count = self.pressing.len();
            if self.pressing.capacity() > 64 + 4 * count {
                self.pressing.shrink_to(2 * count);
            }
            let running = Running {
                since: now,
                urgency: place.0,
                again: None,
            };
            self.running.insert(Arc::clone(&key), running);
            let entry = self.entries.get(&key);
            let looked = entry.map(|entry| entry.looked).unwrap_or_default();
            let is_sync = entry.is_some_and(|entry| entry.is_sync);
            let ago = |then: Instant| now.saturating_duration_since(then);
            return Ok(Taken {
                key: key.as_ref().clone(),
                sync_after: looked.well_at().filter(|_| is_sync).map(ago),
                since_first: looked.not_well_since().map(ago).unwrap_or_default(),
                waited: pressed.map(|due| ago(due.since)).unwrap_or_default(),
            });
        }
        if self.parked.has_namespaces() {
            self.pool.is_short();
        }
        let waiting = self.waiting.first_key_value().map(|((at, _), _)| *at);
        let next = [waiting, self.next_free(now), self.pool.may_grow_at()];
        Err(next.into_iter().flatten().min())
    }

    /// Takes in how the API server answered. Where the pool grows, namespaces that had their share may have more at once.
    pub(super) fn adapt_pool(&mut self, now: Instant, answers: Answers) {
        let before = self.pool.size();
        self.pool.adapt(now, answers);
        for _ in before..self.pool.size() {
            self.due.extend(self.parked.let_go_of_namespaces());
        }
    }

    /// How many workers are free. Passes that take long wait for Azure and ask little of the API server, so a pool that shrank
    /// for its sake does not count them.
    fn free(&self, now: Instant) -> usize {
        let young = self.young(now).count();
        let of_limit = self.pool.limit().saturating_sub(self.running.len());
        self.pool.size().saturating_sub(young).min(of_limit)
    }

    /// When passes began that do not take long yet.
    fn young(&self, now: Instant) -> impl Iterator<Item = Instant> {
        let began = self.running.values().map(|running| running.since);
        began.filter(move |since| now < *since + LONG)
    }

    /// Each pass that has begun to take long may leave its worker to a namespace that had its share.
    fn note_long(&mut self, now: Instant) {
        let long = self.running.len() - self.young(now).count();
        // A namespace may have had its share of each of them.
        for _ in self.long..long {
            self.due.extend(self.parked.let_go_of_namespaces());
        }
        self.long = long;
    }

    /// When a worker is free although no pass ends, where something waits for one.
    fn next_free(&self, now: Instant) -> Option<Instant> {
        let is_awaited = !self.pressing.is_empty();
        let is_full = self.running.len() >= self.pool.limit();
        let first = self.young(now).min().filter(|_| is_awaited && !is_full);
        first.map(|since| since + LONG)
    }

    /// The first key whose time has come, where a worker is free for it.
    fn pop_due(&mut self, now: Instant) -> Option<(Place, Arc<ObjectKey>)> {
        if self.free(now) > 0 {
            let first_in_background = (Urgency::Background, 0, 0);
            let mut in_background = self.due.range(first_in_background..);
            return match in_background.next() {
                Some((place, _)) if self.owes_background(now) => {
                    let place = *place;
                    self.due.remove(&place).map(|key| (place, key))
                }
                _ => self.due.pop_first(),
            };
        }
        if !self.due.is_empty() {
            self.pool.is_short();
        }
        None
    }

    fn most_urgent(&self) -> Option<Urgency> {
        self.due.first_key_value().map(|(place, _)| place.0)
    }

    /// Whether the next worker is for a look that nobody waits for: where passes over what somebody waits for take long, since a
    /// service hangs, there are always some of them due, and nobody would look at anything else.
    fn owes_background(&self, now: Instant) -> bool {
        let running = self.running.values();
        let running = running.filter(|running| running.urgency == Urgency::Background);
        let owed = (self.pool.size() / BACKGROUND_SHARE).saturating_sub(running.count());
        owed > 0 && self.free(now) <= owed
    }

    /// Takes the key back after a pass. `deadline` gets the number of attempts in a row; `None` means that nothing
    /// more is wanted unless something asked for the key meanwhile.
    pub(super) fn finish(
        &mut self,
        key: &ObjectKey,
        requeue: Requeue,
        deadline: impl FnOnce(u32) -> Option<Instant>,
    ) {
        if let Some(began) = self.running.get(key).map(|running| running.since)
            && let Some(entry) = self.entries.get_mut(key)
        {
            entry.looked = entry.looked.after(began, requeue.is_well());
        }
        self.give_back(key, requeue, deadline);
    }

    /// Takes the key back without a pass: it rests until the next sync.
    pub(super) fn rest(&mut self, key: &ObjectKey, next: Option<Instant>) {
        self.give_back(key, Requeue::Sync, |_| next);
    }

    fn give_back(
        &mut self,
        key: &ObjectKey,
        requeue: Requeue,
        deadline: impl FnOnce(u32) -> Option<Instant>,
    ) {
        let asked = self.running.remove(key).and_then(|running| running.again);
        self.release(key);
        let Some(entry) = self.entries.get_mut(key) else {
            return;
        };
        entry.attempts = requeue.attempts(entry.attempts);
        let own = deadline(entry.attempts);
        let urgency = requeue.urgency(entry.urgency);
        entry.urgency = Urgency::Background;
        match (own, asked) {
            (None, None) => {
                self.entries.remove(key);
            }
            (Some(at), None) => {
                self.want(key.clone(), at, urgency, requeue == Requeue::Sync);
            }
            (None, Some((at, urgency))) => self.add(key.clone(), at, urgency),
            (Some(own), Some((asked, other))) => {
                self.add(key.clone(), own.min(asked), urgency.min(other));
            }
        }
    }

    fn promote(&mut self, now: Instant) {
        while let Some(first) = self.waiting.first_entry()
            && first.key().0 <= now
        {
            let (since, _) = *first.key();
            let key = first.remove();
            self.sequence += 1;
            let turn = self.turns.next(&key, self.is_begun(&key));
            let mut place = (Urgency::Background, turn, self.sequence);
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.slot = None;
                place.0 = entry.urgency;
                // Since it was wanted, not since somebody looked.
                self.pressing.insert(Arc::clone(&key), Due { since, place });
            }
            self.due.insert(place, key);
        }
    }

    /// Frees a worker. The kind's first parked key may use it, and the first one of each namespace that had its share.
    fn release(&mut self, key: &ObjectKey) {
        if let Some(running) = self.running_by_kind.get_mut(&key.kind) {
            *running -= 1;
            if *running == 0 {
                self.running_by_kind.remove(&key.kind);
            }
        }
        self.share.give_back(&key.namespace);
        self.due.extend(self.parked.let_go(key.kind));
    }
}

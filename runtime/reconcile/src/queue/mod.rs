//! The work queue of all kinds: which object is looked at when, and by how many workers at once.
//!
//! Rules: a key waits once, at its earliest deadline; no key is worked on twice at the same time; a key that
//! is added while it is worked on is worked on again; attempts in a row are counted per key and only a pass
//! that asks for backoff counts; triggers from outside do not count. All kinds share one pool of workers, which is smaller while
//! the API server is slow, and of which, where there are more than a few, no namespace can have all; a namespace's objects of one kind stand in a line, those that were begun in another, and the lines take turns. There may be a limit
//! per kind, and what is at its limit does not hold up the others. Keys for which somebody waits, such as edits, pass those
//! for which nobody does: periodic looks, and first looks at objects that are fine.
//!
//! What does not live here: what a pass does, and why it wants to be looked at again.

mod parked;
mod pool;
mod state;
#[cfg(test)]
mod tests;
mod turns;

pub use pool::{Answers, ApiServer};

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use armature_shapes::resource::{Kind, ObjectKey};
use state::State;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::backoff::{Periods, Random, Requeue, RetryClass};
use super::time::Time;
use crate::urgency::Urgency;

/// Passes at the same time, unless something else is asked for.
pub const WORKERS: usize = 64;

/// Limits and periods.
#[derive(Clone, Copy, Debug)]
pub struct QueueSettings {
    /// Most passes at the same time, all kinds together. Fewer where the queue is to spare the API server.
    pub workers: usize,
    /// Most passes at the same time of one kind, where there is a limit.
    pub workers_per_kind: Option<usize>,
    /// Periods of retries and syncs.
    pub periods: Periods,
    /// By which keys wait.
    pub time: Time,
    /// How long running passes may take to finish when the queue stops.
    pub drain: Duration,
}

impl Default for QueueSettings {
    fn default() -> Self {
        Self {
            workers: WORKERS,
            workers_per_kind: None,
            periods: Periods::default(),
            time: Time::default(),
            drain: Duration::from_secs(20),
        }
    }
}

/// Figures about the queue at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueDepth {
    /// Keys known: waiting, due or being worked on.
    pub known: usize,
    /// Keys whose time has come and that wait for a worker.
    pub due: usize,
    /// Keys being worked on.
    pub running: usize,
    /// Workers that there are.
    pub workers: usize,
    /// How long the key that waits longest for a worker has waited; nothing when none waits.
    pub age: Duration,
}

/// Who says that a sync may be left out.
pub trait Rest: Send + Sync {
    /// Whether it may, when all was well with the object this long ago. Asked whenever one is due; must not block.
    fn rests(&self, key: &ObjectKey, read: Duration) -> bool;
}

/// What the queue knows of the latest pass over an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatestPass {
    /// The object is not known, or nobody wants it looked at before something changes.
    Unknown,
    /// There was none yet, and one will come.
    Never,
    /// All was not well, or the first one runs.
    NotWell,
    /// It began this long ago, and all was well.
    Well(Duration),
}

/// One look at an object that is wanted from a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// The object.
    pub key: ObjectKey,
    /// How long ago the first one began of those in a row that did not find all well; zero where this is that one.
    pub since_first: Duration,
    /// How long it waited for a worker.
    pub waited: Duration,
}

/// The queue. Cheap to clone; clones are the same queue.
#[derive(Clone)]
pub struct Queue {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Notify,
    settings: QueueSettings,
    random: Arc<dyn Random>,
    rest: OnceLock<Arc<dyn Rest>>,
    api_server: OnceLock<Arc<dyn ApiServer>>,
    passes: OnceLock<Handle>,
}

impl Queue {
    /// An empty queue.
    pub fn new(settings: QueueSettings, random: Arc<dyn Random>) -> Self {
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(State::new(settings.workers, settings.workers_per_kind)),
                changed: Notify::new(),
                settings,
                random,
                rest: OnceLock::new(),
                api_server: OnceLock::new(),
                passes: OnceLock::new(),
            }),
        }
    }

    /// Leaves out syncs of which this says so. Counts once for a queue.
    pub fn let_rest(&self, rest: Arc<dyn Rest>) {
        // Whoever came first stays.
        let _ = self.shared.rest.set(rest);
    }

    /// Has as many workers as this answers quickly, within the limit of the settings. Counts once for a queue.
    pub fn spare(&self, api_server: Arc<dyn ApiServer>) {
        // Whoever came first stays.
        let _ = self.shared.api_server.set(api_server);
    }

    /// Has passes run on the threads of this runtime, and not on those of whoever runs the queue. Counts once for a queue.
    pub fn run_passes_on(&self, passes: Handle) {
        // Whoever came first stays.
        let _ = self.shared.passes.set(passes);
    }

    /// What came of the latest pass over an object.
    pub fn latest_pass(&self, key: &ObjectKey) -> LatestPass {
        let now = self.now();
        self.state().latest_pass(key, now)
    }

    /// Wants the key looked at as soon as a worker is free.
    pub fn add(&self, key: ObjectKey) {
        self.add_after(key, Duration::ZERO);
    }

    /// Wants the key looked at when a worker has nothing else to do.
    pub fn add_idle(&self, key: ObjectKey) {
        let now = self.now();
        self.state().add(key, now, Urgency::Background);
        self.shared.changed.notify_one();
    }

    /// Wants the key looked at after a while, or earlier when something else asks for it.
    pub fn add_after(&self, key: ObjectKey, delay: Duration) {
        let at = self.now() + delay;
        self.state().add(key, at, Urgency::Foreground);
        self.shared.changed.notify_one();
    }

    /// Figures for metrics.
    pub fn depth(&self) -> QueueDepth {
        self.state().depth(Instant::now())
    }

    /// Keys whose time has come and that wait for a worker, by kind and whether somebody waits for them.
    pub fn due_by_kind(&self) -> HashMap<(Kind, Urgency), usize> {
        let now = self.now();
        self.state().due_by_kind(now)
    }

    /// Works until `stop` fires, then waits for running passes, at most for the drain period.
    ///
    /// `work` runs one pass and says when to look again. It runs in a task of its own: a panic in it counts as
    /// a failed pass of its key and touches nothing else.
    pub async fn run<F, R>(&self, work: F, stop: CancellationToken)
    where
        F: Fn(Look) -> R,
        R: Future<Output = Requeue> + Send + 'static,
    {
        let mut tasks: JoinSet<Requeue> = JoinSet::new();
        let mut keys: HashMap<Id, ObjectKey> = HashMap::new();
        while !stop.is_cancelled() {
            let next = self.start_due(&work, &mut tasks, &mut keys);
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.shared.changed.notified() => {}
                () = self.until(next) => {}
                Some(done) = tasks.join_next_with_id() => self.finish(done, &mut keys),
            }
        }
        self.drain(tasks, keys).await;
    }

    /// Starts everything that may start; the next deadline.
    fn start_due<F, R>(
        &self,
        work: &F,
        tasks: &mut JoinSet<Requeue>,
        keys: &mut HashMap<Id, ObjectKey>,
    ) -> Option<Instant>
    where
        F: Fn(Look) -> R,
        R: Future<Output = Requeue> + Send + 'static,
    {
        self.adapt_pool();
        loop {
            let now = self.now();
            // The guard is dropped before `work` runs.
            let taken = match self.state().take(now) {
                Ok(taken) => taken,
                Err(next) => return next,
            };
            let key = taken.key;
            if taken.sync_after.is_some_and(|read| self.rests(&key, read)) {
                let next = self.sync_delay().map(|delay| now + delay);
                self.state().rest(&key, next);
                continue;
            }
            let look = Look {
                key: key.clone(),
                since_first: taken.since_first,
                waited: taken.waited,
            };
            let pass = work(look);
            let id = match self.shared.passes.get() {
                Some(passes) => tasks.spawn_on(pass, passes).id(),
                None => tasks.spawn(pass).id(),
            };
            keys.insert(id, key);
        }
    }

    fn adapt_pool(&self) {
        let Some(api_server) = self.shared.api_server.get() else {
            return;
        };
        let now = self.now();
        let mut state = self.state();
        if state.pool.is_due(now) {
            state.adapt_pool(now, api_server.answers());
        }
    }

    fn rests(&self, key: &ObjectKey, read: Duration) -> bool {
        let rest = self.shared.rest.get();
        rest.is_some_and(|rest| rest.rests(key, read))
    }

    fn sync_delay(&self) -> Option<Duration> {
        let random = self.shared.random.as_ref();
        self.shared.settings.periods.delay(Requeue::Sync, 0, random)
    }

    fn finish(&self, done: Result<(Id, Requeue), JoinError>, keys: &mut HashMap<Id, ObjectKey>) {
        let (id, requeue) = match done {
            Ok(done) => done,
            Err(error) => (error.id(), Requeue::Backoff(RetryClass::Slow)),
        };
        let Some(key) = keys.remove(&id) else { return };
        let (periods, random) = (self.shared.settings.periods, &self.shared.random);
        let now = self.now();
        self.state().finish(&key, requeue, |attempts| {
            let delay = periods.delay(requeue, attempts, random.as_ref())?;
            Some(now + delay)
        });
    }

    async fn drain(&self, mut tasks: JoinSet<Requeue>, mut keys: HashMap<Id, ObjectKey>) {
        let deadline = Instant::now() + self.shared.settings.drain;
        while let Ok(Some(done)) = timeout_at(deadline, tasks.join_next_with_id()).await {
            self.finish(done, &mut keys);
        }
        for key in keys.values() {
            tracing::warn!(%key, "the pass did not finish in time and is given up; its state is in the object");
        }
        tasks.shutdown().await;
    }

    fn now(&self) -> Instant {
        self.shared.settings.time.instant()
    }

    async fn until(&self, deadline: Option<Instant>) {
        match deadline {
            Some(deadline) => self.shared.settings.time.sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock, so a poisoned state is whole.
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

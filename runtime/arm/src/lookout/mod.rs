//! The lookout: asks Azure Resource Graph what changed, so that ready resources need not be read one by one.
//!
//! | module | what lives here |
//! |---|---|
//! | `schedule` | how often it pays to ask (pure) |
//! | `hint` | which objects are read because of an answer (pure) |
//! | `roster` | which objects there are, by who asks for them (pure) |
//! | `coverage` | which objects the Graph shows, so that their syncs may be left out |
//! | `watch` | what is known of one principal, and one round of questions |
//! | `ask` | a question with all pages of its answer, within the budget and Azure's quota |
//! | `figures` | what became of it all |
//!
//! An answer is a hint which objects to look at, with a pass like any other. That the Graph does not show a resource
//! says nothing of it: such objects are read as if there were no Graph. Where no credential may ask, all of them are.
//!
//! What does not live here: the Graph's protocol ([`armature_azure::graph`]), and what a pass does.

mod ask;
mod coverage;
mod figures;
mod hint;
mod roster;
mod schedule;
#[cfg(test)]
mod tests;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use armature_azure::Transport;
use armature_azure::budget::Budget;
use armature_reconcile::inventory::Inventory;
use armature_reconcile::queue::{LatestPass, Queue, Rest};
use armature_reconcile::time::{Clock, Time};
use armature_reconcile::written::Written;
use armature_shapes::resource::ObjectKey;
use futures::{StreamExt, stream};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

pub use coverage::Coverage;
pub use figures::{Figures, Standing};
pub use hint::Verdict;
pub use schedule::Terms;

use roster::Roster;
use watch::{Round, Watch};

/// Time until the objects are asked for again while not all of them are known.
const UNTIL_KNOWN: Duration = Duration::from_secs(5);

/// Principals that are asked for at the same time.
const AT_ONCE: usize = 8;

/// Who is told which objects to look at, and knows when that was last done.
pub trait Readers: Send + Sync {
    /// What came of the latest pass.
    fn latest_pass(&self, key: &ObjectKey) -> LatestPass;

    /// Has the object looked at; nobody waits for it.
    fn read(&self, key: ObjectKey);
}

impl Readers for Queue {
    fn latest_pass(&self, key: &ObjectKey) -> LatestPass {
        Queue::latest_pass(self, key)
    }

    fn read(&self, key: ObjectKey) {
        self.add_idle(key);
    }
}

/// What the lookout works with.
pub struct Parts {
    /// The way to Azure.
    pub arm: Arc<dyn Transport>,
    /// How many requests Azure takes.
    pub budget: Arc<Budget>,
    /// The objects.
    pub inventory: Arc<dyn Inventory>,
    /// The queue.
    pub readers: Arc<dyn Readers>,
    /// What was sent of late.
    pub written: Arc<Written>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// How often to ask.
    pub terms: Terms,
}

/// The lookout of one operator. Cheap to clone; clones are the same.
#[derive(Clone)]
pub struct Lookout {
    parts: Arc<Parts>,
    coverage: Arc<Coverage>,
    figures: Arc<Mutex<Figures>>,
}

impl Lookout {
    /// Nothing asked yet.
    pub fn new(parts: Parts) -> Self {
        let coverage = Coverage::new(parts.inventory.clone(), parts.clock.clone(), parts.terms);
        Self {
            parts: Arc::new(parts),
            coverage: Arc::new(coverage),
            figures: Arc::default(),
        }
    }

    /// Which objects need not be read at every sync.
    pub fn rest(&self) -> Arc<dyn Rest> {
        self.coverage.clone()
    }

    fn with_figures(&self, change: impl FnOnce(&mut Figures)) {
        change(&mut self.figures.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// What became of it so far.
    pub fn figures(&self) -> Figures {
        let figures = self.figures.lock().unwrap_or_else(PoisonError::into_inner);
        Figures {
            covered: self.coverage.count(),
            ..figures.clone()
        }
    }

    /// Asks again and again until told to stop. `time` is the one that the queue waits by.
    pub async fn run(&self, time: Time, stop: CancellationToken) {
        let mut rounds = Rounds::new(self.clone());
        loop {
            let begun = time.instant();
            let wait = match stop.run_until_cancelled(rounds.round()).await {
                Some(wait) => wait,
                None => return,
            };
            let next = time.sleep_until(begun + wait);
            if stop.run_until_cancelled(next).await.is_none() {
                return;
            }
        }
    }
}

/// One round after the other.
struct Rounds {
    lookout: Lookout,
    /// What is known of each principal.
    watches: BTreeMap<String, Watch>,
    /// When this began: every object is looked at after that.
    since: Timestamp,
}

impl Rounds {
    fn new(lookout: Lookout) -> Self {
        Self {
            since: lookout.parts.clock.now(),
            watches: BTreeMap::new(),
            lookout,
        }
    }

    /// Asks whatever is due; the time from its beginning to the next one.
    async fn round(&mut self) -> Duration {
        let lookout = &self.lookout;
        let parts = &lookout.parts;
        if !parts.inventory.is_complete() {
            return UNTIL_KNOWN.min(parts.terms.shortest);
        }
        let roster = Roster::of(parts.inventory.as_ref());
        let groups = roster.by_principal(parts.arm.as_ref()).await;
        let principals: BTreeSet<&String> = groups.keys().collect();
        self.watches
            .retain(|principal, _| principals.contains(principal));
        lookout.coverage.keep(&principals);
        for principal in groups.keys() {
            if !self.watches.contains_key(principal) {
                let watch = Watch::new(self.since);
                self.watches.insert(principal.clone(), watch);
            }
        }
        // One that gets no answer keeps the others waiting for their own only.
        let looks = self.watches.iter_mut().filter_map(|(principal, watch)| {
            let round = Round {
                parts,
                coverage: &lookout.coverage,
                principal,
                group: groups.get(principal)?,
                now: parts.clock.now(),
            };
            Some(async move { watch.look(&round).await })
        });
        let looks: Vec<_> = looks.collect();
        let mut counts = stream::iter(looks).buffer_unordered(AT_ONCE);
        while let Some(counts) = counts.next().await {
            lookout.with_figures(|figures| figures.add(&counts));
        }
        drop(counts);
        let standings = self.watches.values().map(Watch::standing);
        lookout.with_figures(|figures| figures.stand(standings));
        parts.terms.shortest
    }
}

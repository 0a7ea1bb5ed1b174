//! When stored objects are migrated to the storage version of now, and by which replica. How, the runtime knows.

use std::collections::HashMap;
use std::time::Duration;

use armature_runtime::kubernetes::{Election, Migrated, StorageMigration};
use armature_runtime::resource::Kind;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::crds::due;

/// Name of the Lease of the replica that migrates. Replicas that manage nothing migrate, too, so it is not the Lease
/// of the one that manages objects.
pub const LEASE: &str = "armature-storage-migration";

/// Time after which a migration that could not be finished is tried again.
const RETRY: Duration = Duration::from_secs(300);

/// Which kinds are to be migrated, and when.
struct Schedule {
    delay: Duration,
    at: HashMap<Kind, Instant>,
}

impl Schedule {
    /// Adds a kind. One that is there keeps its time.
    fn add(&mut self, kind: Kind, now: Instant) {
        self.at.entry(kind).or_insert(now + self.delay);
    }

    /// When there is something to do.
    fn first(&self) -> Option<Instant> {
        self.at.values().min().copied()
    }

    /// Kinds that are due. Each is due again later unless it is done.
    fn take_due(&mut self, now: Instant) -> Vec<Kind> {
        let due = self.at.iter_mut().filter(|(_, at)| **at <= now);
        let taken = due.map(|(kind, at)| {
            *at = now + RETRY;
            *kind
        });
        taken.collect()
    }

    fn done(&mut self, kind: Kind) {
        self.at.remove(&kind);
    }
}

/// Migrates kinds, one after the other, of which it is told that objects may be stored at older versions.
pub struct Migrator {
    migration: StorageMigration,
    told: UnboundedReceiver<Kind>,
    schedule: Schedule,
}

impl Migrator {
    /// A migrator, and where it is told of kinds. `delay` is the time from then to the migration.
    pub fn new(migration: StorageMigration, delay: Duration) -> (Self, UnboundedSender<Kind>) {
        let (sender, told) = unbounded_channel();
        let schedule = Schedule {
            delay,
            at: HashMap::new(),
        };
        let migrator = Self {
            migration,
            told,
            schedule,
        };
        (migrator, sender)
    }

    /// Migrates until told to stop; where there are several replicas, as the one that holds the Lease. It is held only
    /// while there is something to do.
    pub async fn run(mut self, mut election: Option<Election>, stop: CancellationToken) {
        while let Some(Some(kinds)) = stop.run_until_cancelled(self.next()).await {
            let Some(election) = &mut election else {
                stop.run_until_cancelled(self.migrate(kinds)).await;
                continue;
            };
            if !election.acquire(&stop).await {
                return;
            }
            tokio::select! {
                biased;
                _ = election.hold() => {
                    tracing::warn!("the Lease {LEASE} was lost; objects are migrated later");
                }
                () = self.migrate(kinds) => {}
                () = stop.cancelled() => {}
            }
            election.release().await;
        }
    }

    /// Waits for kinds that are due. Nothing when nobody is there any more to tell of kinds.
    async fn next(&mut self) -> Option<Vec<Kind>> {
        loop {
            tokio::select! {
                kind = self.told.recv() => self.schedule.add(kind?, Instant::now()),
                () = due(self.schedule.first()) => {
                    return Some(self.schedule.take_due(Instant::now()));
                }
            }
        }
    }

    async fn migrate(&mut self, kinds: Vec<Kind>) {
        for kind in kinds {
            match self.migration.migrate(kind).await {
                Ok(migrated) => {
                    self.schedule.done(kind);
                    tell(kind, &migrated);
                }
                Err(error) => {
                    let seconds = RETRY.as_secs();
                    tracing::warn!(?kind, "{error} (tried again in {seconds} s)");
                }
            }
        }
    }
}

fn tell(kind: Kind, migrated: &Migrated) {
    match migrated {
        Migrated::Done { objects, dropped } => tracing::info!(
            ?kind,
            objects,
            ?dropped,
            "all objects are stored at the storage version, and the CRD names no older ones"
        ),
        Migrated::NotAllowed => tracing::info!(
            ?kind,
            "the CRD goes on to name older versions: objects of all namespaces may not be listed"
        ),
        Migrated::NotNeeded => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_due_after_the_delay_and_again_until_they_are_done() {
        let [one, two] = [0, 1].map(|index| Kind(armature_generated::KINDS[index]));
        let mut schedule = Schedule {
            delay: Duration::from_secs(30),
            at: HashMap::new(),
        };
        let started = Instant::now();
        let after = |seconds| started + Duration::from_secs(seconds);
        assert_eq!(schedule.first(), None);
        schedule.add(one, started);
        schedule.add(two, after(10));
        assert_eq!(schedule.first(), Some(after(30)));
        assert_eq!(schedule.take_due(after(29)), []);
        assert_eq!(schedule.take_due(after(30)), [one]);
        schedule.add(one, after(31));
        assert_eq!(schedule.take_due(after(40)), [two]);
        schedule.done(two);
        let again = after(30) + RETRY;
        assert_eq!(
            schedule.first(),
            Some(again),
            "who is told again is not hurried"
        );
        assert_eq!(schedule.take_due(again), [one]);
        schedule.done(one);
        assert_eq!(schedule.first(), None);
    }
}

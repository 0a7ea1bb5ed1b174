//! Readings of certificates, which take as long as their owners wished: each runs by itself, in its turn, and is asked for again by
//! who cannot wait for it. So a line of them keeps nobody's worker.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

use super::CredentialKey;
use super::credential::{CredentialError, Identity, Place};
use super::reading_turns::ReadingTurns;

/// How long a reading that has not had its turn is waited for, after its beginning: most take milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);

/// The identity in a Secret, or why there is none.
pub(super) type Found = Result<Identity, CredentialError>;

/// Readings that run, or have ended and were not asked for since: one at most for each credential.
#[derive(Default)]
pub(super) struct Readings {
    turns: Arc<ReadingTurns>,
    known: Mutex<HashMap<CredentialKey, Reading>>,
}

struct Reading {
    version: String,
    begun: Instant,
    phase: watch::Receiver<Phase>,
    task: AbortHandle,
}

#[derive(Clone)]
enum Phase {
    Waits,
    Runs,
    Ended(Box<Found>),
}

impl Drop for Reading {
    /// Nobody wants the place in the line any more. What is being read already keeps its turn to its end.
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Readings {
    /// What reading this version of a Secret gives; nothing where that takes longer than can be waited for. It goes on
    /// then, and is there for who asks again.
    pub(super) async fn read(
        &self,
        (key, version): (&CredentialKey, &str),
        place: &Place,
        read: impl FnOnce() -> Found + Send + 'static,
    ) -> Option<Found> {
        let (mut phase, until, is_first) = {
            let mut known = self.lock();
            let running = known.get(key).filter(|it| it.version == version);
            let is_first = running.is_none();
            if is_first {
                let begun = self.begin(version, place, read);
                // One for another version gives up its place.
                known.insert(key.clone(), begun);
            }
            let reading = known.get(key)?;
            (reading.phase.clone(), reading.begun + PATIENCE, is_first)
        };
        let is_over = timeout_at(until, async {
            // Who comes first may wait for what has its turn: there is one at a time.
            let enough = |phase: &Phase| match phase {
                Phase::Waits => false,
                Phase::Runs => is_first,
                Phase::Ended(_) => true,
            };
            phase.wait_for(enough).await.is_ok()
        });
        if is_over.await.unwrap_or(false) {
            let ended = phase.wait_for(|phase| matches!(phase, Phase::Ended(_)));
            ended.await.ok()?;
        }
        let phase = phase.borrow().clone();
        match phase {
            Phase::Ended(found) => Some(*found),
            Phase::Waits | Phase::Runs => None,
        }
    }

    fn begin(
        &self,
        version: &str,
        place: &Place,
        read: impl FnOnce() -> Found + Send + 'static,
    ) -> Reading {
        let (told, phase) = watch::channel(Phase::Waits);
        let (turns, place) = (Arc::clone(&self.turns), place.clone());
        let task = tokio::spawn(async move {
            let turn = match &place {
                Place::Secret { namespace, .. } => turns.take(namespace).await,
                Place::Operator => turns.take("").await,
            };
            told.send_replace(Phase::Runs);
            // Not on a thread that others wait for.
            let found = tokio::task::spawn_blocking(move || {
                let found = read();
                drop(turn);
                found
            });
            let found = found.await.unwrap_or_else(|_| Err(undecodable(place)));
            told.send_replace(Phase::Ended(Box::new(found)));
        });
        Reading {
            version: version.to_owned(),
            begun: Instant::now(),
            phase,
            task: task.abort_handle(),
        }
    }

    /// Forgets what was read of this version: it is kept elsewhere.
    pub(super) fn is_kept(&self, key: &CredentialKey, version: &str) {
        let mut known = self.lock();
        if known.get(key).is_some_and(|it| it.version == version) {
            known.remove(key);
        }
    }

    /// Forgets a credential: its Secret is gone or another one.
    pub(super) fn forget(&self, key: &CredentialKey) {
        self.lock().remove(key);
    }

    /// What one at a time holds.
    #[cfg(test)]
    pub(super) fn turns(&self) -> Arc<tokio::sync::Semaphore> {
        self.turns.all()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CredentialKey, Reading>> {
        // A panic while the map was held leaves a map that is still valid.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Its reading ended by a defect.
fn undecodable(place: Place) -> CredentialError {
    let message = "what it holds cannot be decoded".to_owned();
    CredentialError::Unreadable { place, message }
}

//! Whose certificate is read next: one after the other, since each takes time and memory as its owner wished, and namespaces in
//! turns, so that one with many waits for itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The turns.
pub(super) struct ReadingTurns {
    all: Arc<Semaphore>,
    /// One of each namespace waits for all others; only those are kept in which somebody reads or waits.
    namespaces: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A turn, which ends when this is dropped.
pub(super) struct Turn {
    _of_all: Option<OwnedSemaphorePermit>,
    _of_namespace: Option<OwnedSemaphorePermit>,
}

impl Default for ReadingTurns {
    fn default() -> Self {
        Self {
            all: one(),
            namespaces: Mutex::default(),
        }
    }
}

impl ReadingTurns {
    /// Waits for a turn of a namespace.
    pub(super) async fn take(&self, namespace: &str) -> Turn {
        let own = {
            // A map of pointers is whole whatever panicked.
            let mut namespaces = self
                .namespaces
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            namespaces.retain(|_, own| Arc::strong_count(own) > 1);
            let own = namespaces.entry(namespace.to_owned());
            Arc::clone(own.or_insert_with(one))
        };
        // Nobody closes the semaphores.
        let of_namespace = own.acquire_owned().await.ok();
        let of_all = Arc::clone(&self.all).acquire_owned().await.ok();
        Turn {
            _of_all: of_all,
            _of_namespace: of_namespace,
        }
    }

    /// What one at a time holds.
    #[cfg(test)]
    pub(super) fn all(&self) -> Arc<Semaphore> {
        Arc::clone(&self.all)
    }
}

fn one() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(1))
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_namespace_with_many_waits_for_itself() {
        let turns = ReadingTurns::default();
        let first = turns.take("many").await;
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(turns.take("many"))).collect();
        for turn in &mut waiting {
            assert!(turn.now_or_never().is_none());
        }
        let mut other = Box::pin(turns.take("few"));
        assert!((&mut other).now_or_never().is_none(), "one at a time");
        drop(first);
        let own = (&mut waiting[0]).now_or_never();
        assert!(own.is_none(), "it is another namespace's turn");
        drop((&mut other).now_or_never().expect("a turn"));
        let own = (&mut waiting[0]).now_or_never();
        drop(own.expect("a turn"));
        drop(waiting);
        turns.take("another").await;
        let kept = turns.namespaces.lock().unwrap().len();
        assert_eq!(kept, 1, "namespaces without anybody are forgotten");
    }
}

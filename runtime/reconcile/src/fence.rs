//! Until when this replica may write, to Azure and to the cluster.
//!
//! Of several replicas one works, for as long as it renews its Lease. One that cannot renew must have stopped before
//! another may begin, whatever it is doing then: nothing is begun after the moment at which it gives up, and what is
//! under way is cut off. So the fence is asked at each write, and again whenever a write goes on, by the clock: a
//! process that was suspended finds it closed before anything else.
//!
//! What does not live here: when the moment comes (the election, in `armature_kubernetes`).

use std::future::Future;
use std::pin::pin;
use std::task::Poll;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// A write was not begun, or not finished: another replica may be at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this replica no longer holds the Lease of the one that manages objects, and writes nothing more"
)]
pub struct Closed;

/// The fence. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Fence(watch::Sender<Option<Instant>>);

impl Fence {
    /// For a replica that is alone: never closed.
    pub fn open() -> Self {
        Self(watch::Sender::new(None))
    }

    /// For a replica that does not lead yet.
    pub fn closed() -> Self {
        Self(watch::Sender::new(Some(Instant::now())))
    }

    /// Writes may go on until this moment.
    pub fn extend(&self, until: Instant) {
        self.0.send_replace(Some(until));
    }

    /// No write goes on from now on.
    pub fn close(&self) {
        self.extend(Instant::now());
    }

    /// Whether a write may begin, or go on.
    pub fn is_open(&self) -> bool {
        self.0.borrow().is_none_or(|until| Instant::now() < until)
    }

    /// When it closes, if it is open now and does so at all.
    pub fn until(&self) -> Option<Instant> {
        let until = *self.0.borrow();
        until.filter(|until| Instant::now() < *until)
    }

    /// Does a write for as long as the fence is open.
    ///
    /// # Errors
    /// It closed, before the write or during it: then the write may have been done.
    pub async fn run<T>(&self, write: impl Future<Output = T>) -> Result<T, Closed> {
        let (mut write, mut closing) = (pin!(write), pin!(self.closing()));
        std::future::poll_fn(|context| {
            let is_closing = closing.as_mut().poll(context).is_ready();
            if is_closing || !self.is_open() {
                return Poll::Ready(Err(Closed));
            }
            write.as_mut().poll(context).map(Ok)
        })
        .await
    }

    /// Resolves when the fence is closed.
    async fn closing(&self) {
        let mut changes = self.0.subscribe();
        while self.is_open() {
            let until = *changes.borrow_and_update();
            tokio::select! {
                // The sender lives as long as this fence.
                _ = changes.changed() => {}
                () = async {
                    match until {
                        Some(until) => sleep_until(until).await,
                        None => std::future::pending().await,
                    }
                } => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::sleep;

    use super::*;

    fn after(seconds: u64) -> Instant {
        Instant::now() + Duration::from_secs(seconds)
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_goes_on_until_the_fence_closes() {
        let fence = Fence::closed();
        let takes = |seconds| fence.run(sleep(Duration::from_secs(seconds)));
        assert_eq!(takes(0).await, Err(Closed), "closed from the start");
        fence.extend(after(10));
        assert_eq!(takes(9).await, Ok(()));
        assert_eq!(
            takes(9).await,
            Err(Closed),
            "it closes after another second"
        );
        assert!(!fence.is_open());
        let longer = fence.clone();
        fence.extend(after(10));
        tokio::spawn(async move {
            sleep(Duration::from_secs(8)).await;
            longer.extend(after(10));
        });
        assert_eq!(takes(15).await, Ok(()), "it was kept open meanwhile");
        let other = fence.clone();
        tokio::spawn(async move { other.close() });
        assert_eq!(takes(1).await, Err(Closed), "closed ahead of time");
        assert_eq!(
            Fence::open().run(sleep(Duration::from_secs(9))).await,
            Ok(())
        );
    }
}

//! Whether anybody asks anything over a connection.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// How long a client may take to its first request.
const FIRST: Duration = Duration::from_secs(10);
/// How long a connection may be idle between requests. Go's clients keep theirs for 90 s.
const IDLE: Duration = Duration::from_secs(120);

/// The requests of one connection. Clones are the same.
#[derive(Clone, Debug)]
pub struct Activity(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    running: usize,
    last: Instant,
    is_asked: bool,
}

/// A request that runs for as long as this lives.
#[derive(Debug)]
pub struct Asked(Activity);

impl Activity {
    /// A connection over which nothing was asked.
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            running: 0,
            last: Instant::now(),
            is_asked: false,
        })))
    }

    /// A request has come.
    pub fn asked(&self) -> Asked {
        let mut state = self.state();
        state.running += 1;
        state.is_asked = true;
        Asked(self.clone())
    }

    /// Resolves when nothing was asked for too long.
    pub async fn idle(&self) {
        loop {
            let until = {
                let state = self.state();
                let patience = if state.is_asked { IDLE } else { FIRST };
                match state.running {
                    0 => state.last + patience,
                    _ => Instant::now() + patience,
                }
            };
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.running -= 1;
        state.last = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_soon_without_a_request_and_late_after_one() {
        let began = Instant::now();
        let activity = Activity::new();
        activity.idle().await;
        assert_eq!(began.elapsed(), FIRST);

        let activity = Activity::new();
        let asked = activity.asked();
        let waits = {
            let activity = activity.clone();
            tokio::spawn(async move { activity.idle().await })
        };
        tokio::time::sleep(10 * IDLE).await;
        assert!(!waits.is_finished(), "a request runs");
        drop(asked);
        let ended = Instant::now();
        waits.await.unwrap();
        assert!(ended.elapsed() >= IDLE && ended.elapsed() <= 2 * IDLE);
    }
}

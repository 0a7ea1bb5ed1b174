//! Stopping a pass at one of its writes, as the end of its process does.

use std::future::poll_fn;
use std::sync::Mutex;
use std::task::Poll;

use super::lock;

/// Before the write reaches the other end, or after it was done and before the answer is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Nothing was done.
    Before,
    /// It was done, and nobody heard of it.
    After,
}

/// Holds one call of a port until it is released. Ports in memory pass it around every write and every request.
#[derive(Debug, Default)]
pub struct Breakpoint(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    armed: Option<(usize, Side)>,
    releases: usize,
    held: Option<String>,
}

impl Breakpoint {
    /// Stops at the n-th call from now on, counted from 0.
    pub fn arm(&self, calls: usize, side: Side) {
        let mut state = lock(&self.0);
        state.armed = Some((calls, side));
        state.held = None;
    }

    /// Stops nowhere any more; calls that were held go on.
    pub fn release(&self) {
        let mut state = lock(&self.0);
        state.armed = None;
        state.releases += 1;
        state.held = None;
    }

    /// The call that is held, if one is.
    pub fn held(&self) -> Option<String> {
        lock(&self.0).held.clone()
    }

    /// Passes a side of a call. Whoever is stopped here is polled again after [`Breakpoint::release`], or never.
    pub async fn pass(&self, side: Side, call: &str) {
        let Some(releases) = self.stops(side, call) else {
            return;
        };
        poll_fn(|_| {
            if lock(&self.0).releases > releases {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }

    fn stops(&self, side: Side, call: &str) -> Option<usize> {
        let mut state = lock(&self.0);
        let (calls, wanted) = state.armed?;
        if (calls, wanted) == (0, side) {
            state.armed = None;
            state.held = Some(call.to_owned());
            return Some(state.releases);
        }
        // A call is over with its second side.
        if side == Side::After {
            state.armed = Some((calls.checked_sub(1)?, wanted));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    async fn calls(breakpoint: &Breakpoint, done: &Mutex<Vec<&'static str>>) {
        for call in ["first", "second"] {
            breakpoint.pass(Side::Before, call).await;
            lock(done).push(call);
            breakpoint.pass(Side::After, call).await;
        }
    }

    #[test]
    fn a_call_is_held_on_its_side_until_it_is_released() {
        let rows = [
            (0, Side::Before, 0),
            (0, Side::After, 1),
            (1, Side::Before, 1),
            (1, Side::After, 2),
        ];
        for (at, side, before) in rows {
            let (breakpoint, done) = (Breakpoint::default(), Mutex::default());
            breakpoint.arm(at, side);
            let mut running = pin!(calls(&breakpoint, &done));
            let mut context = Context::from_waker(Waker::noop());
            assert!(running.as_mut().poll(&mut context).is_pending());
            assert_eq!(lock(&done).len(), before, "{at} {side:?}");
            assert!(breakpoint.held().is_some());
            breakpoint.release();
            assert!(running.as_mut().poll(&mut context).is_ready());
            assert_eq!(lock(&done).len(), 2);
        }
    }
}

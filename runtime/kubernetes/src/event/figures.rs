//! What became of events, for metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What became of the events that were recorded. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct EventFigures(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    written: AtomicU64,
    merged: AtomicU64,
    lost: AtomicU64,
    waiting: AtomicU64,
}

impl EventFigures {
    /// Requests that wrote one.
    pub fn written(&self) -> u64 {
        self.0.written.load(Ordering::Relaxed)
    }

    /// Those that are counted in another one's series.
    pub fn merged(&self) -> u64 {
        self.0.merged.load(Ordering::Relaxed)
    }

    /// Those that the API server did not take.
    pub fn lost(&self) -> u64 {
        self.0.lost.load(Ordering::Relaxed)
    }

    /// Those that are about to be written.
    pub fn waiting(&self) -> u64 {
        self.0.waiting.load(Ordering::Relaxed)
    }

    /// Written, merged, lost and waiting, in this order.
    pub(super) fn set(&self, figures: [u64; 4]) {
        let counts = &self.0;
        let all = [
            &counts.written,
            &counts.merged,
            &counts.lost,
            &counts.waiting,
        ];
        for (count, value) in all.into_iter().zip(figures) {
            count.store(value, Ordering::Relaxed);
        }
    }
}

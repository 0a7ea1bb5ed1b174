//! Ends of the operator's process: what it kept in memory is gone.

use std::sync::Arc;

use super::{World, remotes};

impl World {
    /// The process ends, and another starts that knows nothing.
    pub(super) fn restart(&mut self) {
        self.clock.advance(2);
        self.breakpoint.release();
        self.forget_operations();
        self.reconciler.remotes = remotes(&self.arm);
        self.reconciler.expressions = Arc::default();
        self.reconciler.since = self.now();
        self.schedule.clear();
        self.want_all();
    }

    /// What only the memory of the process knew of running operations is gone, as if their passes had been cut.
    fn forget_operations(&mut self) {
        for key in self.reconciler.deferred.keys() {
            let mut subjects = self.subjects.iter();
            if let Some(subject) = subjects.find(|subject| subject.key() == key) {
                self.ledger.of(&subject.id).cuts += 1;
            }
        }
        self.reconciler.deferred = Arc::default();
    }

    /// Another process, while a call of this one is held.
    pub(super) fn restart_keeping(&mut self) {
        self.clock.advance(2);
        self.reconciler.remotes = remotes(&self.arm);
        self.forget_operations();
        self.reconciler.since = self.now();
        self.schedule.clear();
        self.want_all();
    }
}

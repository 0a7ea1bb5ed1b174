//! Ports in memory for tests: a cluster, a remote, a clock, and a few kinds to run them with.
//!
//! Nothing here pretends to be complete. The cluster keeps objects, refuses stale writes and removes a deleted
//! object with its last finalizer.

mod breakpoint;
mod cluster;
pub mod front_door;
mod key_value;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

pub use breakpoint::{Breakpoint, Side};
pub use cluster::MemoryCluster;
pub use key_value::{KEY_VALUE, KeyValue};

use super::allowed_scopes::Enforcement;
use super::backoff::Random;
use super::driver::{Reconciler, Settings};
use super::policy::Policy;
use super::remote::Remotes;
use super::time::Clock;
use super::young::Silence;
use crate::azure_name;
use crate::extension::Registry;

/// A reconciler over a cluster in memory, whose clock stands still.
pub fn reconciler(
    cluster: &Arc<MemoryCluster>,
    remotes: Remotes,
    extensions: Registry,
) -> Reconciler {
    let clock = ManualClock::default();
    Reconciler {
        kubernetes: cluster.clone(),
        remotes,
        extensions,
        deferred: Arc::default(),
        absences: Arc::default(),
        departures: Arc::default(),
        written: Arc::default(),
        left_alone: Arc::default(),
        expressions: Arc::default(),
        since: clock.now(),
        clock: Arc::new(clock),
        settings: Settings {
            operator_namespace: "armature-system".to_owned(),
            operator_version: "v1".to_owned(),
            default_policy: Policy::Manage,
            default_scopes: None,
            scopes_enforcement: Enforcement::Enforce,
            export_bounds: Default::default(),
            random_name: azure_name::pretended,
            longest_hold_before_put: Duration::from_secs(60 * 60),
            longest_hold_before_delete: Duration::from_secs(5 * 60),
            silence: Silence::NONE,
        },
        cancellation: Default::default(),
    }
}

/// What happened, in order, over all ports of one test: `PUT /subscriptions/…`, `metadata Store default/s`.
#[derive(Clone, Debug, Default)]
pub struct Journal(Arc<Mutex<Vec<String>>>);

impl Journal {
    /// Adds a line.
    pub fn note(&self, line: impl Into<String>) {
        lock(&self.0).push(line.into());
    }

    /// All lines so far, which are forgotten here.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.0))
    }
}

/// A clock that stands still until it is set.
#[derive(Debug)]
pub struct ManualClock(Mutex<Timestamp>);

impl Default for ManualClock {
    fn default() -> Self {
        Self(Mutex::new(Timestamp::UNIX_EPOCH))
    }
}

impl ManualClock {
    /// Moves the clock on.
    pub fn advance(&self, seconds: i64) {
        let mut now = lock(&self.0);
        *now += jiff::SignedDuration::from_secs(seconds);
    }

    /// Sets the clock, which never goes back.
    pub fn set(&self, to: Timestamp) {
        let mut now = lock(&self.0);
        *now = to.max(*now);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *lock(&self.0)
    }
}

/// Randomness without surprises.
#[derive(Clone, Copy, Debug)]
pub struct FixedRandom(pub f64);

impl Random for FixedRandom {
    fn unit(&self) -> f64 {
        self.0
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

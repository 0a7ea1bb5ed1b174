//! The driver over ports in memory: a cluster, and an Azure that answers requests of Azure Resource Manager.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests: a failure here fails the test that uses them"
)]

mod adopt;
mod annotations;
mod azure_names;
mod bounds;
mod budget;
mod carried;
mod children;
mod claims;
mod contested;
mod create;
mod delete;
mod drift;
mod edits;
mod exports;
mod expressions;
mod extensions;
mod failures;
mod foresight;
mod foretold;
mod head_only;
mod holds;
mod kept_back;
mod limit;
mod operations;
mod owned;
mod places;
mod prerequisites;
mod protect;
mod releases;
mod remote;
mod restart;
mod scopes;
mod secrets;
mod sent;
mod shared;
mod signatures;
mod stored_check;
mod uuid_names;
mod vouching;
mod young;

use std::sync::Arc;
use std::time::Duration;

use armature_arm::testing::{MemoryAzure, error, response};
use armature_arm::{Arm, ArmContext};
use armature_azure::budget::Budget;
use armature_reconcile::backoff::{Requeue, RetryClass};
use armature_reconcile::claim;
use armature_reconcile::driver::{Absences, Deferred, Departures, Reconciler};
use armature_reconcile::extension::Registry;
use armature_reconcile::remote::Remotes;
use armature_reconcile::testing::{Journal, ManualClock, MemoryCluster};
use armature_reconcile::time::Clock;
use armature_shapes::names;
use armature_shapes::resource::ObjectKey;
use armature_shapes::testing::kinds;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const GROUP: &str = "/subscriptions/s-1/resourceGroups/g";
const STORE: &str = "/subscriptions/s-1/resourceGroups/g/providers/Microsoft.Toys/stores/s";
const BOX: &str = "/subscriptions/s-1/resourceGroups/g/providers/Microsoft.Toys/stores/s/boxes/b";

/// A cluster, an Azure and what happens in both, in order.
struct World {
    journal: Journal,
    cluster: Arc<MemoryCluster>,
    azure: Arc<MemoryAzure>,
    extensions: Registry,
    budget: Arc<Budget>,
    /// Of an operator that runs on.
    deferred: Arc<Deferred>,
    /// Of an operator that runs on, too.
    absences: Arc<Absences>,
    departures: Arc<Departures>,
    clock: Arc<ManualClock>,
}

impl World {
    fn new() -> Self {
        let journal = Journal::default();
        Self {
            cluster: Arc::new(MemoryCluster::new(journal.clone())),
            azure: Arc::new(MemoryAzure::new(journal.clone(), "s-1")),
            extensions: Registry::default(),
            budget: Arc::default(),
            deferred: Arc::default(),
            absences: Arc::default(),
            departures: Arc::default(),
            clock: Arc::default(),
            journal,
        }
    }

    /// A world with the group `g` ready.
    async fn with_group() -> Self {
        let world = Self::new();
        let group = world.group();
        assert_eq!(world.pass(&group).await, Requeue::Sync);
        world.forget();
        world
    }

    /// A world with the group `g` and the store `s` ready.
    async fn with_store() -> (Self, ObjectKey) {
        let world = Self::with_group().await;
        let store = world.store(json!({"capacity": 5}));
        assert_eq!(world.pass(&store).await, Requeue::Sync);
        world.forget();
        (world, store)
    }

    fn forget(&self) {
        self.journal.take();
        self.azure.take_bodies();
        self.cluster.take_events();
    }

    fn group(&self) -> ObjectKey {
        let spec = json!({"location": "westus"});
        self.cluster.apply(&kinds::GROUP, "g", &spec)
    }

    fn store(&self, mut spec: Value) -> ObjectKey {
        spec["owner"] = json!({"name": "g"});
        self.cluster.apply(&kinds::STORE, "s", &spec)
    }

    fn boxed(&self) -> ObjectKey {
        let spec = json!({"owner": {"name": "s"}, "size": 3});
        self.cluster.apply(&kinds::BOX, "b", &spec)
    }

    /// One pass of a reconciler that has just started: nothing but the budget is remembered outside the objects.
    async fn pass(&self, key: &ObjectKey) -> Requeue {
        self.reconciler().reconcile(key).await
    }

    fn reconciler(&self) -> Reconciler {
        let (remotes, extensions) = (self.remotes(), self.extensions.clone());
        Reconciler {
            absences: self.absences.clone(),
            departures: self.departures.clone(),
            clock: self.clock.clone(),
            since: self.clock.now(),
            ..armature_reconcile::testing::reconciler(&self.cluster, remotes, extensions)
        }
    }

    fn remotes(&self) -> Remotes {
        let arm = Arm::new(self.azure.clone(), self.budget.clone());
        Remotes::new(Arc::new(arm))
    }

    fn ready(&self, key: &ObjectKey) -> String {
        self.cluster.condition(key, "Ready")
    }

    /// Requests to Azure so far, which are forgotten here.
    fn requests(&self) -> Vec<String> {
        let mut lines = self.journal.take();
        lines.retain(|line| line.contains(" /") && !line.starts_with(char::is_lowercase));
        lines
    }
}

fn seconds(count: u64) -> Requeue {
    Requeue::After(Duration::from_secs(count))
}

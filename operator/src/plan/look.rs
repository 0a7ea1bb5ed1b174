//! The passes of one object, up to what they would write.

use std::sync::Arc;
use std::time::Duration;

use armature_runtime::arm::Arm;
use armature_runtime::azure::Transport;
use armature_runtime::azure::budget::Budget;
use armature_runtime::engine::expression::Cache;
use armature_runtime::extension::Registry;
use armature_runtime::id::RemoteId;
use armature_runtime::reconcile::allowed_scopes::Enforcement;
use armature_runtime::reconcile::azure_name;
use armature_runtime::reconcile::driver::foresight::{Foresight, Next};
use armature_runtime::reconcile::driver::{Reconciler, Settings, StoredCheck};
use armature_runtime::reconcile::port::KubernetesError;
use armature_runtime::reconcile::remote::Remotes;
use armature_runtime::reconcile::time::{Clock, Time};
use armature_runtime::reconcile::young::Silence;
use armature_runtime::resource::{Object, ObjectKey};
use futures::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use super::order::Order;
use crate::transports::reading::Reading;
use crate::transports::recording::{Recording, Resources};
use crate::worlds::applied::seen::Notes;
use crate::worlds::applied::{Applied, Seen};
use crate::worlds::manifests::cluster::Places;

/// Where requests go.
#[derive(Clone)]
pub enum Azure {
    /// To Azure, as far as they read.
    Asked(Arc<Reading>),
    /// Nowhere: nothing is there but what the plan makes.
    Unasked {
        /// What every credential is for.
        subscription: String,
    },
}

/// Has passes foreseen.
pub struct Looker {
    /// The world.
    pub world: Arc<Applied>,
    /// Where requests go.
    pub azure: Azure,
    /// Extensions of the kinds.
    pub extensions: Registry,
    /// How many requests Azure takes.
    pub budget: Arc<Budget>,
    /// The time.
    pub time: Time,
    /// What the operator's configuration says.
    pub settings: Settings,
}

/// What was foreseen of an object.
pub struct Look {
    /// What its pass would do.
    pub foresight: Result<Foresight, KubernetesError>,
    /// What it asked for that nobody can tell.
    pub notes: Notes,
}

impl Looker {
    /// What the pass of this object would do. Waits where the budget has no request left.
    pub async fn look(&self, key: &ObjectKey) -> Look {
        loop {
            let port = Arc::new(Seen::new(self.world.clone(), key.clone()));
            let reconciler = self.reconciler(port.clone(), key);
            let foresight = reconciler.foresee(key).await;
            if let Ok(Foresight {
                next: Next::PutOff(wait),
                ..
            }) = &foresight
            {
                let until = self.time.instant() + *wait;
                self.time.sleep_until(until).await;
                continue;
            }
            return Look {
                foresight,
                notes: port.noted(),
            };
        }
    }

    /// What would be refused of the object as it is stored, whatever Azure says.
    ///
    /// # Errors
    /// When the cluster cannot be read.
    pub async fn check_stored(&self, key: &ObjectKey) -> Result<StoredCheck, KubernetesError> {
        let port = Arc::new(Seen::new(self.world.clone(), key.clone()));
        self.reconciler(port, key).check_stored(key).await
    }

    /// Tells the world where objects will be, as far as that can be told before their passes.
    pub async fn find_places(&self, objects: &[Object], order: &Order, parallel: usize) {
        for turn in &order.turns {
            let keys = turn.iter().map(|position| objects[*position].key());
            let looks = keys.map(|key| async {
                let place = self.place(&key).await;
                place.map(|place| (key, place))
            });
            let placed = stream::iter(looks).buffer_unordered(parallel);
            let placed: Vec<(ObjectKey, RemoteId)> =
                placed.filter_map(async |one| one).collect().await;
            let mut places = Places::clone(&self.world.places());
            places.extend(placed);
            self.world.set_places(places);
        }
    }

    /// Where the object will be, if that can be told.
    pub async fn place(&self, key: &ObjectKey) -> Option<RemoteId> {
        let port = Arc::new(Seen::new(self.world.clone(), key.clone()));
        let placed = self.reconciler(port, key).place(key).await;
        placed.ok()?.ok()
    }

    fn reconciler(&self, kubernetes: Arc<Seen>, key: &ObjectKey) -> Reconciler {
        let arm = Arm::new(self.transport(key), self.budget.clone());
        Reconciler {
            kubernetes,
            remotes: Remotes::new(Arc::new(arm)),
            extensions: self.extensions.clone(),
            deferred: Arc::default(),
            absences: Arc::default(),
            departures: Arc::default(),
            written: Arc::default(),
            left_alone: Arc::default(),
            expressions: Arc::new(Cache::default()),
            clock: Arc::new(self.time),
            since: self.time.now(),
            settings: self.settings.clone(),
            cancellation: CancellationToken::new(),
        }
    }

    fn transport(&self, key: &ObjectKey) -> Arc<dyn Transport> {
        match &self.azure {
            Azure::Asked(reading) => reading.clone(),
            Azure::Unasked { subscription } => {
                let places = self.world.places();
                let place = places.get(key).and_then(RemoteId::arm);
                let subscription = self
                    .world
                    .manifests()
                    .subscription(key, place, subscription);
                let recording = Recording::new(&subscription, Arc::new(Resources::new()), None);
                let reading = Reading::new(Arc::new(recording));
                let others = places.iter().filter(|(other, _)| *other != key);
                for id in others.filter_map(|(_, id)| id.arm()) {
                    if place.is_none_or(|place| place != id) {
                        reading.assume(id);
                    }
                }
                Arc::new(reading)
            }
        }
    }
}

/// What the operator's configuration says, as far as it matters for one pass.
pub fn settings(operator_namespace: &str) -> Settings {
    Settings {
        operator_namespace: operator_namespace.to_owned(),
        operator_version: env!("CARGO_PKG_VERSION").to_owned(),
        default_policy: armature_runtime::reconcile::policy::Policy::Manage,
        default_scopes: None,
        scopes_enforcement: Enforcement::Enforce,
        export_bounds: Default::default(),
        random_name: azure_name::pretended,
        longest_hold_before_put: Duration::from_secs(3600),
        longest_hold_before_delete: Duration::from_secs(300),
        silence: Silence::NONE,
    }
}

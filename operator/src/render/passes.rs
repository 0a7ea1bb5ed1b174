//! The passes of all objects over their manifests.

use std::sync::Arc;
use std::time::Duration;

use armature_runtime::arm::Arm;
use armature_runtime::engine::expression::Cache;
use armature_runtime::id::{RemoteId, ResourceId};
use armature_runtime::reconcile::allowed_scopes::Enforcement;
use armature_runtime::reconcile::azure_name;
use armature_runtime::reconcile::backoff::Requeue;
use armature_runtime::reconcile::driver::{Reconciler, Settings};
use armature_runtime::reconcile::policy::Policy;
use armature_runtime::reconcile::remote::Remotes;
use armature_runtime::reconcile::time::Clock;
use armature_runtime::reconcile::young::Silence;
use armature_runtime::resource::{Object, ObjectKey};
use futures::FutureExt;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::outcome::{self, Ended, Waiting};
use super::request::RenderedRequest;
use super::setting::Setting;
use crate::transports::recording::{Recording, Resources, path_of};
use crate::worlds::manifests::cluster::{Cluster, Places};
use crate::worlds::manifests::inventory::{Manifests, Resource};
use crate::worlds::manifests::problem::Problem;

/// Most passes of one object: the first one ends with a request or with a reason, unless a claim has to be read again.
const PASSES: usize = 3;

/// Nothing that is rendered depends on the time.
struct Standstill;

impl Clock for Standstill {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

/// What becomes of an object.
pub enum Outcome {
    /// A request; none for an object that the operator only reads.
    Sent(Option<RenderedRequest>),
    /// Everything that is wrong with the object.
    Wrong(Vec<Problem>),
    /// Nothing is wrong but another object.
    Waits(Waiting),
}

/// The passes of all objects.
pub struct Passes<'a> {
    manifests: Arc<Manifests>,
    setting: &'a Setting<'a>,
    expressions: Arc<Cache>,
    places: Arc<Places>,
    /// The resources of all objects, and what else there is in Azure.
    there: Arc<Resources>,
}

impl<'a> Passes<'a> {
    /// Finds out where everything is in Azure. What has no place there says why when its pass comes.
    pub fn new(manifests: Arc<Manifests>, setting: &'a Setting<'a>) -> Self {
        let mut passes = Self {
            manifests,
            setting,
            expressions: Arc::default(),
            places: Arc::default(),
            there: Arc::default(),
        };
        // Each turn gives a place to what is below those of the turns before it.
        loop {
            let places = passes.more_places();
            if places.len() == passes.places.len() {
                break;
            }
            passes.places = Arc::new(places);
        }
        passes.there = Arc::new(passes.resources_in_azure());
        passes
    }

    /// The objects, in the order of their manifests.
    pub fn resources(&self) -> &[Resource] {
        self.manifests.resources()
    }

    /// What becomes of an object.
    pub fn outcome(&self, resource: &Resource) -> Outcome {
        let key = resource.object.key();
        let place = self.places.get(&key);
        let cluster = Arc::new(self.cluster(resource));
        let place = place.and_then(RemoteId::arm);
        let subscription = self
            .manifests
            .subscription(&key, place, self.setting.subscription);
        let azure = Arc::new(Recording::new(&subscription, self.there.clone(), place));
        let reconciler = self.reconciler(cluster.clone(), azure.clone());
        for _ in 0..PASSES {
            // No port waits for anything, so a pass ends when it is first asked to go on.
            let requeue = reconciler.reconcile(&key).now_or_never();
            if requeue != Some(Requeue::Now) || azure.put().is_some() {
                break;
            }
        }
        let sent = azure.put().map(|request| RenderedRequest {
            group: key.kind.0.group,
            kind: key.kind.0.kind,
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            method: "PUT",
            url: request.url,
            body: request.body.unwrap_or_default(),
            assumed_absent: azure.assumed_absent(),
        });
        if sent.is_some() && resource.problems.is_empty() {
            return Outcome::Sent(sent);
        }
        let ended = self.ended(&key, &resource.object, &cluster);
        let why = ended.why().filter(|_| sent.is_none());
        let why = why.map(|(path, message)| resource.problem(path, message));
        let by = match ended.waits_for_itself() {
            true => Some(key.clone()),
            false => cluster.mistaken().filter(|_| ended.waits()),
        };
        match (why, by) {
            (Some(_), Some(_)) if !resource.problems.is_empty() => {
                Outcome::Wrong(resource.problems.clone())
            }
            (Some(problem), Some(by)) => Outcome::Waits(Waiting {
                object: key,
                by,
                problem,
            }),
            (why, _) => match outcome::merge(resource.problems.clone(), why) {
                problems if problems.is_empty() => Outcome::Sent(None),
                problems => Outcome::Wrong(problems),
            },
        }
    }

    fn ended(&self, key: &ObjectKey, object: &Object, cluster: &Cluster) -> Ended {
        let namespace = self.manifests.namespace(&key.namespace);
        Ended {
            ready: cluster.ready(),
            absent: cluster.absent(),
            only_reads: outcome::only_reads(object, (&key.namespace, &namespace)),
            holder: self.holder(key),
            has_own_credential: self.manifests.own_subscription(key).is_some(),
        }
    }

    /// All places that follow from those that are known.
    fn more_places(&self) -> Places {
        let mut places = Places::clone(&self.places);
        for resource in self.resources() {
            let key = resource.object.key();
            if places.contains_key(&key) {
                continue;
            }
            let cluster = Arc::new(self.cluster(resource));
            let subscription = self
                .manifests
                .subscription(&key, None, self.setting.subscription);
            let azure = Recording::new(&subscription, Arc::default(), None);
            let place = self
                .reconciler(cluster, Arc::new(azure))
                .place(&key)
                .now_or_never();
            if let Some(Ok(Ok(id))) = place {
                places.insert(key, id);
            }
        }
        places
    }

    /// What is in Azure when everything of the manifests is: the resources, and owners that are only named by their id.
    fn resources_in_azure(&self) -> Resources {
        let owners = self.resources().iter().filter_map(|resource| {
            let id = resource.owner_id.as_deref()?;
            ResourceId::parse(id).ok()
        });
        let places = self.places.values().filter_map(RemoteId::arm);
        let all = places.cloned().chain(owners);
        let mut there: Resources = all.map(|id| (path_of(&id), ready(&id))).collect();
        there.extend(self.setting.resources.clone());
        there
    }

    /// The object that stands for the same resource and comes first.
    fn holder(&self, key: &ObjectKey) -> Option<ObjectKey> {
        let place = self.places.get(key)?;
        let keys = self.resources().iter().map(|other| other.object.key());
        let mut others = keys.filter(|other| other != key);
        others.find(|other| self.places.get(other) == Some(place))
    }

    fn cluster(&self, resource: &Resource) -> Cluster {
        let (manifests, places) = (self.manifests.clone(), self.places.clone());
        Cluster::new(manifests, places, resource.object.clone())
    }

    fn reconciler(&self, kubernetes: Arc<Cluster>, azure: Arc<Recording>) -> Reconciler {
        // As much as one object may need: the time in which the budget would fill again does not pass.
        let arm = Arm::new(azure, Arc::default());
        Reconciler {
            kubernetes,
            remotes: Remotes::new(Arc::new(arm)),
            extensions: self.setting.extensions.clone(),
            deferred: Arc::default(),
            absences: Arc::default(),
            departures: Arc::default(),
            written: Arc::default(),
            left_alone: Arc::default(),
            expressions: self.expressions.clone(),
            clock: Arc::new(Standstill),
            since: Timestamp::UNIX_EPOCH,
            settings: Settings {
                operator_namespace: "render".to_owned(),
                operator_version: env!("CARGO_PKG_VERSION").to_owned(),
                default_policy: Policy::Manage,
                default_scopes: None,
                scopes_enforcement: Enforcement::Enforce,
                export_bounds: Default::default(),
                random_name: azure_name::pretended,
                longest_hold_before_put: Duration::ZERO,
                longest_hold_before_delete: Duration::ZERO,
                silence: Silence::NONE,
            },
            cancellation: CancellationToken::new(),
        }
    }
}

/// A resource of which no more is known than that it is there and fine.
fn ready(id: &ResourceId) -> Value {
    json!({
        "id": id.as_str(),
        "name": id.name(),
        "properties": { "provisioningState": "Succeeded" },
    })
}

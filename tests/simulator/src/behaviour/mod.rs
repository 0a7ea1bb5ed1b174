//! What particular resource providers do beyond the rules that hold for all of ARM, one file each.
//!
//! The rest of the simulator names no service. A behaviour sees a resource while it is written, when its
//! operation ends, and when an action is posted to it.
//!
//! Each file says under `Source:` what it was read from: recordings by name, files of Azure's specs by path, documents by
//! address. `tests/sources.rs` looks for all of them, and for each error code in the recordings that are named.

mod answer_table;
mod answers;
mod authorization;
mod compute;
mod container_apps;
mod container_service;
mod database_server;
mod defaults;
mod document_db;
mod exported;
mod identity;
mod key_vault;
mod keys;
mod kubernetes_configuration;
mod kusto;
mod managed_cluster;
mod network;
mod network_references;
mod network_watcher;
mod normalise;
mod openshift;
mod policy;
mod private_endpoint;
mod provisioning;
mod redis_enterprise;
mod search;
mod storage;
mod subscription;

use std::fmt;

use armature_runtime::kind::{KindInfo, VersionInfo};
use jiff::Timestamp;
use serde_json::Value;

use crate::error::ArmError;
use crate::id::ResourceId;
use crate::operation::{Failure, OperationRule, Verb};
use crate::options::{Normalise, Settings};
use crate::store::{Resource, Store};

pub use key_vault::{DeletedVaults, deleted_vault_not_found, deleted_vaults, is_deleted_vault};
pub use kusto::{CLUSTER as KUSTO_CLUSTER, set_cluster_state};
pub use normalise::other_spelling;
pub use private_endpoint::{ConnectionDecision, PRIVATE_ENDPOINT, decide as decide_connections};

/// What surrounds a resource while a behaviour looks at it.
pub struct Scene<'a> {
    /// Everything in Azure; the resource itself as it was before.
    pub store: &'a Store,
    /// How the simulator was set up.
    pub settings: &'a Settings,
    /// The time.
    pub now: Timestamp,
    /// Id of the resource, with the casing of the answer.
    pub id: &'a ResourceId,
    /// Shapes of the api-version that the request named.
    pub version: &'static VersionInfo,
    /// What is being done.
    pub verb: Verb,
    /// Whether a long-running operation follows.
    pub long_running: bool,
}

/// What an action does.
#[derive(Debug, Default)]
pub struct ActionOutcome {
    /// Body of the answer.
    pub answer: Option<Value>,
    /// New state of the resource.
    pub resource: Option<Value>,
}

/// One provider's particulars. Every method has a default that does nothing.
pub trait Behaviour: fmt::Debug + Send + Sync {
    /// Whether it concerns an ARM type; compare without regard to case.
    fn applies_to(&self, arm_type: &str) -> bool;

    /// How the provider runs long operations, where that differs from what the spec says.
    fn operations(&self) -> OperationRule {
        OperationRule::default()
    }

    /// Refuses a write before anything changes.
    fn admit(&self, _scene: &Scene<'_>, _body: &Value) -> Result<(), ArmError> {
        Ok(())
    }

    /// A resource whose operation has to end before this one can be written.
    fn waits_for(&self, _store: &Store, _id: &ResourceId) -> Option<ResourceId> {
        None
    }

    /// How the operation ends that a write of the resource starts, where the provider finds then that it cannot be done.
    /// A resource that was to be made does not come to be.
    fn ends_badly(&self, _store: &Store, _id: &ResourceId) -> Option<Failure> {
        None
    }

    /// Completes a body that is about to be stored with what Azure adds to it.
    fn stored(&self, _scene: &Scene<'_>, _previous: Option<&Value>, _body: &mut Value) {}

    /// Changes a body when its operation has ended well.
    fn completed(&self, _scene: &Scene<'_>, _body: &mut Value) {}

    /// What a write of the resource changes elsewhere.
    fn written(&self, _store: &mut Store, _id: &ResourceId) {}

    /// What stays of a resource that was just taken out of Azure.
    fn removed(&self, _store: &mut Store, _resource: &Resource, _now: Timestamp) {}

    /// Answers an action (POST). `None` when the provider has no such action.
    fn action(
        &self,
        _scene: &Scene<'_>,
        _resource: &Resource,
        _action: &str,
        _body: &Value,
    ) -> Option<Result<ActionOutcome, ArmError>> {
        None
    }

    /// What Azure has of the type from the beginning, in every scope.
    fn built_in(&self) -> Vec<Value> {
        Vec::new()
    }

    /// Children that exist from the moment their parent does: type segment and name.
    fn implicit_children(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
}

/// Whether an ARM type is somewhere below another one.
fn is_below(arm_type: &str, top: &str) -> bool {
    let start = arm_type.get(..top.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(top))
        && arm_type[top.len()..].starts_with('/')
}

/// All behaviours, in the order in which they are asked.
#[derive(Debug)]
pub struct Behaviours(Vec<Box<dyn Behaviour>>);

impl Behaviours {
    /// Every behaviour of this crate, for an Azure that serves these kinds.
    pub fn all(kinds: &'static [&'static KindInfo], normalise: Normalise) -> Self {
        let mut all: Vec<Box<dyn Behaviour>> = vec![
            Box::new(provisioning::Provisioning),
            Box::new(authorization::BuiltInRoles),
            Box::new(defaults::Defaults),
            Box::new(storage::StorageAccount),
            Box::new(document_db::Account),
            Box::new(document_db::Part),
            Box::new(database_server::DatabaseServer),
            Box::new(search::SearchService),
            Box::new(identity::UserAssignedIdentity),
            Box::new(identity::AssignedIdentity),
            Box::new(compute::Image),
            Box::new(container_service::UpdateRun),
            Box::new(kusto::Cluster),
            Box::new(kusto::Database),
            Box::new(managed_cluster::ManagedCluster),
            Box::new(private_endpoint::PrivateEndpoint),
            Box::new(container_apps::ManagedEnvironment),
            Box::new(container_apps::ContainerApp),
            Box::new(container_apps::Job),
            Box::new(network::PublicIpAddress),
            Box::new(network::DnsZone),
            Box::new(network::TrafficManagerProfile),
            Box::new(network::PrivateLinkService),
            Box::new(network::Network),
            Box::new(network_references::Referring),
            Box::new(network_references::Subnet),
            Box::new(network_watcher::FlowLog),
            Box::new(redis_enterprise::RedisEnterprise),
            Box::new(kubernetes_configuration::Extension),
            Box::new(openshift::Cluster),
            Box::new(key_vault::Vault),
            Box::new(subscription::Alias),
            Box::new(policy::Policy),
        ];
        for answers in answer_table::ALL {
            all.push(Box::new(answers));
        }
        all.push(Box::new(exported::Exported(kinds)));
        all.push(Box::new(normalise::Normaliser(normalise)));
        Self(all)
    }

    /// What Azure has of a type from the beginning.
    pub fn built_in(&self, arm_type: &str) -> Vec<Value> {
        self.of(arm_type).flat_map(Behaviour::built_in).collect()
    }

    /// Those that concern a type.
    pub fn of<'a>(&'a self, arm_type: &'a str) -> impl Iterator<Item = &'a dyn Behaviour> {
        self.0
            .iter()
            .map(Box::as_ref)
            .filter(move |behaviour| behaviour.applies_to(arm_type))
    }
}

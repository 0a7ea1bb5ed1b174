//! `kusto.azure.com`: a cluster refuses changes, of itself and of its databases, while it is busy with one.

mod cluster;
mod database;
mod state;

pub use cluster::ClusterState;
pub use database::DatabaseOwnerState;

use armature_runtime::extension::RegistryBuilder;

/// Adds what this group has.
pub(crate) fn register(registry: RegistryBuilder) -> RegistryBuilder {
    registry
        .register_pre_checker(ClusterState)
        .register_owner_checker(DatabaseOwnerState)
}

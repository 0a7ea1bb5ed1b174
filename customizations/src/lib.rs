//! Handwritten behaviour of single kinds: one module per group, one file per extension, tests beside it.
//!
//! Each extension is typed on the hub structs of its kind, so that a change of the hub breaks the build here
//! and not at run time. What an extension may do is the contract of its trait in
//! [`armature_runtime::extension`].
//!
//! What does not live here: plumbing (requests, retries, conditions: `armature_runtime`), and behaviour that is
//! only data, which is a row in the group's `specs/<group>.toml`.

pub mod kusto;
pub mod network;
#[cfg(test)]
mod testing;

use armature_runtime::extension::{RegisterError, Registry};

/// All extensions.
///
/// # Errors
/// When two of them want the same point of the same kind; a test rules this out.
pub fn registry() -> Result<Registry, RegisterError> {
    Registry::builder()
        .register_pre_checker(kusto::ClusterState)
        .register_owner_checker(kusto::DatabaseOwnerState)
        .register_post_checker(network::PrivateEndpointApproval)
        .build()
}

#[cfg(test)]
mod tests {
    use armature_generated::{kusto, network};
    use armature_runtime::resource::Kind;

    #[test]
    fn every_extension_is_registered_for_its_kind() {
        let registry = super::registry().expect("no two extensions for one point");
        let cluster = registry.of(Kind(&kusto::kinds::CLUSTER));
        assert!(cluster.has_pre_checker() && !cluster.has_owner_checker());
        let database = registry.of(Kind(&kusto::kinds::DATABASE));
        assert!(database.has_owner_checker() && !database.has_pre_checker());
        let endpoint = registry.of(Kind(&network::kinds::PRIVATE_ENDPOINT));
        assert!(endpoint.has_post_checker() && !endpoint.has_pre_checker());
    }
}

//! Handwritten behaviour of single kinds: one module per group, one file per extension, tests beside it.
//!
//! A group's module registers what is in it, and is there with the feature of the group's name. What several groups need
//! stands beside them ([`state`], [`unmade`], and the settings that scale resources of any group), and so does where an import finds what stands on other resources ([`listing`]). `docs/customizations.md` says for each kind where what it needs is done.
//!
//! Each extension is typed on the hub structs of its kind, so that a change of the hub breaks the build here
//! and not at run time. What an extension may do is the contract of its trait in
//! [`armature_runtime::extension`].
//!
//! What does not live here: plumbing (requests, retries, conditions: `armature_runtime`), and behaviour that is
//! only data, which is a row in the group's `specs/<group>/group.toml`.

#[cfg(feature = "apimanagement")]
pub mod apimanagement;
#[cfg(feature = "authorization")]
pub mod authorization;
mod autoscale;
#[cfg(feature = "communication")]
pub mod communication;
#[cfg(feature = "containerservice")]
pub mod containerservice;
#[cfg(feature = "dataprotection")]
pub mod dataprotection;
#[cfg(feature = "dbformysql")]
pub mod dbformysql;
#[cfg(feature = "dbforpostgresql")]
pub mod dbforpostgresql;
#[cfg(feature = "documentdb")]
pub mod documentdb;
#[cfg(feature = "keyvault")]
pub mod keyvault;
#[cfg(feature = "kusto")]
pub mod kusto;
pub mod listing;
#[cfg(feature = "network")]
pub mod network;
mod state;
#[cfg(feature = "subscription")]
pub mod subscription;
#[cfg(all(test, feature = "default"))]
mod testing;
mod unmade;

use armature_runtime::extension::{RegisterError, Registry};

/// Lets each group whose feature is on register what it has.
macro_rules! register {
    ($registry:ident: $($feature:literal $group:ident)*) => {
        $(
            #[cfg(feature = $feature)]
            let $registry = $group::register($registry);
        )*
    };
}

/// All extensions.
///
/// # Errors
/// When two of them want the same point of the same kind; a test rules this out, and has a case for each.
pub fn registry() -> Result<Registry, RegisterError> {
    let registry = Registry::builder().look_for_scaling(autoscale::AutoscaleSettings::default());
    register! { registry:
        "apimanagement" apimanagement
        "authorization" authorization
        "communication" communication
        "containerservice" containerservice
        "dataprotection" dataprotection
        "dbformysql" dbformysql
        "dbforpostgresql" dbforpostgresql
        "documentdb" documentdb
        "keyvault" keyvault
        "kusto" kusto
        "network" network
        "subscription" subscription
    }
    registry.build()
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use armature_runtime::kind::SecretSource;
    use armature_runtime::resource::Kind;
    use armature_runtime::shape::{StructShape, Type};

    /// Whether a path of JSON names leads to a field.
    fn leads_to_a_field(shape: &StructShape, path: &[&str]) -> bool {
        let Some((name, rest)) = path.split_first() else {
            return true;
        };
        shape.field(name).is_some_and(|field| match field.ty {
            Type::Struct(inner) => leads_to_a_field(inner, rest),
            _ => rest.is_empty(),
        })
    }

    #[test]
    fn every_secret_has_a_source_and_every_status_path_a_field() {
        let registry = super::registry().expect("no two extensions for one point");
        for kind in armature_generated::KINDS {
            let points = registry.of(Kind(kind));
            let status = kind.hub.status;
            for row in kind.secrets {
                let is_found = match row.source {
                    SecretSource::Status(path) => leads_to_a_field(status, path),
                    SecretSource::Extension => points.has_secret_exporter(),
                    SecretSource::Subscription => true,
                    // What Azure answers to it is in the simulator, from specs and recordings, and
                    // `tests/simulator/tests/keys.rs` finds each key in there.
                    SecretSource::Action { .. } => continue,
                };
                assert!(is_found, "{}: secret {}", kind.kind, row.key);
            }
            for row in kind.config_maps {
                let is_found = match row.status_path {
                    [] => points.has_config_exporter(),
                    path => leads_to_a_field(status, path),
                };
                assert!(is_found, "{}: config map {}", kind.kind, row.key);
            }
        }
    }
}

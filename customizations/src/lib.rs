//! Handwritten behaviour of single kinds: one module per group, one file per extension, tests beside it.
//!
//! A group's module registers what is in it, and is there with the feature of the group's name.
//!
//! Each extension is typed on the hub structs of its kind, so that a change of the hub breaks the build here
//! and not at run time. What an extension may do is the contract of its trait in
//! [`armature_runtime::extension`].
//!
//! What does not live here: plumbing (requests, retries, conditions: `armature_runtime`), and behaviour that is
//! only data, which is a row in the group's `specs/<group>/group.toml`.

#[cfg(feature = "keyvault")]
pub mod keyvault;
#[cfg(feature = "kusto")]
pub mod kusto;
#[cfg(feature = "network")]
pub mod network;
#[cfg(all(test, feature = "default"))]
mod testing;

use armature_runtime::extension::{RegisterError, Registry};

/// All extensions.
///
/// # Errors
/// When two of them want the same point of the same kind; a test rules this out.
pub fn registry() -> Result<Registry, RegisterError> {
    let registry = Registry::builder();
    #[cfg(feature = "keyvault")]
    let registry = keyvault::register(registry);
    #[cfg(feature = "kusto")]
    let registry = kusto::register(registry);
    #[cfg(feature = "network")]
    let registry = network::register(registry);
    registry.build()
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use armature_generated::{keyvault, kusto, network};
    use armature_runtime::azure::CloudError;
    use armature_runtime::kind::SecretSource;
    use armature_runtime::reconcile::backoff::Requeue;
    use armature_runtime::reconcile::classify::classify;
    use armature_runtime::resource::Kind;
    use armature_runtime::shape::{StructShape, Type};

    /// ASO behaviour §1.7: the row of fatal errors, as far as only the network's service has them.
    #[test]
    fn gateways_and_addresses_that_cannot_be_wait_for_the_user() {
        let codes = [
            "InvalidGatewaySize",
            "InvalidGatewaySkuProvidedForGatewayVpnType",
            "PrivateIPAddressInReservedRange",
            "PrivateIPAddressNotInSubnet",
            "PublicIpForGatewayIsRequired",
        ];
        let kinds = armature_generated::KINDS.iter();
        for kind in kinds.filter(|kind| kind.group == "network.azure.com") {
            for code in codes {
                let error = CloudError {
                    status: Some(400),
                    code: Some(code.to_owned()),
                    ..CloudError::default()
                };
                let failure = classify(kind.errors, &error, None);
                assert_eq!(failure.requeue(), Requeue::Never, "{} {code}", kind.kind);
            }
        }
    }

    #[test]
    fn every_extension_is_registered_for_its_kind() {
        let registry = super::registry().expect("no two extensions for one point");
        let vault = registry.of(Kind(&keyvault::kinds::VAULT));
        assert!(vault.has_modifier() && vault.has_pre_checker());
        let cluster = registry.of(Kind(&kusto::kinds::CLUSTER));
        assert!(cluster.has_pre_checker() && !cluster.has_owner_checker());
        let database = registry.of(Kind(&kusto::kinds::DATABASE));
        assert!(database.has_owner_checker() && !database.has_pre_checker());
        let endpoint = registry.of(Kind(&network::kinds::PRIVATE_ENDPOINT));
        assert!(endpoint.has_post_checker() && !endpoint.has_pre_checker());
    }

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
                    SecretSource::Subscription | SecretSource::Action { .. } => true,
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

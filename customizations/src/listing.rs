//! Where an import finds what stands on other resources: which lists tell of it, so that none is read in vain. What is not here
//! may stand on any resource, and each resource's own list tells of it.

/// Which lists tell of the resources of an extension type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// The list of a scope tells of everything below it, too.
    WithAllBelow {
        /// What is asked for beside the api-version; nothing, or a condition of a query.
        query: &'static str,
    },
    /// The lists of resources of these ARM types.
    On(&'static [&'static str]),
}

/// Clusters of Kubernetes, in Azure and elsewhere.
const CLUSTERS: &[&str] = &[
    "Microsoft.ContainerService/managedClusters",
    "Microsoft.HybridContainerService/provisionedClusterInstances",
    "Microsoft.Kubernetes/connectedClusters",
];

/// ARM types in lower case.
const LISTINGS: [(&str, Listing); 5] = [
    (
        "microsoft.authorization/roleassignments",
        Listing::WithAllBelow { query: "" },
    ),
    // Roles are the subscription's, wherever they hold; those that Azure has made are hundreds.
    (
        "microsoft.authorization/roledefinitions",
        Listing::WithAllBelow {
            query: "$filter=type%20eq%20'CustomRole'",
        },
    ),
    (
        "microsoft.kubernetesconfiguration/extensions",
        Listing::On(CLUSTERS),
    ),
    (
        "microsoft.kubernetesconfiguration/fluxconfigurations",
        Listing::On(CLUSTERS),
    ),
    // Quotas are those of a location, which is no resource, and always there.
    ("microsoft.quota/quotas", Listing::On(&[])),
];

/// Which lists tell of an extension type; `None` where those of each resource do.
pub fn listing(arm_type: &str) -> Option<Listing> {
    let name = arm_type.to_lowercase();
    let mut known = LISTINGS.iter();
    known
        .find(|(known, _)| *known == name)
        .map(|(_, listing)| *listing)
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use armature_generated::KINDS;
    use armature_runtime::kind::{Remote, Scope};

    use super::*;

    #[test]
    fn every_listing_is_of_an_extension_type() {
        for (name, _) in LISTINGS {
            let is_extension = KINDS.iter().any(|kind| {
                let of_scope = matches!(
                    kind.remote,
                    Remote::Arm {
                        scope: Scope::Extension,
                        ..
                    }
                );
                of_scope && kind.remote_type().eq_ignore_ascii_case(name)
            });
            assert!(is_extension, "{name}");
        }
        assert_eq!(listing("Microsoft.Quota/quotas"), Some(Listing::On(&[])));
        assert_eq!(listing("Microsoft.Insights/diagnosticSettings"), None);
    }
}

//! `containerservice.azure.com`: a managed cluster refuses changes, of itself and of its node pools, while it is busy with
//! one, and so does a pool.

use armature_generated::containerservice::hub::{ManagedClusterKind, ManagedClustersAgentPoolKind};
use armature_runtime::extension::RegistryBuilder;

use crate::state::{OwnerTakesChanges, RESTING, StateRule, TakesChanges};

const CLUSTER: StateRule<ManagedClusterKind> = StateRule {
    field: "provisioningState",
    state: |status| status.provisioning_state.as_deref(),
    takes_changes: RESTING,
};

const POOL: StateRule<ManagedClustersAgentPoolKind> = StateRule {
    field: "provisioningState",
    state: |status| status.provisioning_state.as_deref(),
    takes_changes: RESTING,
};

/// Adds what this group has.
pub(crate) fn register(registry: RegistryBuilder) -> RegistryBuilder {
    registry
        .register_pre_checker(TakesChanges(CLUSTER))
        .register_pre_checker(TakesChanges(POOL))
        .register_owner_checker(OwnerTakesChanges::<ManagedClustersAgentPoolKind, _>::new(
            CLUSTER,
        ))
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn clusters_and_pools_take_changes_where_they_rest() {
        for (state, is_blocked) in [
            ("Succeeded", false),
            ("Failed", false),
            ("Canceled", false),
            ("Creating", true),
            ("Upgrading", true),
            ("Scaling", true),
        ] {
            let status = json!({ "provisioningState": state });
            assert_eq!(CLUSTER.blocks_with(&status), is_blocked, "{state}");
            assert_eq!(POOL.blocks_with(&status), is_blocked, "{state}");
        }
    }
}

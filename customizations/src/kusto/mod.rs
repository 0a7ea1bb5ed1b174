//! `kusto.azure.com`: a cluster refuses changes, of itself and of its databases, while it is busy with one.

use armature_generated::kusto::hub::{ClusterKind, DatabaseKind};
use armature_runtime::extension::RegistryBuilder;

use crate::state::{OwnerTakesChanges, RESTING, StateRule, TakesChanges};

const CLUSTER: StateRule<ClusterKind> = StateRule {
    field: "provisioningState",
    state: |status| status.provisioning_state.as_deref(),
    takes_changes: RESTING,
};

/// Adds what this group has.
pub(crate) fn register(registry: RegistryBuilder) -> RegistryBuilder {
    registry
        .register_pre_checker(TakesChanges(CLUSTER))
        .register_owner_checker(OwnerTakesChanges::<DatabaseKind, _>::new(CLUSTER))
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cluster_takes_changes_where_it_rests() {
        for (state, is_blocked) in [
            ("Succeeded", false),
            ("Failed", false),
            ("Canceled", false),
            ("Creating", true),
            ("Stopping", true),
        ] {
            let status = json!({ "provisioningState": state });
            assert_eq!(CLUSTER.blocks_with(&status), is_blocked, "{state}");
        }
    }
}

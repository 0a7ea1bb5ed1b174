//! `containerservice.azure.com`: a managed cluster refuses changes, of itself and of its node pools, while it is busy with
//! one, and so does a pool.

use armature_generated::containerservice::hub::{ManagedClusterKind, ManagedClustersAgentPoolKind};
use armature_runtime::extension::{Context, RegistryBuilder};
use armature_runtime::resource::TypedObject;
use armature_runtime::shape::StringEnum;

use crate::state::{OwnerTakesChanges, RESTING, StateRule, TakesChanges};
use crate::unmade::LeaveOut;

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

/// A cluster is made with its system pools, so they stand in its own list, and not in an object as well.
fn system(_: &Context, pool: &TypedObject<ManagedClustersAgentPoolKind>) -> Option<&'static str> {
    let mode = pool.spec.mode.as_ref()?;
    let is_system = mode.as_text().eq_ignore_ascii_case("System");
    is_system.then_some("a system pool stands in agentPoolProfiles of its cluster")
}

/// Adds what this group has.
pub(crate) fn register(registry: RegistryBuilder) -> RegistryBuilder {
    registry
        .register_pre_checker(TakesChanges(CLUSTER))
        .register_pre_checker(TakesChanges(POOL))
        .register_importer(LeaveOut::<ManagedClustersAgentPoolKind>(system))
        .register_owner_checker(OwnerTakesChanges::<ManagedClustersAgentPoolKind, _>::new(
            CLUSTER,
        ))
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use armature_generated::containerservice::hub::ManagedClustersAgentPool;
    use serde_json::json;

    use super::*;
    use crate::testing::Doubles;

    #[test]
    fn system_pools_stand_in_their_cluster() {
        for (mode, is_left_out) in [("System", true), ("system", true), ("User", false)] {
            let mut pool = ManagedClustersAgentPool::new("pool", Default::default());
            pool.spec.mode = Some(StringEnum::from_text(mode));
            let doubles = Doubles::default();
            assert_eq!(
                system(&doubles.context(), &pool).is_some(),
                is_left_out,
                "{mode}"
            );
        }
    }

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

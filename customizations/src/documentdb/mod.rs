//! `documentdb.azure.com`: an account that is being deleted takes nothing, and a Cassandra cluster takes data centers only
//! when it is done with everything else.

use armature_generated::documentdb::hub::{
    CassandraClusterKind, CassandraDataCenterKind, DatabaseAccountKind,
};
use armature_runtime::extension::RegistryBuilder;

use crate::state::{OwnerTakesChanges, StateRule, States, TakesChanges};

const ACCOUNT: StateRule<DatabaseAccountKind> = StateRule {
    field: "provisioningState",
    state: |status| status.provisioning_state.as_deref(),
    takes_changes: States::AllBut(&["Deleting"]),
};

const CASSANDRA_CLUSTER: StateRule<CassandraClusterKind> = StateRule {
    field: "properties.provisioningState",
    state: |status| status.properties.as_ref()?.provisioning_state.as_deref(),
    takes_changes: States::Only(&["Succeeded"]),
};

/// Adds what this group has.
pub(crate) fn register(registry: RegistryBuilder) -> RegistryBuilder {
    registry
        .register_pre_checker(TakesChanges(ACCOUNT))
        .register_owner_checker(OwnerTakesChanges::<CassandraDataCenterKind, _>::new(
            CASSANDRA_CLUSTER,
        ))
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_account_takes_changes_unless_it_is_being_deleted() {
        for (state, is_blocked) in [
            ("Succeeded", false),
            ("Updating", false),
            ("Deleting", true),
        ] {
            let status = json!({ "provisioningState": state });
            assert_eq!(ACCOUNT.blocks_with(&status), is_blocked, "{state}");
        }
    }

    #[test]
    fn a_cassandra_cluster_takes_data_centers_when_it_has_succeeded() {
        for (state, is_blocked) in [("Succeeded", false), ("Failed", true), ("Updating", true)] {
            let status = json!({"properties": { "provisioningState": state }});
            assert_eq!(
                CASSANDRA_CLUSTER.blocks_with(&status),
                is_blocked,
                "{state}"
            );
        }
    }
}

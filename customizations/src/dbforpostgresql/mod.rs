//! `dbforpostgresql.azure.com`: a server refuses changes, of itself and of what is in it, unless it is ready.

use armature_generated::dbforpostgresql::hub::{
    FlexibleServerKind, FlexibleServersDatabaseKind, FlexibleServersFirewallRuleKind,
};
use armature_runtime::extension::RegistryBuilder;

use crate::state::{OwnerTakesChanges, StateRule, States, TakesChanges};

/// What is said of a server is its own state; those of operations are there for a moment.
const SERVER: StateRule<FlexibleServerKind> = StateRule {
    field: "state",
    state: |status| status.state.as_deref(),
    takes_changes: States::Only(&["Ready", "Succeeded", "Failed", "Canceled"]),
};

/// Adds what this group has.
pub(crate) fn register(registry: RegistryBuilder) -> RegistryBuilder {
    registry
        .register_pre_checker(TakesChanges(SERVER))
        .register_owner_checker(OwnerTakesChanges::<FlexibleServersDatabaseKind, _>::new(
            SERVER,
        ))
        .register_owner_checker(
            OwnerTakesChanges::<FlexibleServersFirewallRuleKind, _>::new(SERVER),
        )
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_takes_changes_when_it_is_ready() {
        for (state, is_blocked) in [
            ("Ready", false),
            ("Succeeded", false),
            ("Updating", true),
            ("Starting", true),
            ("Stopped", true),
            ("Dropping", true),
        ] {
            let status = json!({ "state": state });
            assert_eq!(SERVER.blocks_with(&status), is_blocked, "{state}");
        }
    }
}

//! `dbforpostgresql.azure.com`: a server refuses changes, of itself and of what is in it, unless it is ready, and
//! has databases and settings that nobody made.

use armature_generated::dbforpostgresql::hub::{
    FlexibleServerKind, FlexibleServersConfiguration, FlexibleServersConfigurationKind,
    FlexibleServersDatabase, FlexibleServersDatabaseKind, FlexibleServersFirewallRuleKind,
};
use armature_runtime::extension::{Context, RegistryBuilder};

use crate::state::{OwnerTakesChanges, StateRule, States, TakesChanges};
use crate::unmade::{LeaveOut, of_setting};

/// What is said of a server is its own state; those of operations are there for a moment.
const SERVER: StateRule<FlexibleServerKind> = StateRule {
    field: "state",
    state: |status| status.state.as_deref(),
    takes_changes: States::Only(&["Ready", "Succeeded", "Failed", "Canceled"]),
};

/// Databases that every server has.
const OWN: [&str; 3] = ["azure_maintenance", "azure_sys", "postgres"];

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
        .register_importer(LeaveOut::<FlexibleServersConfigurationKind>(not_chosen))
        .register_importer(LeaveOut::<FlexibleServersDatabaseKind>(own))
}

fn not_chosen(_: &Context, setting: &FlexibleServersConfiguration) -> Option<&'static str> {
    let status = setting.status.as_ref()?;
    of_setting(
        status.source.as_deref(),
        status.is_read_only.unwrap_or_default(),
    )
}

fn own(_: &Context, database: &FlexibleServersDatabase) -> Option<&'static str> {
    let name = database.spec.azure_name.as_deref()?;
    OWN.contains(&name).then_some("every server has it")
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use armature_runtime::shape::decode;
    use serde_json::json;

    use super::*;
    use crate::testing::Doubles;

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

    #[test]
    fn settings_that_nobody_chose_are_not_imported() {
        for (source, is_read_only, is_imported) in [
            ("user-override", false, true),
            ("system-default", false, false),
            ("user-override", true, false),
        ] {
            let mut setting = FlexibleServersConfiguration::new("s", Default::default());
            let status = json!({"source": source, "isReadOnly": is_read_only});
            setting.status = Some(decode(&status).expect("a status"));
            let reason = not_chosen(&Doubles::default().context(), &setting);
            assert_eq!(reason.is_none(), is_imported, "{source} {is_read_only}");
        }
    }

    #[test]
    fn databases_of_every_server_are_not_imported() {
        for (name, is_imported) in [("shop", true), ("postgres", false), ("azure_sys", false)] {
            let spec = json!({ "azureName": name });
            let database = FlexibleServersDatabase::new("d", decode(&spec).expect("a spec"));
            let reason = own(&Doubles::default().context(), &database);
            assert_eq!(reason.is_none(), is_imported, "{name}");
        }
    }
}

//! RoleAssignment and RoleDefinition: an import takes what was made where it was found.

use armature_generated::authorization::hub::{RoleAssignment, RoleDefinition};
use armature_runtime::extension::Context;
use armature_runtime::id::ResourceId;

/// Why an assignment is not to be imported: it was made above, and is shown here because it holds here too.
pub fn inherited(context: &Context, assignment: &RoleAssignment) -> Option<&'static str> {
    let scope = assignment.status.as_ref()?.scope.as_deref()?;
    let id = context.id.as_ref()?.as_str();
    let end = id.to_ascii_lowercase().rfind("/providers/")?;
    let is_own = match ResourceId::parse(scope) {
        Ok(scope) => ResourceId::parse(&id[..end]).is_ok_and(|own| own == scope),
        // The scope of everything has no id.
        Err(_) => scope.trim_matches('/').is_empty() && end == 0,
    };
    (!is_own).then_some("it is inherited: import it where it was assigned")
}

/// Why a definition is not to be imported: it is Azure's.
pub fn built_in(_: &Context, definition: &RoleDefinition) -> Option<&'static str> {
    let of_role = definition.status.as_ref()?.properties_type.as_deref()?;
    of_role
        .eq_ignore_ascii_case("BuiltInRole")
        .then_some("it is built in")
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use armature_runtime::shape::decode;
    use serde_json::json;

    use super::*;
    use crate::testing::Doubles;

    const GROUP: &str = "/subscriptions/s/resourceGroups/g";

    #[test]
    fn an_assignment_is_imported_where_it_was_made() {
        let at =
            |scope: &str| format!("{scope}/providers/Microsoft.Authorization/roleAssignments/x");
        let account = format!("{GROUP}/providers/Microsoft.Storage/storageAccounts/a");
        for (id, scope, is_imported) in [
            (at(GROUP), GROUP, true),
            (at(GROUP), "/subscriptions/S/resourcegroups/G/", true),
            (at(GROUP), "/subscriptions/s", false),
            (at(&account), &account, true),
            (at(&account), GROUP, false),
            (at(""), "/", true),
            (at(GROUP), "/", false),
        ] {
            let mut assignment = RoleAssignment::new("x", Default::default());
            let status = json!({ "scope": scope });
            assignment.status = Some(decode(&status).expect("a status"));
            let context = Context {
                id: Some(ResourceId::parse(&id).expect("an id")),
                ..Doubles::default().context()
            };
            let reason = inherited(&context, &assignment);
            assert_eq!(reason.is_none(), is_imported, "{id} {scope}");
        }
    }

    #[test]
    fn a_built_in_role_is_not_imported() {
        for (word, is_imported) in [("CustomRole", true), ("BuiltInRole", false)] {
            let mut definition = RoleDefinition::new("x", Default::default());
            let status = json!({ "properties_type": word });
            definition.status = Some(decode(&status).expect("a status"));
            let reason = built_in(&Doubles::default().context(), &definition);
            assert_eq!(reason.is_none(), is_imported, "{word}");
        }
    }
}

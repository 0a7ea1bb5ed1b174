//! `authorization.azure.com`: role assignments may call a built-in role by its name, and an import leaves out what Azure made or
//! another scope has.

mod own_scope;
mod well_known_role;

pub use well_known_role::WellKnownRole;

use armature_generated::authorization::hub::{RoleAssignmentKind, RoleDefinitionKind};
use armature_runtime::extension::RegistryBuilder;

use crate::unmade::LeaveOut;

/// Adds what this group has.
pub(crate) fn register(registry: RegistryBuilder) -> RegistryBuilder {
    registry
        .register_modifier(WellKnownRole::default())
        .register_importer(LeaveOut::<RoleAssignmentKind>(own_scope::inherited))
        .register_importer(LeaveOut::<RoleDefinitionKind>(own_scope::built_in))
}

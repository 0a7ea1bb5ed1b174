//! `authorization.azure.com`: role assignments may call a built-in role by its name.

mod well_known_role;

pub use well_known_role::WellKnownRole;

use armature_runtime::extension::RegistryBuilder;

/// Adds what this group has.
pub(crate) fn register(registry: RegistryBuilder) -> RegistryBuilder {
    registry.register_modifier(WellKnownRole::default())
}

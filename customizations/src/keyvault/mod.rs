//! `keyvault.azure.com`: a deleted vault keeps its name for a while and can be recovered.

mod create_mode;

pub use create_mode::VaultCreateMode;

use armature_runtime::extension::RegistryBuilder;

/// Adds what this group has.
pub(crate) fn register(registry: RegistryBuilder) -> RegistryBuilder {
    registry
        .register_modifier(VaultCreateMode)
        .register_pre_checker(VaultCreateMode)
}

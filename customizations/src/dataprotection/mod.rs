//! `dataprotection.azure.com`: Azure takes a backup instance at once, and protects what it names later, or not.

mod backup_instance;

pub use backup_instance::Protection;

use armature_runtime::extension::RegistryBuilder;

/// Adds what this group has.
pub(crate) fn register(registry: RegistryBuilder) -> RegistryBuilder {
    registry.register_post_checker(Protection)
}

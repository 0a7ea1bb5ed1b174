//! `apimanagement.azure.com`: a product goes together with the subscriptions to it.

mod product;

pub use product::ProductDeletion;

use armature_runtime::extension::RegistryBuilder;

/// Adds what this group has.
pub(crate) fn register(registry: RegistryBuilder) -> RegistryBuilder {
    registry.register_deleter(ProductDeletion)
}

//! `subscription.azure.com`: an alias is a name for a subscription, which lives on without it.

mod alias;

pub use alias::{AliasedSubscription, CancelSubscription};

use armature_runtime::extension::RegistryBuilder;

/// Adds what this group has.
pub(crate) fn register(registry: RegistryBuilder) -> RegistryBuilder {
    registry
        .register_deleter(CancelSubscription)
        .register_success_handler(AliasedSubscription)
}

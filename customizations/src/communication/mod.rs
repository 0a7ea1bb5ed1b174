//! `communication.azure.com`: names that Azure has chosen, or wants to be those of something else.

mod domain;
mod sender_username;

pub use domain::ManagedDomainName;
pub use sender_username::NameOfSender;

use armature_runtime::extension::RegistryBuilder;

/// Adds what this group has.
pub(crate) fn register(registry: RegistryBuilder) -> RegistryBuilder {
    registry
        .register_pre_checker(ManagedDomainName)
        .register_pre_checker(NameOfSender)
}

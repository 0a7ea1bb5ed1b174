//! `network.azure.com`: private endpoints can be used only once the owner of their target has agreed, and their address is
//! known to their network interface alone.

mod nic_address;
mod private_endpoint;

pub use nic_address::PrimaryNicAddress;
pub use private_endpoint::PrivateEndpointApproval;

use armature_runtime::extension::RegistryBuilder;

/// Adds what this group has.
pub(crate) fn register(registry: RegistryBuilder) -> RegistryBuilder {
    registry
        .register_post_checker(PrivateEndpointApproval)
        .register_config_exporter(PrimaryNicAddress)
}

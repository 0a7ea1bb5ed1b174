//! `network.azure.com`: private endpoints can be used only once the owner of their target has agreed, and their address is
//! known to their network interface alone.

mod nic_address;
mod private_endpoint;

pub use nic_address::PrimaryNicAddress;
pub use private_endpoint::PrivateEndpointApproval;

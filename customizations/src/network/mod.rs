//! `network.azure.com`: private endpoints can be used only once the owner of their target has agreed.

mod private_endpoint;

pub use private_endpoint::PrivateEndpointApproval;

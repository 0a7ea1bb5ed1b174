//! `keyvault.azure.com`: a deleted vault keeps its name for a while and can be recovered.

mod create_mode;

pub use create_mode::VaultCreateMode;

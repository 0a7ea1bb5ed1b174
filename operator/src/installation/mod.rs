//! The operator that is installed in a cluster, and what it is told, as far as its objects show.
//!
//! | module | what lives here |
//! |---|---|
//! | [`found`] | where it is |
//! | [`variables`] | what its container is told |

pub mod found;
pub mod variables;

pub use found::{CREDENTIAL, Found, OURS};
pub use variables::Variables;

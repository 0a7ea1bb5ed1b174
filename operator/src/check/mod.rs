//! `armature check`: what of a cluster this release refuses, before it is installed. Only reads are sent, none of them to Azure.
//!
//! Whether something is refused is asked of the reconciler and of the reader of credentials themselves
//! ([`armature_runtime::reconcile::driver::Reconciler::check_stored`],
//! [`armature_runtime::azure::credential::secret_identity`]): there is no rule of its own here.
//!
//! | module | what lives here |
//! |---|---|
//! | [`finding`] | what was found, as it is written for programs |
//! | [`cluster`] | from a cluster to what was found |
//! | [`credentials`] | Secrets with credentials |
//! | [`left`] | the objects that are the operator's |
//! | [`nobody`] | an Azure that answers nothing but which subscription a credential is for |
//! | [`text`] | what was found, for people |

pub mod cluster;
pub mod credentials;
pub mod finding;
pub mod left;
pub mod nobody;
#[cfg(test)]
mod tests;
pub mod text;

pub use cluster::{Setting, check};
pub use finding::{Checked, Finding, Subject};

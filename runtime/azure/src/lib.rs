//! Azure Resource Manager: ids, one request at a time, errors, long-running operations, credentials, how many
//! requests it takes, and Azure Resource Graph.
//!
//! What does not live here: what to send when (see `armature_reconcile`) and any retry loop; every wait is a
//! requeue decided there.

pub mod absence;
mod actor;
mod body;
pub mod budget;
mod client;
mod cloud;
mod covering;
pub mod credential;
mod credentials;
mod error;
mod failed_credentials;
pub mod graph;
#[cfg(test)]
mod id_properties;
mod kept;
pub mod operation;
mod reading_turns;
mod readings;
#[cfg(test)]
mod size_and_time;
mod transport;

pub use client::{Client, ClientError, ClientSettings};
pub use cloud::{Cloud, CloudSettingsError, RefusedUrl};
pub use error::CloudError;
pub(crate) use error::UNREAD;
pub use operation::Operation;
pub use transport::{CredentialKey, Method, Refused, Request, Response, Transport, TransportError};

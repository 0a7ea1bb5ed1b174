//! The Kubernetes side: clients, the cache and its watches, the driver's port, CRD installation and the
//! conversion webhook.
//!
//! What does not live here: what to do with an object ([`crate::reconcile`]), what a CRD contains and how
//! versions convert ([`crate::engine`]). kube's types end here; no other module of the runtime needs them.

mod cache;
mod client;
mod error;
mod event;
mod filter;
mod installed;
mod names;
mod namespace;
mod port;
mod references;
mod stored;
mod watch;

pub use cache::ObjectCache;
pub use client::{ClientError, Clients};
pub use installed::{CrdCondition, CrdNames, CrdSpec, CrdStatus, CrdVersion, InstalledCrd};
pub use port::Cluster;
pub use stored::StoredObject;
pub use watch::{Wake, Watches};

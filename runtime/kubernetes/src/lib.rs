//! The Kubernetes side: clients, the cluster as the driver sees it, its cache and watches, CRD installation, the
//! replicas of the operator and the conversion webhook.
//!
//! What does not live here: what to do with an object ([`armature_reconcile`]), what a CRD contains
//! ([`armature_engine`]) and how versions convert ([`armature_shapes`]). kube's types end here; no other module of the runtime needs them.

mod admission;
mod applied;
mod authorities;
mod buffer;
mod cache;
mod certificate;
mod client;
mod cluster;
mod crd;
mod credential;
mod data;
mod digest_key;
mod error;
mod event;
mod export_watch;
mod fails_alone;
mod filter;
mod follow;
mod https;
mod in_step;
mod installed;
mod inventory;
mod item;
mod labels;
mod listed_secrets;
mod members;
mod metadata;
mod migration;
#[cfg(test)]
mod mock;
mod names;
mod namespace;
mod namespace_credential;
mod pattern;
mod protection;
mod reader;
mod references;
mod review;
mod secret_versions;
mod signing;
mod stored;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod versions;
mod wake;
mod watch;
mod webhook;
mod written;

pub use applied::{AppliedCrds, applied_digest};
pub use cache::ObjectCache;
pub use certificate::{CertificateError, CertificateStore, Material, ServingCertificate, today};
pub use client::{ClientError, Clients, WatchClient};
pub use cluster::Cluster;
pub use crd::{Amend, Conversion, CrdError, CrdInstaller, installed_crds, written};
pub use data::{ConfigMapData, SecretData};
pub use digest_key::read_digest_key;
pub use event::{EventFigures, EventRecorder};
pub use https::{HttpsServer, TlsVersion, UnknownTlsVersion};
pub use in_step::{InStep, WatchName};
pub use installed::{
    CrdCondition, CrdNames, CrdSpec, CrdStatus, CrdVersion, InstalledCrd, StatusDefaults,
};
pub use item::{Item, MetadataOf, Unreadable};
pub use labels::{CrdLabels, LabelsError};
pub use members::{AnnounceError, Election, LeaseLost, LeaseTimes, Replica, Strangers};
pub use migration::{Migrated, MigrationError, StorageMigration};
pub use pattern::{CrdPattern, PatternError};
pub use reader::{Readers, Refused};
pub use references::{Target, targets};
pub use signing::{Cause, Lacking, NoteSigning, Signed, Unsigned};
pub use stored::StoredObject;
pub use versions::{CrdVersions, UnknownVersions};
pub use wake::Wake;
pub use watch::{WatchEnded, Watches};
pub use webhook::Webhook;
pub use written::Written;

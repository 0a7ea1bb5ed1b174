//! The Kubernetes side: clients, the cluster as the driver sees it, its cache and watches, CRD installation, the
//! replicas of the operator and the conversion webhook.
//!
//! What does not live here: what to do with an object ([`armature_reconcile`]), what a CRD contains
//! ([`armature_engine`]) and how versions convert ([`armature_shapes`]). kube's types end here; no other module of the runtime needs them.

mod cache;
mod client;
mod cluster;
mod crds;
mod error;
mod event;
mod members;
mod names;
mod serving;
mod stored;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod watching;

pub use cache::objects::ObjectCache;
pub use cache::references::{Target, targets};
pub use client::clients::{ClientError, Clients, WatchClient};
pub use cluster::digest_key::read_digest_key;
pub use cluster::in_step::{InStep, WatchName};
pub use cluster::port::Cluster;
pub use cluster::signing::{Cause, Lacking, NoteSigning, Signed, Unsigned};
pub use cluster::wake::Wake;
pub use crds::applied::{AppliedCrds, applied_digest};
pub use crds::installed::{
    CrdCondition, CrdNames, CrdSpec, CrdStatus, CrdVersion, InstalledCrd, StatusDefaults,
};
pub use crds::installer::{Amend, Conversion, CrdError, CrdInstaller, installed_crds, written};
pub use crds::labels::{CrdLabels, LabelsError};
pub use crds::migration::{Migrated, MigrationError, StorageMigration};
pub use crds::pattern::{CrdPattern, PatternError};
pub use crds::versions::{CrdVersions, UnknownVersions};
pub use event::{EventFigures, EventRecorder};
pub use members::{AnnounceError, Election, LeaseLost, LeaseTimes, Replica, Strangers};
pub use serving::certificate::{
    CertificateError, CertificateStore, Material, ServingCertificate, today,
};
pub use serving::https::{HttpsServer, TlsVersion, UnknownTlsVersion};
pub use serving::reader::{Readers, Refused};
pub use serving::webhook::Webhook;
pub use stored::data::{ConfigMapData, SecretData};
pub use stored::item::{Item, MetadataOf, Unreadable};
pub use stored::object::StoredObject;
pub use stored::written::Written;
pub use watching::watch::{WatchEnded, Watches};

//! Everything that runs, under one name: what customizations, the operator and tests see of the floors.
//!
//! Each floor is a crate that knows those below it and none above:
//!
//! | floor | what lives there | stands on |
//! |---|---|---|
//! | `armature-shapes` | kinds as data, resource ids, conversion: all that generated crates see | – |
//! | [`engine`] | pure functions over shapes: ARM payloads, status, drift, CRDs, expressions | shapes |
//! | [`azure`] | the ARM client: requests, errors, long-running operations, credentials, budget | shapes |
//! | [`reconcile`] | `decide`, the driver and its ports, the queue, conditions, extension points | engine |
//! | [`arm`] | Azure Resource Manager as a remote of the reconciler, and what asks it for changes | azure, reconcile |
//! | [`kubernetes`] | the Kubernetes side: client, watches, CRD installation, conversion webhook | engine, azure, reconcile |
//!
//! No floor names an Azure service. Knowledge about a group lives in `specs/<group>/group.toml`, in the generated crates or
//! in `customizations`; code here reads it from [`kind::KindInfo`] and [`shape::StructShape`] tables. No code lives in
//! this crate.

pub use armature_arm as arm;
pub use armature_azure as azure;
pub use armature_engine as engine;
pub use armature_kubernetes as kubernetes;
pub use armature_reconcile as reconcile;
pub use armature_reconcile::extension;
#[cfg(feature = "testing")]
pub use armature_shapes::testing;
pub use armature_shapes::{
    access, conversion, digest, field, id, kind, names, quote, resource, shape, shaped, string_enum,
};

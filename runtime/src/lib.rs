//! Everything that runs: shapes and the engines that read them, the ARM client, the reconciler and the
//! extension points.
//!
//! This crate never names an Azure service. Knowledge about a group lives in `specs/<group>.toml`, in the
//! generated crates or in `customizations`; code here reads it from [`kind::KindInfo`] and
//! [`shape::StructShape`] tables.
//!
//! | module | what lives here |
//! |---|---|
//! | [`shape`] | static schema tables, the codec between JSON and typed structs |
//! | [`kind`] | static descriptors of kinds and their versions |
//! | [`resource`] | structs every kind shares: references, secrets, conditions, the typed object |
//! | [`engine`] | pure functions over shapes: ARM payloads, hub conversion, CRDs, drift, collection |
//! | [`arm`] | the ARM client: ids, requests, errors, long-running operations, credentials |
//! | [`reconcile`] | `decide`, the driver and its ports, the queue, conditions |
//! | [`extension`] | the traits that handwritten code implements, and their registry |
//! | [`kubernetes`] | the Kubernetes side: client, watches, CRD installation, conversion webhook |

pub mod arm;
pub mod engine;
pub mod extension;
pub mod kind;
pub mod kubernetes;
pub mod reconcile;
pub mod resource;
pub mod shape;

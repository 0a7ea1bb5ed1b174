//! Worlds: what the reconciler finds in Kubernetes where there is no cluster.
//!
//! | module | what it is made of |
//! |---|---|
//! | [`manifests`] | files |
//!
//! What does not live here: Azure (see [`crate::transports`]), and what to do with an object (`armature_runtime`).

pub mod manifests;

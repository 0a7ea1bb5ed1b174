//! Worlds: what the reconciler finds in Kubernetes where there is no cluster, or none that it may write to.
//!
//! | module | what it is made of |
//! |---|---|
//! | [`manifests`] | files |
//! | [`applied`] | a cluster, or none, with manifests applied to it |
//!
//! What does not live here: Azure (see [`crate::transports`]), and what to do with an object (`armature_runtime`).

pub mod applied;
pub mod manifests;

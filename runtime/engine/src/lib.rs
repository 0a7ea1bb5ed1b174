//! Pure functions over shapes: what the reconciler, the webhook, the command line and the simulator compute.
//!
//! | module | question it answers |
//! |---|---|
//! | [`collect`] | which other objects does a spec name? |
//! | [`payload`] | what is the body of the PUT? |
//! | [`status`] | what does an answer of ARM say in Kubernetes' words? |
//! | [`crd`] | what is the CustomResourceDefinition of a kind? |
//! | [`compare`] | does Azure differ from what is desired? |
//! | [`owned`] | which values does Azure move by itself? |
//! | [`named_ids`] | which ARM ids does the body of the PUT name? |
//! | [`expression`] | what does an expression over an object give? |
//!
//! All of them work on [`serde_json::Value`] and static tables. What does not live here: I/O of any kind,
//! decisions about when to do what (see `armature_reconcile`), conversion between versions (`armature_shapes`), and knowledge
//! of any Azure service.

pub mod collect;
pub mod compare;
pub mod crd;
pub mod expression;
pub mod named_ids;
pub mod owned;
pub mod payload;
pub mod status;

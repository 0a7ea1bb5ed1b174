//! One reconciler for all kinds: a pure decision (`decide`) and a thin driver that performs it through ports.
//!
//! | module | what lives here |
//! |---|---|
//! | [`decide`](mod@decide) | the state machine: from [`view`] and [`observed`] to one [`action`] |
//! | [`driver`] | performs actions and loops until the pass ends |
//! | [`queue`] | which object is looked at when, and by how many workers |
//! | [`outcome`] | what one thing that was tried has come to |
//! | [`condition`], [`classify`], [`backoff`] | conditions, what errors mean, how long to wait |
//! | [`claim`] | what the finalizer vouches for |
//! | [`secret_source`] | where values of `operatorSpec.secrets` come from |
//! | [`export_target`] | Secrets and ConfigMaps, put together from what an object wants written |
//! | [`fence`] | until when this replica may write |
//! | [`time`] | the time by which all of it waits |
//! | [`annotations`], [`policy`], [`names`] | what users may say, and all names on the wire |
//! | [`side_condition`] | conditions beside `Ready` that show what annotations ask for |
//! | `testing` | ports in memory, with the feature `testing` |
//! | [`port`] | how the driver reaches Kubernetes |
//!
//! What does not live here: ARM's protocol ([`armature_azure`]), Kubernetes' protocol (`armature_kubernetes`) and
//! JSON shapes ([`armature_engine`]).

pub mod action;
pub mod annotations;
pub mod backoff;
pub mod claim;
pub mod classify;
pub mod condition;
pub mod decide;
pub mod driver;
pub mod export_target;
pub mod extension;
pub mod fence;
pub mod observed;
pub mod outcome;
pub mod policy;
pub mod port;
pub mod queue;
pub mod secret_source;
pub mod side_condition;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod time;
pub mod view;

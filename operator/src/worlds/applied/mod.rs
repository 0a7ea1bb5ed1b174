//! A cluster as it would be with manifests applied to it, or manifests without a cluster. What passes write to it stays in
//! memory.
//!
//! | module | what lives here |
//! |---|---|
//! | [`live`] | what runs in a cluster, which is only read |
//! | [`dry_run`] | what its API server says to a manifest, which it does not store |
//! | [`merge`] | a manifest over the object that runs |
//! | [`state`] | the objects, and what is known of each so far |
//! | [`seen`] | the port of one object's pass |
//!
//! What does not live here: in which order objects are looked at, and what follows from it (see [`crate::plan`]).

pub mod dry_run;
pub mod live;
pub mod merge;
pub mod seen;
pub mod state;

pub use live::Live;
pub use seen::Seen;
pub use state::{Applied, Known};

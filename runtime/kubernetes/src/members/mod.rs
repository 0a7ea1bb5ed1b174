//! The replicas of the operator, as they know each other through Leases: which one leads, and which ones there are.
//!
//! The clocks of replicas are never compared: who looks measures with its own clock how long a Lease has not changed.
//!
//! What does not live here: what a replica does that leads, and what waits for others to be gone (the operator); what
//! a leader may no longer write ([`armature_reconcile::fence`]).

mod election;
mod lease;
mod replicas;

pub use election::{Election, LeaseLost, LeaseTimes};
pub use replicas::{AnnounceError, Replica, Strangers};

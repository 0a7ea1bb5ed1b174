//! An Azure in memory for tests, and a reconciler over it.
//!
//! It does not pretend to be complete: it keeps what was PUT, and answers from a script where a test gives one.

pub mod answers;
mod azure;
pub mod notes;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use azure::{Manner, MemoryAzure, error, response};

use armature_reconcile::driver::Reconciler;
use armature_reconcile::extension::Registry;
use armature_reconcile::remote::Remotes;
use armature_reconcile::testing::{self, MemoryCluster};

use super::Arm;

/// A reconciler over ports in memory, whose clock stands still.
pub fn reconciler(
    cluster: &Arc<MemoryCluster>,
    azure: &Arc<MemoryAzure>,
    extensions: Registry,
) -> Reconciler {
    let arm = Arm::new(azure.clone(), Arc::default());
    testing::reconciler(cluster, Remotes::new(Arc::new(arm)), extensions)
}

//! Azure Resource Manager as a remote of the reconciler.
//!
//! | module | what lives here |
//! |---|---|
//! | `session` | its verbs, what its answers say, and its operations in annotations |
//! | `gate` | the budget of requests on the way to it, and where they may go |
//! | `free`, `own` | requests that need no scope, and operations at a resource's own place |
//! | `access`, `pages` | how extensions reach it |
//! | `error`, `classify`, `credential` | its errors, what they mean, and credentials in the words of the reconciler |
//! | `fenced` | a way that lets writes through while this replica may write |
//! | [`lookout`] | asks Azure what changed, so that not everything needs to be read |
//! | `testing` | an Azure in memory, with the feature `testing` |
//!
//! What does not live here: ARM's protocol ([`armature_azure`]), and what to send when ([`armature_reconcile`]).

mod access;
mod classify;
mod credential;
mod error;
mod fenced;
mod free;
mod gate;
pub mod lookout;
mod own;
mod pages;
mod session;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

use std::sync::Arc;

use armature_azure::Transport;
use armature_azure::budget::{self, Budget};
use armature_reconcile::remote::{Remote, Session};
use armature_reconcile::time::Clock;
use armature_reconcile::urgency::Urgency;
use armature_shapes::resource::Object;

pub use access::{ArmAccess, ArmContext};
pub use error::ArmError;
pub use fenced::FencedTransport;
pub use free::may_send;
use gate::Gate;

/// Azure Resource Manager as a remote.
#[derive(Clone)]
pub struct Arm {
    transport: Arc<dyn Transport>,
    budget: Arc<Budget>,
}

impl Arm {
    /// By this way, within what Azure takes of all passes together.
    pub fn new(transport: Arc<dyn Transport>, budget: Arc<Budget>) -> Self {
        Self { transport, budget }
    }
}

impl Remote for Arm {
    fn open(&self, object: &Object, urgency: Urgency, clock: &Arc<dyn Clock>) -> Arc<dyn Session> {
        let urgency = match urgency {
            Urgency::Foreground => budget::Urgency::Foreground,
            Urgency::Background => budget::Urgency::Background,
        };
        Arc::new(Gate::new(
            self.transport.clone(),
            self.budget.clone(),
            clock.clone(),
            object.key(),
            urgency,
        ))
    }
}

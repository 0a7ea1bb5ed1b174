//! The ways of one pass to Azure and to other remotes.

use std::sync::Arc;

use armature_azure::budget::Urgency;
use armature_shapes::kind::Remote;
use armature_shapes::resource::Object;

use super::Reconciler;
use crate::remote::{Gate, Session};

/// The ways of one pass to Azure and to other remotes.
pub(super) struct Ways {
    /// The way to Azure, for extensions.
    pub gate: Arc<Gate>,
    /// The way to what the object stands for.
    pub session: Arc<dyn Session>,
    /// Nobody waits for the outcome of the pass.
    pub in_background: bool,
}

impl Ways {
    /// Those of a pass over this object.
    ///
    /// # Errors
    /// When this operator does not know the remote of its kind.
    pub fn open(
        reconciler: &Reconciler,
        object: &Object,
        urgency: Urgency,
    ) -> Result<Self, String> {
        let (arm, budget) = (reconciler.arm.clone(), reconciler.budget.clone());
        let clock = reconciler.clock.clone();
        let gate = Arc::new(Gate::new(arm, budget, clock, object.key(), urgency));
        let in_background = urgency == Urgency::Background;
        Ok(Self {
            session: session(reconciler, object, &gate, in_background)?,
            gate,
            in_background,
        })
    }

    /// The way of the same pass to what another object stands for.
    ///
    /// # Errors
    /// When this operator does not know the remote of its kind.
    pub fn to(&self, reconciler: &Reconciler, object: &Object) -> Result<Arc<dyn Session>, String> {
        session(reconciler, object, &self.gate, self.in_background)
    }
}

fn session(
    reconciler: &Reconciler,
    object: &Object,
    gate: &Arc<Gate>,
    in_background: bool,
) -> Result<Arc<dyn Session>, String> {
    let kind = object.kind.0;
    match kind.remote {
        Remote::Arm { .. } => Ok(gate.clone()),
        Remote::Other(name) => match reconciler.remotes.get(name) {
            Some(remote) => Ok(remote.open(&object.key(), in_background)),
            None => Err(format!(
                "{} lives in '{name}', which this operator does not know: register it with the reconciler's remotes",
                kind.kind
            )),
        },
    }
}

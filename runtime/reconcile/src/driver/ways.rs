//! The ways of one pass to Azure and to other remotes.

use std::sync::Arc;

use armature_shapes::kind::Remote;
use armature_shapes::resource::Object;

use super::Reconciler;
use crate::remote::Session;
use crate::urgency::Urgency;

/// The ways of one pass to Azure and to other remotes.
pub(super) struct Ways {
    /// The way to Azure, for extensions.
    pub main: Arc<dyn Session>,
    /// The way to what the object stands for.
    pub session: Arc<dyn Session>,
    urgency: Urgency,
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
        let remote = reconciler.remotes.main();
        let main = remote.open(object, urgency, &reconciler.clock);
        Ok(Self {
            session: session(reconciler, object, &main, urgency)?,
            main,
            urgency,
        })
    }

    /// Nobody waits for the outcome of the pass.
    pub fn in_background(&self) -> bool {
        self.urgency == Urgency::Background
    }

    /// The way of the same pass to what another object stands for.
    ///
    /// # Errors
    /// When this operator does not know the remote of its kind.
    pub fn to(&self, reconciler: &Reconciler, object: &Object) -> Result<Arc<dyn Session>, String> {
        session(reconciler, object, &self.main, self.urgency)
    }
}

fn session(
    reconciler: &Reconciler,
    object: &Object,
    main: &Arc<dyn Session>,
    urgency: Urgency,
) -> Result<Arc<dyn Session>, String> {
    let kind = object.kind.0;
    match kind.remote {
        Remote::Arm { .. } => Ok(main.clone()),
        Remote::Other(name) => match reconciler.remotes.get(name) {
            Some(remote) => Ok(remote.open(object, urgency, &reconciler.clock)),
            None => Err(format!(
                "{} lives in '{name}', which this operator does not know: register it with the reconciler's remotes",
                kind.kind
            )),
        },
    }
}

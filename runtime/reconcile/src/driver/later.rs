//! What a pass leaves to a later write: the state of operations that have most likely ended before that (see
//! [`super::deferred`]).

use armature_shapes::resource::ObjectKey;
use futures::{StreamExt, stream};

use super::Reconciler;
use super::pass::Pass;
use crate::port::KubernetesError;
use crate::remote::{Operation, Verb};

/// Objects that are written at the same time when the process ends.
const AT_ONCE: usize = 16;

impl Reconciler {
    /// Writes into the objects what memory alone knows, because the process ends. What cannot be written is found out again by
    /// the next one.
    pub async fn write_deferred(&self) {
        let keys = stream::iter(self.deferred.keys());
        keys.for_each_concurrent(AT_ONCE, async |key| {
            if let Err(error) = self.write_deferred_of(&key).await {
                tracing::warn!(%key, %error, "a running operation could not be written down");
            }
        })
        .await;
    }

    async fn write_deferred_of(&self, key: &ObjectKey) -> Result<(), KubernetesError> {
        let Some(object) = self.kubernetes.get(key).await? else {
            return Ok(());
        };
        let annotations = self.kubernetes.namespace_annotations(&key.namespace);
        let keys = self.kubernetes.note_keys().await?;
        if let Ok(mut pass) = Pass::new(self, object, annotations.await?, keys)
            && pass.owes_operation()
        {
            pass.write_notes_anyway().await?;
        }
        Ok(())
    }
}

impl Pass<'_> {
    /// Whether the state of an operation can be left to a later write: what it was sent for may be sent twice, the object tells
    /// already what that was, and Azure says when it has ended. Of an edit the record alone tells what was sent, and with that
    /// what another edit takes out.
    pub(super) fn may_defer(&self, operation: &Operation) -> bool {
        let can_be_found_out = match operation.verb {
            Verb::Write => {
                let is_of_claim = self.book.stored_foretold_generation();
                !self.book.claim_holds() && is_of_claim == Some(self.generation)
            }
            Verb::Remove => self.points.deleter.is_none(),
            Verb::Prepare => false,
        };
        can_be_found_out && operation.is_reported
    }

    /// Leaves the notes to the next write of metadata, which comes at the end of the pass at the latest, unless the object is
    /// silent then.
    pub(super) fn defer(&mut self) {
        let entries = self.book.defer();
        self.reconciler.deferred.set(&self.object, entries);
    }
}

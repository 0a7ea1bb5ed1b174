//! What annotations ask for, as the pass has it: read from object and namespace, kept where it must be, shown in conditions.

use armature_shapes::names;

use super::findings::Namespace;
use super::object::read;
use super::pass::Pass;
use crate::annotations::{Adoption, Directives, Mistake, Pause, needs_own_credential};
use crate::bookkeeping::ClaimedWith;
use crate::port::{EventNote, KubernetesError, Protection};
use crate::protection::Deletion;
use crate::remote::CredentialRef;
use crate::side_condition;
use crate::view::Paused;

impl Pass<'_> {
    /// What holds for the object.
    pub(super) fn directives(&self) -> Result<Directives, Vec<Mistake>> {
        let default = self.reconciler.settings.default_policy;
        read(&self.object, &self.findings.namespace.annotations, default)
    }

    /// The pause that holds now.
    pub(super) fn paused(&self, directives: &Directives) -> Option<Paused> {
        let now = self.reconciler.clock.now();
        let pause = directives.paused_at(now)?;
        let left = match pause {
            Pause::Open => None,
            Pause::Until(end) => end.duration_since(now).try_into().ok(),
        };
        let message = side_condition::paused_message(pause);
        Some(Paused { left, message })
    }

    /// Notes whose the resource is. What is taken over may be noted with the next write: whoever is killed before it asks
    /// again. That a PUT follows, or none ever, is noted first.
    pub(super) async fn note_adoption(
        &mut self,
        adoption: Adoption,
        event: Option<EventNote>,
    ) -> Result<(), KubernetesError> {
        self.book.note_adoption(adoption);
        if let Some(event) = event {
            self.record(event).await;
        }
        if adoption != Adoption::Adopted {
            self.write_notes().await?;
        }
        Ok(())
    }

    /// Whose credential was chosen, where it is one that may be used.
    pub(super) fn claims_with(&self) -> Option<ClaimedWith> {
        let sign_in = self.findings.sign_in.as_ref();
        let sign_in = sign_in.filter(|sign_in| sign_in.account.is_ok())?;
        Some(match &sign_in.key {
            CredentialRef::Global => ClaimedWith::Operator,
            CredentialRef::Secret { .. } if self.annotation(names::CREDENTIAL_FROM).is_some() => {
                ClaimedWith::Object
            }
            CredentialRef::Secret { .. } => ClaimedWith::Namespace,
        })
    }

    /// Whether the object was claimed with the credential of its namespace, so that the operator's own must not take its
    /// place.
    pub(super) fn is_claimed_with_namespace(&self) -> bool {
        self.is_claimed() && self.book.claimed_with() == Some(ClaimedWith::Namespace)
    }

    /// Takes in the namespace's annotations from the server. They may allow less by now.
    pub(super) async fn read_namespace(&mut self) -> Result<(), KubernetesError> {
        let (kubernetes, name) = (&self.reconciler.kubernetes, self.namespace());
        self.findings.namespace = Namespace {
            annotations: kubernetes.live_namespace_annotations(&name).await?,
            is_live: true,
        };
        self.findings.place.identity = None;
        if needs_own_credential(&self.findings.namespace.annotations) {
            self.findings.sign_in = None;
        }
        self.bind_requests();
        Ok(())
    }

    /// Asks for protected objects whose resources a DELETE would take along.
    pub(super) fn look_for_protected(&self) -> Protection {
        let own = self.id().map(|id| id.as_str().to_owned());
        let override_id = self.annotation(names::CHILD_RESOURCE_ID_OVERRIDE);
        let ids = own.into_iter().chain(override_id.map(str::to_owned));
        let (kubernetes, key) = (&self.reconciler.kubernetes, self.object.key());
        let default = self.reconciler.settings.default_scopes.as_ref();
        kubernetes.protection_below(&Deletion::new(ids, &key, default))
    }
}

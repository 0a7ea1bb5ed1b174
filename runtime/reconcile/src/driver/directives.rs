//! What annotations ask for, as the pass has it: read from object and namespace, kept where it must be, shown in conditions.

use armature_azure::CredentialKey;
use armature_shapes::names;
use serde_json::Value;

use super::cluster::{set, whole_seconds};
use super::findings::Namespace;
use super::object::read;
use super::pass::Pass;
use crate::annotations::{Adoption, Directives, Mistake, Pause};
use crate::condition::{self, Verdict, reason};
use crate::port::{EventNote, KubernetesError, MetadataPatch, Protection};
use crate::side_condition::{self, Told};
use crate::view::Paused;

/// Values of the annotation [`names::CLAIMED_WITH`].
mod claimed_with {
    /// The operator's own credential.
    pub const OPERATOR: &str = "operator";
    /// That of the object's namespace.
    pub const NAMESPACE: &str = "namespace";
    /// One that the object names.
    pub const OBJECT: &str = "object";
}

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

    /// Whose the resource is. What the object has sent, or another operator for it, is its own.
    pub(super) fn adoption(&self) -> Option<Adoption> {
        if self.pending.adoption.is_some() {
            return self.pending.adoption;
        }
        if let Some(text) = self.annotation(names::ADOPTION) {
            return Some(Adoption::parse(text));
        }
        let signs = [
            names::LATEST_RECONCILED_GENERATION,
            names::BASELINE,
            names::POLLER_RESUME_ID,
            names::POLLER_RESUME_TOKEN,
            names::UNANSWERED_PUT,
            names::FAILED_OPERATIONS,
        ];
        let mut signs = signs.iter();
        let has_sent = self.claim_holds || signs.any(|name| self.annotation(name).is_some());
        has_sent.then_some(Adoption::Made)
    }

    /// Notes whose the resource is. What is taken over may be noted with the next write: whoever is killed before it asks
    /// again. That a PUT follows, or none ever, is noted first.
    pub(super) async fn note_adoption(
        &mut self,
        adoption: Adoption,
        event: Option<EventNote>,
    ) -> Result<(), KubernetesError> {
        self.pending.adoption = Some(adoption);
        if let Some(event) = event {
            self.record(event).await;
        }
        if adoption != Adoption::Adopted {
            self.patch(MetadataPatch::default()).await?;
        }
        Ok(())
    }

    /// Adds to a write of metadata what is noted with the next one.
    pub(super) fn add_notes(&mut self, patch: &mut MetadataPatch) {
        if let Some(adoption) = self.pending.adoption {
            let text = adoption.as_str();
            if self.annotation(names::ADOPTION) != Some(text) {
                set(patch, names::ADOPTION, text.to_owned());
            }
        }
        let will_be_claimed = patch.finalizers.as_ref().map_or_else(
            || self.is_claimed(),
            |list| list.iter().any(|name| name == names::FINALIZER),
        );
        // A claim takes away what was noted before it.
        let is_kept = patch.annotations.get(names::CLAIMED_WITH) != Some(&None);
        let has_record = is_kept && self.annotation(names::CLAIMED_WITH).is_some();
        if will_be_claimed
            && !has_record
            && let Some(source) = self.source()
        {
            set(patch, names::CLAIMED_WITH, source.to_owned());
        }
    }

    /// Whether something is to be noted that no write has said yet.
    pub(super) fn has_notes(&self) -> bool {
        let adoption = self.pending.adoption;
        adoption.is_some_and(|adoption| self.annotation(names::ADOPTION) != Some(adoption.as_str()))
    }

    /// Whose credential was chosen, where it is one that may be used.
    fn source(&self) -> Option<&'static str> {
        let sign_in = self.findings.sign_in.as_ref();
        let sign_in = sign_in.filter(|sign_in| sign_in.account.is_ok())?;
        Some(match &sign_in.key {
            CredentialKey::Global => claimed_with::OPERATOR,
            CredentialKey::Secret { .. } if self.annotation(names::CREDENTIAL_FROM).is_some() => {
                claimed_with::OBJECT
            }
            CredentialKey::Secret { .. } => claimed_with::NAMESPACE,
        })
    }

    /// Whether the object was claimed with the credential of its namespace, so that the operator's own must not take its
    /// place.
    pub(super) fn is_claimed_with_namespace(&self) -> bool {
        self.is_claimed() && self.annotation(names::CLAIMED_WITH) == Some(claimed_with::NAMESPACE)
    }

    /// The namespace's annotations, from the server.
    pub(super) async fn read_namespace(&self) -> Result<Namespace, KubernetesError> {
        let (kubernetes, name) = (&self.reconciler.kubernetes, self.namespace());
        Ok(Namespace {
            annotations: kubernetes.live_namespace_annotations(&name).await?,
            is_live: true,
        })
    }

    /// Asks for protected objects whose resources a DELETE would take along.
    pub(super) fn look_for_protected(&self) -> Protection {
        let own = self.id().map(|id| id.as_str().to_owned());
        let override_id = self.annotation(names::CHILD_RESOURCE_ID_OVERRIDE);
        let ids: Vec<String> = own
            .into_iter()
            .chain(override_id.map(str::to_owned))
            .collect();
        let kubernetes = &self.reconciler.kubernetes;
        kubernetes.protection_below(&ids, &self.object.key())
    }

    /// Works the conditions into the status that show what annotations ask for. While one means nothing, they stay.
    pub(super) fn show_directives(&mut self, paused: Option<&str>, served: bool) {
        let Ok(directives) = self.directives() else {
            return;
        };
        if paused.is_some() {
            self.say_that_nothing_is_there();
        }
        let told = Told {
            generation: self.generation,
            served,
        };
        let now = whole_seconds(self.reconciler.clock.now());
        let mut status = self.forms.status().clone();
        let conditions = status.get_mut("conditions").map(Value::take);
        let conditions = conditions.unwrap_or_default();
        let conditions = side_condition::update(conditions, &directives, paused, told, &now);
        status["conditions"] = conditions;
        self.forms.set_status(status);
    }

    /// A paused object that was never looked at is not ready, or tools would take it for done. One that was keeps what
    /// was said.
    fn say_that_nothing_is_there(&mut self) {
        let status = self.forms.status();
        let conditions = status.get("conditions").unwrap_or(&Value::Null);
        if condition::ready(conditions).is_none() {
            let message = "paused before anything was sent to Azure";
            self.set_verdict(&Verdict::progress(reason::PAUSED, message));
        }
    }
}

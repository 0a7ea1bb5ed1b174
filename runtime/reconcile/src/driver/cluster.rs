//! Steps in the cluster: ownership, policy, owner, claim, finalizer, the end of a pass.

use std::sync::Arc;

use armature_azure::CredentialKey;
use armature_shapes::kind::OwnerRule;
use armature_shapes::names;
use armature_shapes::resource::{Kind, Object, ObjectKey};
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::found::Found;
use super::object::parse;
use super::pass::{Pass, Unreadable};
use crate::action::{Finish, normal};
use crate::backoff::Requeue;
use crate::claim;
use crate::condition::{self, Verdict, reason};
use crate::extension::Next;
use crate::observed::{Identity, OwnerState};
use crate::outcome::{Failure, Write};
use crate::port::{EventNote, KubernetesError, MetadataPatch};
use crate::view::OwnerForm;
use crate::young::Youth;

/// How often an object that changed is read again for a write that must not be lost.
const READ_AGAIN: usize = 3;

impl Pass<'_> {
    /// Patches metadata and takes the answer over. Every write also says which operator wrote it (step 5);
    /// a write for that alone would touch every object after each upgrade.
    pub(super) async fn patch(&mut self, mut patch: MetadataPatch) -> Result<(), KubernetesError> {
        let version = names::label_value(&self.reconciler.settings.operator_version);
        let name = names::LAST_RECONCILED_VERSION;
        let labels = self.object.metadata.labels.as_ref();
        if labels.and_then(|labels| labels.get(name)) != Some(&version) {
            patch.labels.insert(name.to_owned(), Some(version));
        }
        if self.pending.takes_ownership {
            let namespace = self.reconciler.settings.operator_namespace.clone();
            set(&mut patch, names::OPERATOR_NAMESPACE, namespace);
        }
        if self.pending.forgets_operation {
            clear_operation(&mut patch, self);
        }
        self.add_deferred(&mut patch);
        self.update_notes(&mut patch);
        self.add_notes(&mut patch);
        if patch.finalizers.is_none() {
            self.add_record_of_claim(&mut patch).await?;
        }
        // What was sent is known from now on.
        let is_recorded = matches!(patch.annotations.get(names::BASELINE), Some(Some(_)));
        if is_recorded && self.annotation(names::CLAIMED_SPEC).is_some() {
            patch
                .annotations
                .insert(names::CLAIMED_SPEC.to_owned(), None);
        }
        let kubernetes = &self.reconciler.kubernetes;
        self.object = kubernetes.patch_metadata(&self.object, patch).await?;
        self.pending.is_said();
        self.drop_deferred();
        self.claim_holds &= self.annotation(names::BASELINE).is_none();
        Ok(())
    }

    /// Patches metadata with something that must not be lost: what Azure is doing, or has done, for the object.
    /// A change of the object in the meantime is no reason against it.
    pub(super) async fn patch_anyway(
        &mut self,
        patch: MetadataPatch,
    ) -> Result<(), KubernetesError> {
        for _ in 0..READ_AGAIN {
            match self.patch(patch.clone()).await {
                Err(KubernetesError::Conflict { .. }) => {}
                done => return done,
            }
            let key = self.object.key();
            match self.reconciler.kubernetes.read(&key).await? {
                Some(object) => self.object = object,
                None => {
                    let object = key.to_string();
                    return Err(KubernetesError::Gone { object });
                }
            }
        }
        self.patch(patch).await
    }

    pub(super) async fn record(&self, event: EventNote) {
        self.reconciler.kubernetes.record(&self.object, event).await;
    }

    /// Step 2. Of an object that is not claimed, nothing is said or sent before the next write, which is the claim or the
    /// end of the pass: ownership is stored along with it.
    pub(super) async fn take_ownership(&mut self) -> Result<(), KubernetesError> {
        self.pending.takes_ownership = true;
        if self.is_claimed() {
            self.patch(MetadataPatch::default()).await?;
        }
        Ok(())
    }

    /// Key of the owner that is named in the cluster.
    fn owner_key(&self) -> Result<ObjectKey, String> {
        let text = |field: &str| {
            let value = self
                .forms
                .spec()
                .get("owner")
                .and_then(|owner| owner.get(field));
            value.and_then(Value::as_str).unwrap_or("").to_owned()
        };
        let (group, kind) = match self.kind().owner {
            OwnerRule::Kind { group, kind } => (group.to_owned(), kind.to_owned()),
            OwnerRule::Any | OwnerRule::None => (text("group"), text("kind")),
        };
        let name = text("name");
        if name.is_empty() {
            return Err("spec.owner names no owner: set name, or armId".to_owned());
        }
        let info = self
            .reconciler
            .kubernetes
            .kind(&group, &kind)
            .ok_or_else(|| format!("spec.owner: there is no kind {kind} in group {group}"))?;
        Ok(ObjectKey {
            kind: Kind(info),
            namespace: self.namespace(),
            name,
        })
    }

    pub(super) async fn read_owner(&mut self) -> Result<(), KubernetesError> {
        let state = match self.owner_key() {
            Err(message) => OwnerState::Waiting(message),
            Ok(key) => match self.reconciler.kubernetes.get(&key).await? {
                None => OwnerState::Waiting(format!("the owner {key} does not exist")),
                Some(owner) => {
                    let state = owner_state(&key, &owner);
                    self.findings.owner.object = Some(Arc::new(owner));
                    state
                }
            },
        };
        self.findings.owner.state = Some(state);
        Ok(())
    }

    /// The owner in the cluster, read once per pass; `None` when it is not named or not there.
    pub(super) async fn owner_object(&mut self) -> Result<Option<Arc<Object>>, KubernetesError> {
        if self.findings.owner.object.is_none() && self.owner_form() == OwnerForm::Named {
            self.read_owner().await?;
        }
        Ok(self.findings.owner.object.clone())
    }

    /// Step 4: owner reference, labels, resource id and finalizer, in one write.
    pub(super) async fn claim(&mut self) -> Found<()> {
        let default = self.default_claim();
        let claimed = match self.points.claimer.clone() {
            None => Ok(default),
            Some(claimer) => {
                let next = Next::value(default);
                claimer.claim(&self.context(), &self.current(), next).await
            }
        };
        let mut patch = match claimed {
            Ok(patch) => patch,
            Err(error) => return Ok(Err(self.extension_failure(error).await)),
        };
        if !self.is_claimed() {
            let mut finalizers = self.object.metadata.finalizers.clone().unwrap_or_default();
            finalizers.push(names::FINALIZER.to_owned());
            patch.finalizers = Some(finalizers);
        }
        let view = self.view();
        if view.policy.allows_put() && !view.observe {
            // A PUT that is cut off leaves nothing in the object: what is another one by then has been edited since.
            self.foretell().await;
            set(&mut patch, names::CLAIMED_SPEC, self.claimed_spec().await?);
        }
        for name in claim::OF_A_CLAIM {
            if self.annotation(name).is_some() {
                patch.annotations.entry(name.to_owned()).or_insert(None);
            }
        }
        if let CredentialKey::Secret { name, .. } = self.findings.credential() {
            self.untold_credential = Some(name.clone());
        }
        if self.annotation(names::CREDENTIAL_FROM).is_some() {
            self.tell_credential().await;
        }
        patch.azure_name = self.findings.place.new_name.clone();
        // What an earlier claim foretold was of another place.
        self.claim_holds = false;
        self.patch(patch).await?;
        self.work_on_with_name();
        // It was made from the spec just now.
        self.findings.place.identity = Some(Ok(Identity::Kept));
        Ok(Ok(()))
    }

    /// Tells of the credential that the claim chose, unless the PUT did.
    async fn tell_credential(&mut self) {
        if let Some(name) = self.untold_credential.take() {
            let message = format!("using the credential in secret {name}");
            self.record(normal(names::event::CREDENTIAL_FROM, message))
                .await;
        }
    }

    /// The claim wrote a name into the spec, on the condition that nobody else wrote anything: this pass goes on with that.
    fn work_on_with_name(&mut self) {
        if let Some(name) = self.findings.place.new_name.take() {
            self.forms.set_name(&name);
            let written = self.object.metadata.generation;
            self.generation = written.unwrap_or(self.generation);
        }
    }

    fn default_claim(&self) -> MetadataPatch {
        let mut patch = MetadataPatch::default();
        if let Some(id) = self.id() {
            set(&mut patch, names::RESOURCE_ID, id.as_str().to_owned());
        }
        let Some(owner) = &self.findings.owner.object else {
            return patch;
        };
        let mut label = |name: &str, value: &str| {
            patch
                .labels
                .insert(name.to_owned(), Some(names::label_value(value)));
        };
        let kind = owner.kind.0;
        let metadata = &owner.metadata;
        let (name, uid) = (
            metadata.name.as_deref().unwrap_or(""),
            metadata.uid.as_deref().unwrap_or(""),
        );
        label(names::OWNER_NAME, name);
        label(
            names::OWNER_GROUP_KIND,
            &format!("{}.{}", kind.kind, kind.group),
        );
        label(names::OWNER_UID, uid);
        let labels = self.object.metadata.labels.as_ref();
        let former = labels.and_then(|labels| labels.get(names::OWNER_UID));
        let mut references: Vec<Value> = self
            .object
            .metadata
            .owner_references
            .iter()
            .flatten()
            .filter(|reference| reference.uid != uid && Some(&reference.uid) != former)
            .filter_map(|reference| serde_json::to_value(reference).ok())
            .collect();
        references.push(json!({
            "apiVersion": format!("{}/{}", kind.group, kind.hub.storage_version),
            "kind": kind.kind,
            "name": name,
            "uid": uid,
        }));
        patch.owner_references = Some(references);
        patch
    }

    pub(super) async fn remove_finalizer(&mut self) -> Result<(), KubernetesError> {
        let finalizers = self.object.metadata.finalizers.iter().flatten();
        let rest = finalizers
            .filter(|name| *name != names::FINALIZER)
            .cloned()
            .collect();
        let mut patch = MetadataPatch {
            finalizers: Some(rest),
            ..MetadataPatch::default()
        };
        clear_operation(&mut patch, self);
        self.patch(patch).await
    }

    /// The next write says so, which is most often the one that remembers what the operation made: whoever is killed before
    /// it asks once more how the operation ended.
    pub(super) fn forget_operation(&mut self) {
        // Nothing but the rest of this pass remembers how the operation ended.
        self.ways.session.commit();
        self.pending.forgets_operation = true;
    }

    pub(super) async fn finish(&mut self, finish: Finish) -> Result<Requeue, KubernetesError> {
        self.tell_credential().await;
        self.note_unread().await?;
        let is_outdated = !self.outdated_notes().is_empty() || self.has_notes();
        // What only this pass knows of the claim is not said by the status until now.
        let is_new = self.claim_holds && !claim::came_true(&self.object);
        if let Some(requeue) = self.silently(&finish).filter(|_| !is_outdated && !is_new) {
            return Ok(requeue);
        }
        let first = self.before_status(&finish).await?;
        let is_outdated = is_outdated || first.is_some();
        let owes_owner = self.pending.takes_ownership && !self.leaves_owner_to_claim(&finish);
        let first = first.unwrap_or_default();
        if self.owes_operation() {
            self.patch_anyway(first).await?;
        } else if owes_owner || self.pending.forgets_operation || is_outdated {
            self.patch(first).await?;
        }
        if let Some(event) = finish.event {
            self.record(event).await;
        }
        if let Some(verdict) = &finish.verdict {
            self.set_verdict(verdict);
        }
        if finish.verdict.is_some() || finish.paused.is_some() {
            let served = finish.paused.is_none() && !matches!(finish.requeue, Requeue::PutOff(_));
            self.show_directives(finish.paused.as_deref(), served);
            self.write_status(finish.verdict.as_ref()).await?;
        }
        let sync = self
            .directives()
            .ok()
            .and_then(|directives| directives.sync);
        Ok(finish.requeue.in_period(sync))
    }

    /// Whether the claim will say whose the object is.
    fn leaves_owner_to_claim(&self, finish: &Finish) -> bool {
        let silence = self.reconciler.settings.silence;
        let now = self.reconciler.clock.now();
        silence.of_owner(&self.object, now, finish.requeue)
    }

    /// How young the object is, while it may be silent.
    pub(super) fn youth(&self) -> Option<Youth> {
        let silence = self.reconciler.settings.silence;
        silence.youth(&self.object, self.first_look, self.reconciler.clock.now())
    }

    /// When to look again, where the object need not say yet how it is. What the pass found out is found out again; only the
    /// end of an operation is not.
    fn silently(&self, finish: &Finish) -> Option<Requeue> {
        if self.pending.forgets_operation {
            return None;
        }
        let conditions = self.forms.status().get("conditions");
        let spoken = condition::ready(conditions.unwrap_or(&Value::Null));
        let youth = match (spoken, self.is_deleting()) {
            (None, _) => self.youth()?,
            (Some((_, reason::DELETING)), true) => return None,
            // That it is being deleted, Kubernetes says as well.
            (Some(_), true) => self.youth()?,
            (Some((status, _)), false) => {
                let seen = self.forms.status().get("observedGeneration");
                let is_current =
                    status == "True" && seen.and_then(Value::as_i64) == Some(self.generation);
                if is_current || !self.has_begun() {
                    return None;
                }
                self.reconciler.settings.silence.of_begun()
            }
        };
        youth.keep_silent(finish)
    }

    /// Whether this pass began what Azure is working on.
    fn has_begun(&self) -> bool {
        let writes = &self.findings.writes;
        let is_running = |write: &Option<Write>| matches!(write, Some(Write::Running(_)));
        is_running(&writes.put) || is_running(&writes.prerequisite)
    }

    /// Writes the status where it changed. Without a verdict the object is paused.
    async fn write_status(&mut self, verdict: Option<&Verdict>) -> Result<(), KubernetesError> {
        let written = parse(self.object.status.as_deref(), "status").unwrap_or_default();
        if self.forms.status() != &written {
            let (reason, message) = verdict.map_or((reason::PAUSED, ""), |verdict| {
                (verdict.reason.as_str(), verdict.message.as_str())
            });
            tracing::info!(%reason, %message, "status changes");
            let status = self.forms.status().clone();
            let kubernetes = &self.reconciler.kubernetes;
            match kubernetes.patch_status(&self.object, status).await {
                Err(conflict @ KubernetesError::Conflict { .. }) if self.claim_holds => {
                    // Nothing else tells what was sent.
                    self.patch_anyway(MetadataPatch::default()).await?;
                    return Err(conflict);
                }
                answer => self.object = answer?,
            }
        }
        Ok(())
    }

    pub(super) fn set_verdict(&mut self, verdict: &Verdict) {
        let generation = self.generation;
        let now = whole_seconds(self.reconciler.clock.now());
        let status = with_verdict(self.forms.status(), verdict, generation, &now);
        self.forms.set_status(status);
    }
}

impl Unreadable<'_> {
    /// Says so in the conditions.
    pub(super) async fn finish_unreadable(&mut self) -> Result<Requeue, KubernetesError> {
        let status = parse(self.object.status.as_deref(), "status").unwrap_or_default();
        let now = whole_seconds(self.reconciler.clock.now());
        let generation = self.object.metadata.generation.unwrap_or(0);
        let new = with_verdict(&status, &Verdict::from(&self.failure), generation, &now);
        if new != status {
            let kubernetes = &self.reconciler.kubernetes;
            kubernetes.patch_status(&self.object, new).await?;
        }
        Ok(self.failure.requeue())
    }
}

/// The status with the verdict worked in: conditions first, as the API has them.
fn with_verdict(status: &Value, verdict: &Verdict, generation: i64, now: &str) -> Value {
    let old = status.get("conditions").unwrap_or(&Value::Null);
    let conditions = condition::update(old, verdict, generation, now);
    let mut members = Map::new();
    members.insert("conditions".to_owned(), conditions);
    for (name, value) in status.as_object().into_iter().flatten() {
        if name != "conditions" && name != "observedGeneration" {
            members.insert(name.clone(), value.clone());
        }
    }
    members.insert("observedGeneration".to_owned(), json!(generation));
    Value::Object(members)
}

pub(super) fn whole_seconds(now: jiff::Timestamp) -> String {
    let now = now.to_zoned(TimeZone::UTC);
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// An owner can be built on when it is ready and says where it is in Azure.
fn owner_state(key: &ObjectKey, owner: &Object) -> OwnerState {
    let status = parse(owner.status.as_deref(), "status").unwrap_or_default();
    let conditions = status.get("conditions").unwrap_or(&Value::Null);
    match condition::ready(conditions) {
        Some(("True", _)) if claim::resource_id(owner).is_some() => OwnerState::Ready,
        Some((_, why)) => OwnerState::Waiting(format!("the owner {key} is not ready: {why}")),
        None => OwnerState::Waiting(format!("the owner {key} is not ready yet")),
    }
}

pub(super) fn set(patch: &mut MetadataPatch, name: &str, value: String) {
    patch.annotations.insert(name.to_owned(), Some(value));
}

/// Removes the state of an operation, where there is one and no other takes its place.
pub(super) fn clear_operation(patch: &mut MetadataPatch, pass: &Pass<'_>) {
    for name in [names::POLLER_RESUME_ID, names::POLLER_RESUME_TOKEN] {
        if pass.annotation(name).is_some() {
            patch.annotations.entry(name.to_owned()).or_insert(None);
        }
    }
}

/// A failure for an owner that was there at the claim and is gone now.
pub(super) fn owner_gone(message: &str) -> Failure {
    Failure::warning(
        reason::WAITING_FOR_OWNER,
        crate::backoff::RetryClass::Fast,
        message,
    )
}

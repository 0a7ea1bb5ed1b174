//! Steps in the cluster: ownership, policy, owner, claim, finalizer.

use std::sync::Arc;

use armature_shapes::kind::OwnerRule;
use armature_shapes::names;
use armature_shapes::resource::{Kind, Object, ObjectKey};
use serde_json::{Value, json};

use super::found::Found;
use super::object::parse;
use super::pass::Pass;
use crate::action::normal;
use crate::claim;
use crate::condition::{self, reason};
use crate::extension::Next;
use crate::observed::{Identity, OwnerState};
use crate::outcome::Failure;
use crate::port::{KubernetesError, MetadataPatch};
use crate::remote::CredentialRef;
use crate::view::OwnerForm;

impl Pass<'_> {
    /// Step 2. It is stored along with the next write, at the end of the pass at the latest: most often that writes something
    /// else, too.
    pub(super) fn take_ownership(&mut self) {
        let namespace = &self.reconciler.settings.operator_namespace;
        self.book.take_ownership(namespace);
    }

    /// Of several operators that find an object nobody's, one writes so: the others change nothing in Azure, and no Secret.
    pub(super) async fn store_ownership(&mut self) -> Result<(), KubernetesError> {
        match self.book.owes_ownership() {
            true => self.write_notes().await,
            false => Ok(()),
        }
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
        let mut claimed = None;
        if view.policy.allows_put() && !view.observe {
            // A PUT that is cut off leaves nothing in the object: what is another one by then has been edited since.
            self.foretell().await;
            claimed = Some(self.claimed_spec().await?);
        }
        for name in claim::OF_A_CLAIM {
            if self.annotation(name).is_some() {
                patch.annotations.entry(name.to_owned()).or_insert(None);
            }
        }
        // What an earlier claim noted and foretold was of another place.
        self.book.begin_claim(claimed);
        if let CredentialRef::Secret { name, .. } = self.findings.credential() {
            self.untold_credential = Some(name.clone());
        }
        if self.annotation(names::CREDENTIAL_FROM).is_some() {
            self.tell_credential().await;
        }
        patch.azure_name = self.findings.place.new_name.clone();
        // All that is noted now is made from the spec.
        self.findings.place.is_proven = true;
        self.patch(patch).await?;
        self.work_on_with_name();
        // It was made from the spec just now.
        self.findings.place.identity = Some(Ok(Identity::Kept));
        Ok(Ok(()))
    }

    /// Tells of the credential that the claim chose, unless the PUT did.
    pub(super) async fn tell_credential(&mut self) {
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
        let patch = MetadataPatch {
            finalizers: Some(rest),
            ..MetadataPatch::default()
        };
        self.book.end_operation();
        let writes = &self.findings.writes;
        let is_left = writes.delete.is_none() && writes.poll.is_none() && !self.was_gone();
        if let Some(id) = self.id().filter(|_| is_left) {
            let now = self.reconciler.clock.now();
            self.reconciler.departures.note(id, now);
        }
        self.patch(patch).await
    }

    /// The next write says so, which is most often the one that remembers what the operation made: whoever is killed before
    /// it asks once more how the operation ended.
    pub(super) fn forget_operation(&mut self) {
        // Nothing but the rest of this pass remembers how the operation ended.
        self.ways.session.commit();
        if self.leaves_a_put() {
            self.book.note_unanswered_put(self.reconciler.clock.now());
        }
        self.book.forget_operation();
    }
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

/// A failure for an owner that was there at the claim and is gone now.
pub(super) fn owner_gone(message: &str) -> Failure {
    Failure::warning(
        reason::WAITING_FOR_OWNER,
        crate::backoff::RetryClass::Fast,
        message,
    )
}

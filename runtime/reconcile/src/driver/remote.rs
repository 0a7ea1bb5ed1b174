//! Steps at the remote: credential, read, delete, and what runs on.

use std::sync::Arc;

use armature_azure::CredentialKey;
use armature_azure::budget::Urgency;
use armature_engine::status::status_from_arm;
use armature_shapes::conversion;
use armature_shapes::kind::{KindInfo, Remote, VersionInfo};
use armature_shapes::names;
use armature_shapes::resource::{Object, ObjectKey};
use serde_json::Value;

use super::Reconciler;
use super::cluster::{clear_operation, set};
use super::object::{document, parse};
use super::pass::Pass;
use crate::action::normal;
use crate::backoff::RetryClass;
use crate::claim;
use crate::condition::reason;
use crate::extension::{Next, Prerequisite};
use crate::observed::Resource;
use crate::outcome::{Failure, Poll, Write};
use crate::port::{DataKind, KubernetesError, MetadataPatch};
use crate::remote::{Begun, Gate, Operation, Progress, Session, Verb};

impl Reconciler {
    /// The way to Azure of a pass over this object.
    pub(super) fn gate(&self, object: ObjectKey, urgency: Urgency) -> Arc<Gate> {
        let (arm, budget) = (self.arm.clone(), self.budget.clone());
        Arc::new(Gate::new(arm, budget, self.clock.clone(), object, urgency))
    }

    /// The way to what an object stands for.
    ///
    /// # Errors
    /// When this operator does not know the remote of its kind.
    pub(super) fn session(
        &self,
        object: &Object,
        gate: &Arc<Gate>,
        in_background: bool,
    ) -> Result<Arc<dyn Session>, String> {
        let kind = object.kind.0;
        match kind.remote {
            Remote::Arm { .. } => Ok(gate.clone()),
            Remote::Other(name) => match self.remotes.get(name) {
                Some(remote) => Ok(remote.open(&object.key(), in_background)),
                None => Err(format!(
                    "{} lives in '{name}', which this operator does not know: register it with the reconciler's remotes",
                    kind.kind
                )),
            },
        }
    }
}

impl Pass<'_> {
    /// Step 4a: the annotation, else the namespace's Secret, else the operator's own (ASO behaviour §1.8).
    pub(super) async fn select_credential(&mut self) -> Result<(), KubernetesError> {
        let namespace = self.namespace();
        let named = self.annotation(names::CREDENTIAL_FROM).map(str::to_owned);
        let name = match named {
            Some(name) if name.is_empty() || name.contains('/') => {
                let message = format!(
                    "annotation {}: '{name}' must be the name of a Secret in the object's own namespace",
                    names::CREDENTIAL_FROM
                );
                self.observed.credential = Some(Err(Failure::error(reason::FAILED, message)));
                return Ok(());
            }
            Some(name) => Some(name),
            None => {
                let has_one = self.has_namespace_credential(&namespace).await?;
                has_one.then(|| names::NAMESPACE_CREDENTIAL.to_owned())
            }
        };
        if name.is_none() && self.is_claimed_with_namespace() {
            self.observed.credential = Some(Err(lost_credential(&namespace)));
            return Ok(());
        }
        self.credential = match name {
            Some(name) => CredentialKey::Secret { namespace, name },
            None => CredentialKey::Global,
        };
        self.observed.credential = Some(self.session.sign_in(&self.credential).await);
        Ok(())
    }

    /// Until the resource's place in Azure is settled the server is asked: a Secret that was applied along with the object
    /// must not be overlooked. From then on the watch's word will do, and most passes are spared a request.
    async fn has_namespace_credential(&self, namespace: &str) -> Result<bool, KubernetesError> {
        let kubernetes = &self.reconciler.kubernetes;
        if claim::resource_id(&self.object).is_some()
            && let Some(has_one) = kubernetes.has_namespace_credential(namespace)
        {
            return Ok(has_one);
        }
        let name = names::NAMESPACE_CREDENTIAL;
        let read = kubernetes.read_data(DataKind::Secret, namespace, name);
        Ok(read.await?.is_some())
    }

    /// Step 15: one look at what is there. The status is taken over.
    pub(super) async fn get(&mut self) {
        self.observed.resource = Some(self.read().await);
    }

    async fn read(&mut self) -> Result<Resource, Failure> {
        let read = self.session.read(self.target()?).await;
        let reading = match read {
            Ok(reading) => reading,
            Err(refusal) => return Err(self.meaning(refusal).await),
        };
        self.azure = None;
        let Some(reading) = reading else {
            return Ok(Resource::Missing);
        };
        if let Some(body) = reading.body {
            self.status = self.stored_status(&self.object, self.version, &body)?;
            self.etag = reading.etag;
            self.azure = Some(body);
        }
        Ok(Resource::Found(reading.provisioning))
    }

    /// The status in stored form that an ARM resource gives an object. Conditions stay.
    pub(super) fn stored_status(
        &self,
        object: &Object,
        version: &VersionInfo,
        body: &Value,
    ) -> Result<Value, Failure> {
        let kind = object.kind.0;
        let spec = parse(object.spec.as_deref(), "spec").unwrap_or_default();
        let old = parse(object.status.as_deref(), "status").unwrap_or_default();
        let mut status = status_from_arm(version, body);
        if let Some(conditions) = old.get("conditions") {
            status["conditions"] = conditions.clone();
        }
        if let Some(generation) = old.get("observedGeneration") {
            status["observedGeneration"] = generation.clone();
        }
        let stored = document(object, &spec, &Value::Null);
        let stored = restatus(kind, version, stored, status).map_err(|error| {
            let message = format!("Azure's answer cannot be written as a status: {error}");
            Failure::warning(reason::FAILED, RetryClass::Slow, message)
        })?;
        Ok(stored)
    }

    /// Asks Azure for what has to be done before the PUT.
    pub(super) async fn prepare(
        &mut self,
        prerequisite: &Prerequisite,
    ) -> Result<(), KubernetesError> {
        let event = normal(names::event::BEGIN_PUT, prerequisite.message.as_str());
        self.record(event).await;
        let begun = self.gate.prepare(&self.credential, &prerequisite.url).await;
        let (begun, operation) = self.begun(begun).await;
        if let Some(operation) = operation {
            self.save_operation(&operation).await?;
        }
        self.observed.prerequisite = Some(begun);
        Ok(())
    }

    /// What a write has come to, and the operation that follows where the remote works on.
    pub(super) async fn begun(&self, begun: Begun) -> (Write, Option<Operation>) {
        match begun {
            Begun::Done => (Write::Completed, None),
            Begun::Running { operation, after } => (Write::Running(after), Some(operation)),
            Begun::Overtaken(refusal) | Begun::Refused(refusal) | Begun::Unheard(refusal) => {
                (Write::Failed(self.meaning(refusal).await), None)
            }
        }
    }

    /// The operation's state goes into the annotations, so that a restart goes on with it.
    pub(super) async fn save_operation(
        &mut self,
        operation: &Operation,
    ) -> Result<(), KubernetesError> {
        let mut patch = MetadataPatch::default();
        set(&mut patch, names::POLLER_RESUME_ID, operation.id.clone());
        set(
            &mut patch,
            names::POLLER_RESUME_TOKEN,
            operation.token.clone(),
        );
        let is_new = !matches!(self.observed.poll, Some(Poll::Running(_)));
        if is_new {
            self.note_operation(&mut patch, operation);
        }
        if operation.verb == Verb::Write && is_new {
            let generation = self.generation.to_string();
            set(&mut patch, names::LATEST_RECONCILED_GENERATION, generation);
            set(&mut patch, names::BASELINE, self.sent().await?);
        }
        self.patch_anyway(patch).await
    }

    /// Asks for what the account lacks for this kind; that takes minutes, so the PUT is tried again later
    /// (ASO behaviour §1.7).
    pub(super) async fn enrol(&mut self) {
        let account = self.account();
        let enrolled = match self.target() {
            Ok(target) => self.session.enrol(target, &account).await,
            Err(failure) => Err(failure.into()),
        };
        let enrolled = match enrolled {
            Ok(()) => Ok(()),
            Err(refusal) => Err(self.meaning(refusal).await),
        };
        if let Err(failure) = &enrolled {
            tracing::warn!(
                reason = %failure.reason,
                message = %failure.message,
                "the provider could not be registered"
            );
        }
        self.observed.registration = Some(enrolled);
    }

    /// Step 14: one look.
    pub(super) async fn poll(&mut self) -> Result<(), KubernetesError> {
        let (Some(operation), Ok(target)) = (self.operation(), self.target()) else {
            self.observed.poll = Some(Poll::Lost);
            return Ok(());
        };
        let progress = self.session.follow(target, &operation).await;
        let (poll, moved) = self.look(&operation, progress).await?;
        if !matches!(poll, Poll::Running(_)) {
            // What was seen before the operation ended says nothing any more.
            self.observed.resource = None;
        }
        self.observed.poll = Some(poll);
        match moved {
            Some(moved) if moved != operation => self.save_operation(&moved).await,
            _ => Ok(()),
        }
    }

    /// What the look has come to, and the operation as it is to be followed next.
    async fn look(
        &mut self,
        operation: &Operation,
        progress: Progress,
    ) -> Result<(Poll, Option<Operation>), KubernetesError> {
        Ok(match progress {
            Progress::Running { operation, after } => (Poll::Running(after), Some(operation)),
            Progress::Unreported { after } => (Poll::Unreported(after), None),
            Progress::Doubtful(refusal) => (Poll::Doubtful(self.meaning(refusal).await), None),
            Progress::Unknown(failure) => (Poll::Unknown(failure), None),
            Progress::Succeeded if operation.verb == Verb::Prepare => (Poll::Prepared, None),
            Progress::Succeeded => (Poll::Succeeded, None),
            Progress::Failed(refusal) => {
                // The pass that sent the secrets was another one; this one must know them to cover them.
                self.observed.inputs = Some(self.resolve_inputs().await?);
                let mut failure = self.meaning(refusal).await;
                failure.retry_after = Some(self.note_failed_operation());
                (Poll::Failed(failure), None)
            }
            Progress::Lost => (Poll::Lost, None),
        })
    }

    /// Deletion, item 3.
    pub(super) async fn delete(&mut self) -> Result<(), KubernetesError> {
        let (outcome, operation) = match self.points.deleter.clone() {
            None => self.send_delete().await,
            Some(deleter) => {
                let started = std::sync::Mutex::new(None);
                let next = Next::new(|()| async {
                    let (outcome, operation) = self.send_delete().await;
                    *started
                        .lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner) = operation;
                    Ok(outcome)
                });
                let outcome = deleter.delete(&self.context(), &self.current(), next).await;
                let outcome = match outcome {
                    Ok(outcome) => outcome,
                    Err(error) => Write::Failed(self.extension_failure(error).await),
                };
                let started = started.into_inner();
                (
                    outcome,
                    started.unwrap_or_else(std::sync::PoisonError::into_inner),
                )
            }
        };
        if self.session.put_off().is_none() {
            self.record(normal(names::event::BEGIN_DELETE, "deleting in Azure"))
                .await;
        }
        self.observed.delete = Some(outcome);
        match operation {
            Some(operation) => self.save_operation(&operation).await,
            None => {
                let mut patch = MetadataPatch::default();
                clear_operation(&mut patch, self);
                if patch == MetadataPatch::default() {
                    return Ok(());
                }
                self.patch(patch).await
            }
        }
    }

    async fn send_delete(&self) -> (Write, Option<Operation>) {
        let begun = match self.target() {
            Ok(target) => self.session.remove(target).await,
            Err(failure) => Begun::Refused(failure.into()),
        };
        self.begun(begun).await
    }
}

/// The stored status of an object whose served form has this status.
fn restatus(
    kind: &KindInfo,
    version: &VersionInfo,
    stored: Value,
    status: Value,
) -> Result<Value, conversion::ConversionError> {
    let mut served = conversion::from_hub(kind, version.name, stored)?;
    served["status"] = status;
    let mut stored = conversion::to_hub(kind, version.name, served)?;
    Ok(stored["status"].take())
}

/// The operator's own identity may be able to do more, or something else, than that of the namespace.
fn lost_credential(namespace: &str) -> Failure {
    let secret = names::NAMESPACE_CREDENTIAL;
    let message = format!(
        "the object was claimed with the credential of its namespace, and Secret {namespace}/{secret} is gone: create it \
         again, or name a Secret with {}; to go on with the operator's own credential, remove the annotation {}",
        names::CREDENTIAL_FROM,
        names::CLAIMED_WITH
    );
    Failure::warning(reason::CREDENTIAL_NOT_FOUND, RetryClass::Slow, message)
}

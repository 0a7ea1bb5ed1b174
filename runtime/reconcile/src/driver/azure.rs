//! Steps in Azure: credential, GET, PUT, DELETE, polls, and what errors become.

use std::time::Duration;

use armature_azure::operation::{self, Begun, Progress};
use armature_azure::{
    CloudError, CredentialKey, Method, Operation, Request, Response, Transport, TransportError,
    absence,
};
use armature_engine::status::status_from_arm;
use armature_shapes::conversion;
use armature_shapes::id::ResourceId;
use armature_shapes::kind::{KindInfo, VersionInfo};
use armature_shapes::names;
use armature_shapes::resource::Object;
use serde_json::Value;

use super::cluster::{clear_operation, set};
use super::object::{document, parse};
use super::pass::Pass;
use crate::action::normal;
use crate::backoff::RetryClass;
use crate::claim;
use crate::classify::classify;
use crate::condition::reason;
use crate::extension::{ExtensionError, Next, Prerequisite};
use crate::observed::{Credential, Provisioning, Resource};
use crate::outcome::{Failure, Poll, Write};
use crate::port::{DataKind, KubernetesError, MetadataPatch};

/// States of `provisioningState` that say without doubt that something is going on. Services invent others, and
/// some of those are lasting (`Running`, `Pending`): only these hold a PUT back.
const RUNNING: &[&str] = &[
    "accepted",
    "creating",
    "deleting",
    "inprogress",
    "provisioning",
    "updating",
];

/// api-version of the registration of providers.
const REGISTRATION_VERSION: &str = "2019-05-01";

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
        let subscription = self.reconciler.arm.subscription(&self.credential).await;
        self.gate.charge(&self.credential).await;
        self.observed.credential = Some(match subscription {
            Ok(subscription) => {
                self.gate.confine(&subscription);
                Ok(Credential { subscription })
            }
            Err(error) => Err(transport_failure(&error)),
        });
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

    /// The resource's id, or the failure that it has none: the decision asks for it before anything in Azure.
    pub(super) fn known_id(&self) -> Result<ResourceId, Failure> {
        self.id.clone().ok_or_else(|| {
            let message = "the resource has no ARM id yet";
            Failure::warning(reason::FAILED, RetryClass::Slow, message)
        })
    }

    pub(super) async fn send(
        &self,
        method: Method,
        url: String,
        body: Option<Value>,
    ) -> Result<Response, Failure> {
        let sent = self.gate.send(self.request(method, url, body)).await;
        sent.map_err(|error| transport_failure(&error))
    }

    pub(super) fn request(&self, method: Method, url: String, body: Option<Value>) -> Request {
        Request {
            method,
            url,
            body,
            if_match: None,
            credential: self.credential.clone(),
        }
    }

    /// Step 15: GET, or HEAD where that is all there is. The status is taken over.
    pub(super) async fn get(&mut self) {
        let resource = match self.known_id() {
            Ok(id) => self.read(&id).await,
            Err(failure) => Err(failure),
        };
        self.observed.resource = Some(resource);
    }

    async fn read(&mut self, id: &ResourceId) -> Result<Resource, Failure> {
        let verbs = self.version.verbs;
        let method = match (verbs.get, verbs.head) {
            (true, _) => Method::Get,
            (false, true) => Method::Head,
            (false, false) => {
                let message = "Azure cannot read resources of this type";
                return Err(Failure::error(reason::FAILED, message));
            }
        };
        let url = id.url(self.version.api_version);
        let response = self.send(method, url, None).await?;
        self.azure = None;
        match response.status {
            _ if absence::is_gone(&response) => Ok(Resource::Missing),
            200..300 if method == Method::Head => Ok(Resource::Found(Provisioning::Settled)),
            200..300 => {
                let body = response.body.unwrap_or_default();
                self.status = self.stored_status(&self.object, self.version, &body)?;
                let provisioning = provisioning(&body);
                let etag = body.get("etag").and_then(Value::as_str);
                self.etag = etag
                    .or(response.headers.get("etag").map(String::as_str))
                    .map(str::to_owned);
                self.azure = Some(body);
                Ok(Resource::Found(provisioning))
            }
            _ => Err(self.refused(&response).await),
        }
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
        let (begun, operation) = self.begin(Method::Post, &prerequisite.url, None).await;
        if let Some(operation) = operation {
            self.save_operation(&operation).await?;
        }
        self.observed.prerequisite = Some(begun);
        Ok(())
    }

    /// One write, and the operation that follows where Azure runs on.
    pub(super) async fn begin(
        &self,
        method: Method,
        url: &str,
        body: Option<Value>,
    ) -> (Write, Option<Operation>) {
        match self.send(method, url.to_owned(), body).await {
            Ok(response) => self.begun(method, url, &response).await,
            Err(failure) => (Write::Failed(failure), None),
        }
    }

    pub(super) async fn begun(
        &self,
        method: Method,
        url: &str,
        response: &Response,
    ) -> (Write, Option<Operation>) {
        match operation::begin(method, url, response, self.reconciler.clock.now()) {
            Begun::Done => (Write::Completed, None),
            Begun::Running { operation, after } => (Write::Running(after), Some(operation)),
            Begun::Failed { .. } if method == Method::Delete && absence::is_not_found(response) => {
                (Write::Failed(self.refused(response).await), None)
            }
            Begun::Failed { error, after } => {
                (Write::Failed(self.classified(error, after).await), None)
            }
        }
    }

    /// The operation's state goes into the annotations, so that a restart goes on with it.
    pub(super) async fn save_operation(
        &mut self,
        operation: &Operation,
    ) -> Result<(), KubernetesError> {
        let mut patch = MetadataPatch::default();
        set(
            &mut patch,
            names::POLLER_RESUME_ID,
            operation.resume_id().to_owned(),
        );
        set(
            &mut patch,
            names::POLLER_RESUME_TOKEN,
            operation.resume_token(),
        );
        let is_new = !matches!(self.observed.poll, Some(Poll::Running(_)));
        if is_new {
            self.note_operation(&mut patch, operation);
        }
        if operation.method == Method::Put && is_new {
            let generation = self.generation.to_string();
            set(&mut patch, names::LATEST_RECONCILED_GENERATION, generation);
            set(&mut patch, names::BASELINE, self.sent().await?);
        }
        self.patch_anyway(patch).await
    }

    /// Asks Azure to let the subscription use the type's provider; that takes minutes, so the PUT is tried
    /// again later (ASO behaviour §1.7).
    pub(super) async fn register_provider(&mut self) {
        let registered = match self.known_id() {
            Ok(id) => self.send_registration(&id).await,
            Err(failure) => Err(failure),
        };
        if let Err(failure) = &registered {
            tracing::warn!(
                reason = %failure.reason,
                message = %failure.message,
                "the provider could not be registered"
            );
        }
        self.observed.registration = Some(registered);
    }

    async fn send_registration(&self, id: &ResourceId) -> Result<(), Failure> {
        let subscription = match (id.subscription(), &self.observed.credential) {
            (Some(subscription), _) => subscription,
            (None, Some(Ok(credential))) => credential.subscription.as_str(),
            (None, _) => return Err(Failure::unknown("no subscription is known")),
        };
        let url = format!(
            "/subscriptions/{subscription}/providers/{}/register?api-version={REGISTRATION_VERSION}",
            self.kind().provider()
        );
        let response = self.send(Method::Post, url, None).await?;
        match response.status {
            200..300 => Ok(()),
            _ => Err(self.refused(&response).await),
        }
    }

    /// Step 14: one look.
    pub(super) async fn poll(&mut self) -> Result<(), KubernetesError> {
        let (Some(operation), Some(id)) = (self.operation(), self.id.clone()) else {
            self.observed.poll = Some(Poll::Lost);
            return Ok(());
        };
        let request = self.request(Method::Get, operation.url.clone(), None);
        let (poll, moved) = match self.gate.send(request).await {
            Ok(response) => self.look(&operation, &id, &response).await?,
            Err(error) if error.is_refused => (Poll::Doubtful(transport_failure(&error)), None),
            Err(error) => (Poll::Unknown(transport_failure(&error)), None),
        };
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

    /// What the answer to a poll says, and the operation as it is to be polled next.
    async fn look(
        &mut self,
        operation: &Operation,
        id: &ResourceId,
        response: &Response,
    ) -> Result<(Poll, Option<Operation>), KubernetesError> {
        let now = self.reconciler.clock.now();
        Ok(match operation::poll(operation, id, response, now) {
            Progress::Running { operation, after } => (Poll::Running(after), Some(operation)),
            Progress::Unreported { after } => (Poll::Unreported(after), None),
            Progress::Doubtful(_) => (Poll::Doubtful(self.refused(response).await), None),
            Progress::Succeeded if operation.method == Method::Post => (Poll::Prepared, None),
            Progress::Succeeded => (Poll::Succeeded, None),
            Progress::Failed(error) | Progress::Canceled(error) => {
                // The pass that sent the secrets was another one; this one must know them to cover them.
                self.observed.inputs = Some(self.resolve_inputs().await?);
                let mut failure = self.classified(error, None).await;
                failure.retry_after = Some(self.note_failed_operation());
                (Poll::Failed(failure), None)
            }
            Progress::Lost => (Poll::Lost, None),
        })
    }

    /// Deletion, item 3.
    pub(super) async fn delete(&mut self) -> Result<(), KubernetesError> {
        let id = match self.known_id() {
            Ok(id) => id,
            Err(failure) => {
                self.observed.delete = Some(Write::Failed(failure));
                return Ok(());
            }
        };
        let (outcome, operation) = match self.points.deleter.clone() {
            None => self.send_delete(&id).await,
            Some(deleter) => {
                let started = std::sync::Mutex::new(None);
                let next = Next::new(|()| async {
                    let (outcome, operation) = self.send_delete(&id).await;
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
        if self.gate.put_off().is_none() {
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

    async fn send_delete(&self, id: &ResourceId) -> (Write, Option<Operation>) {
        let url = id.url(self.version.api_version);
        self.begin(Method::Delete, &url, None).await
    }

    /// What an error answer to a read means for this kind. One of "not found" that does not mean the resource is looked at
    /// again, whatever its class.
    pub(super) async fn refused(&self, response: &Response) -> Failure {
        let after = operation::retry_after(response, self.reconciler.clock.now());
        let error = CloudError::from_response(response);
        let mut failure = self.classified(error, after).await;
        if absence::is_not_found(response) && !absence::is_gone(response) {
            let doubt = absence::doubt(response);
            failure.message = format!("{}; {doubt}", failure.message);
            failure = failure.as_warning();
            failure.retry = RetryClass::Slow;
        }
        failure
    }

    /// The tables of error rules, wrapped by the kind's classifier (ASO behaviour §1.7).
    pub(super) async fn classified(&self, error: CloudError, after: Option<Duration>) -> Failure {
        let error = error.covering(&self.resolved.secret_values());
        let default = classify(self.kind().errors, &error, after);
        let Some(classifier) = self.points.error_classifier.clone() else {
            return default;
        };
        let next = Next::value(default.clone());
        let classified = classifier
            .classify(&self.context(), &self.current(), &error, next)
            .await;
        classified.unwrap_or_else(|problem| {
            tracing::warn!(error = %problem, "the error classifier failed; using the table");
            default
        })
    }

    /// What an extension's error becomes.
    pub(super) async fn extension_failure(&self, error: ExtensionError) -> Failure {
        match error {
            ExtensionError::Azure {
                error, retry_after, ..
            } => {
                let is_absence = matches!(error.status, Some(404 | 410));
                let failure = self.classified(*error, retry_after).await;
                if is_absence {
                    failure.as_warning()
                } else {
                    failure
                }
            }
            ExtensionError::Transport(error) => transport_failure(&error),
            other => Failure::warning(reason::FAILED, RetryClass::Slow, other.to_string()),
        }
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

fn provisioning(body: &Value) -> Provisioning {
    let state = body.pointer("/properties/provisioningState");
    let Some(state) = state.and_then(Value::as_str) else {
        return Provisioning::Settled;
    };
    let word = state.to_ascii_lowercase();
    match word.as_str() {
        "failed" | "canceled" | "cancelled" => Provisioning::Failed(state.to_owned()),
        word if RUNNING.contains(&word) => Provisioning::Running(state.to_owned()),
        _ => Provisioning::Settled,
    }
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

/// No answer. A credential that cannot be used is the user's to fix, anything else may pass.
pub(super) fn transport_failure(error: &TransportError) -> Failure {
    let mut failure = if error.credential {
        Failure::warning(reason::FAILED, RetryClass::Slow, error.to_string())
    } else {
        Failure::unknown(error.to_string())
    };
    failure.retry_after = error.retry_after;
    failure
}

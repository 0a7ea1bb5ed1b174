//! What an extension may use: other objects, Azure, the tracing span and cancellation.

use std::sync::Arc;

use armature_azure::{
    CloudError, CredentialKey, Method, Request, Response, Transport, absence, operation,
};
use armature_shapes::id::ResourceId;
use armature_shapes::kind::TypedKind;
use armature_shapes::resource::{Kind, Object, ObjectKey, TypedObject};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::ExtensionError;
use super::typed::typed;
use crate::claim;
use crate::port::KubernetesPort;

/// What every extension is given.
#[derive(Clone)]
pub struct Context {
    /// Other objects in the cluster.
    pub resolver: Resolver,
    /// Azure, with the object's credential.
    pub arm: ArmAccess,
    /// The resource's ARM id; absent before it is known, at the claim of an object that cannot have one yet.
    pub id: Option<ResourceId>,
    /// ARM api-version that the object is written in.
    pub api_version: &'static str,
    /// The owner: as the cluster has it, or with a status fresh from Azure in checks before the PUT. Absent
    /// where the kind has none, or where it is named by an ARM id and no check asked for it.
    pub owner: Option<Arc<Object>>,
    /// Span of this pass, for logs.
    pub span: tracing::Span,
    /// Fires when the operator stops. Long work should end then, with [`ExtensionError::Cancelled`].
    pub cancellation: CancellationToken,
}

impl Context {
    /// Path and query of an action of the resource, such as `listKeys`.
    ///
    /// # Errors
    /// When the resource has no ARM id yet.
    pub fn action_url(&self, action: &str) -> Result<String, ExtensionError> {
        let url = self.url()?;
        Ok(url.replacen('?', &format!("/{action}?"), 1))
    }

    /// Path and query of the resource.
    ///
    /// # Errors
    /// When it has no ARM id yet.
    pub fn url(&self) -> Result<String, ExtensionError> {
        let id = self.id.as_ref();
        let id =
            id.ok_or_else(|| ExtensionError::Other("the resource has no ARM id yet".to_owned()))?;
        Ok(id.url(self.api_version))
    }

    /// The owner in its kind's hub type; `None` when there is none to see.
    ///
    /// # Errors
    /// [`ExtensionError::WrongKind`] when it is of another kind.
    pub fn owner<H: TypedKind>(&self) -> Result<Option<TypedObject<H>>, ExtensionError> {
        self.owner.as_deref().map(typed::<H>).transpose()
    }
}

/// Reads objects of the same namespace.
#[derive(Clone)]
pub struct Resolver {
    kubernetes: Arc<dyn KubernetesPort>,
    namespace: String,
}

impl Resolver {
    /// A resolver for this namespace.
    pub fn new(kubernetes: Arc<dyn KubernetesPort>, namespace: String) -> Self {
        Self {
            kubernetes,
            namespace,
        }
    }

    /// The object of this kind and name, if it exists.
    ///
    /// # Errors
    /// When Kubernetes refuses or the object does not fit its kind.
    pub async fn get<H: TypedKind>(
        &self,
        name: &str,
    ) -> Result<Option<TypedObject<H>>, ExtensionError> {
        let key = ObjectKey {
            kind: Kind(H::KIND),
            namespace: self.namespace.clone(),
            name: name.to_owned(),
        };
        let object = self.kubernetes.get(&key).await?;
        object.as_ref().map(typed::<H>).transpose()
    }

    /// ARM id of the object of this group, kind and name; `None` while it has none.
    ///
    /// # Errors
    /// When Kubernetes refuses, or no such kind is known.
    pub async fn resource_id(
        &self,
        group: &str,
        kind: &str,
        name: &str,
    ) -> Result<Option<String>, ExtensionError> {
        let info = self
            .kubernetes
            .kind(group, kind)
            .ok_or_else(|| ExtensionError::Other(format!("there is no kind {kind} in {group}")))?;
        let key = ObjectKey {
            kind: Kind(info),
            namespace: self.namespace.clone(),
            name: name.to_owned(),
        };
        let object = self.kubernetes.get(&key).await?;
        let object = object.as_ref();
        Ok(object.and_then(claim::resource_id).map(str::to_owned))
    }
}

/// Sends requests with the object's credential. One call is one exchange; nothing is retried here.
#[derive(Clone)]
pub struct ArmAccess {
    transport: Arc<dyn Transport>,
    credential: CredentialKey,
}

impl ArmAccess {
    /// Access with this credential.
    pub fn new(transport: Arc<dyn Transport>, credential: CredentialKey) -> Self {
        Self {
            transport,
            credential,
        }
    }

    /// Lets requests of this pass go to a subscription other than the credential's, which all others are refused: one that
    /// the resource stands for. Take its name from what Azure answers, never from the object, which users may write.
    pub fn admit_subscription(&self, subscription: &str) {
        self.transport.admit_subscription(subscription);
    }

    /// Lets requests of this pass go to a path outside of the scopes that the object's namespace may use: one that stands for
    /// the object's own resource, such as what is kept of it after a deletion. A write is admitted only when Azure has answered
    /// that it is: users write the object.
    pub fn admit_path(&self, method: Method, url: &str) {
        self.transport.admit_path(method, url);
    }

    /// Base URL of the Azure that answers: what is kept for other objects is kept for this one alone, since a Secret may name a
    /// cloud of its own.
    pub async fn endpoint(&self) -> String {
        self.transport.endpoint(&self.credential).await
    }

    /// Who asks, and where: what is kept for one of these is not for another.
    pub async fn owner(&self) -> String {
        format!("{:?} at {}", self.credential, self.endpoint().await)
    }

    /// GET of a path and query; `None` when Azure says that there is no such thing ([`absence::is_gone`]).
    ///
    /// # Errors
    /// When Azure answers with another error or not at all.
    pub async fn get(&self, url: &str) -> Result<Option<Value>, ExtensionError> {
        let response = self.send(Method::Get, url, None).await?;
        if absence::is_gone(&response) {
            return Ok(None);
        }
        body(Method::Get, url, response)
    }

    /// POST of an action such as `listKeys`; the answer's body.
    ///
    /// # Errors
    /// When Azure answers with an error or not at all.
    pub async fn post(
        &self,
        url: &str,
        body_to_send: Option<Value>,
    ) -> Result<Option<Value>, ExtensionError> {
        let response = self.send(Method::Post, url, body_to_send).await?;
        body(Method::Post, url, response)
    }

    /// DELETE of a path and query, whatever revision is there; what is gone already is no error.
    ///
    /// # Errors
    /// When Azure answers with another error or not at all.
    pub async fn delete(&self, url: &str) -> Result<(), ExtensionError> {
        let request = Request {
            if_match: Some("*".to_owned()),
            ..self.request(Method::Delete, url, None)
        };
        let response = self.transport.send(request).await?;
        if !absence::is_gone(&response) {
            body(Method::Delete, url, response)?;
        }
        Ok(())
    }

    /// Any request; HTTP errors are answers.
    ///
    /// # Errors
    /// When there is no usable answer.
    pub async fn send(
        &self,
        method: Method,
        url: &str,
        body: Option<Value>,
    ) -> Result<Response, ExtensionError> {
        Ok(self.transport.send(self.request(method, url, body)).await?)
    }

    fn request(&self, method: Method, url: &str, body: Option<Value>) -> Request {
        Request {
            method,
            url: url.to_owned(),
            body,
            if_match: None,
            credential: self.credential.clone(),
        }
    }
}

fn body(method: Method, url: &str, response: Response) -> Result<Option<Value>, ExtensionError> {
    if response.status < 400 {
        return Ok(response.body);
    }
    let path = url.split('?').next().unwrap_or(url);
    Err(ExtensionError::Azure {
        request: format!("{method} {path}"),
        error: Box::new(CloudError::from_response(&response)),
        retry_after: operation::retry_after(&response, jiff::Timestamp::now()),
    })
}

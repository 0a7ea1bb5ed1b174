//! What an extension may use: other objects, Azure, the tracing span and cancellation.

use std::sync::Arc;

use armature_shapes::id::ResourceId;
use armature_shapes::kind::TypedKind;
use armature_shapes::resource::{Kind, Object, ObjectKey, TypedObject};
use tokio_util::sync::CancellationToken;

use super::ExtensionError;
use super::typed::typed;
use crate::claim;
use crate::port::KubernetesPort;
use crate::remote::Access;

/// What every extension is given.
#[derive(Clone)]
pub struct Context {
    /// Other objects in the cluster.
    pub resolver: Resolver,
    /// The way to Azure, with the object's credential.
    pub access: Access,
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

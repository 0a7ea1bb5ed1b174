//! What an error of one kind means.

use armature_shapes::kind::TypedKind;
use armature_shapes::resource::TypedObject;
use async_trait::async_trait;

use super::{Context, ExtensionError, Next};
use crate::outcome::Failure;
use crate::remote::RemoteError;

/// Says what an Azure error means for this kind (ASO behaviour §1.7).
///
/// Called for every error that Azure answers a request of the reconciler with. `next` is the table of error
/// codes. It should look at code and status; texts change.
///
/// ```
/// # use std::sync::Arc;
/// # use armature_arm::testing::{MemoryAzure, reconciler};
/// # use armature_reconcile::testing::{Journal, MemoryCluster};
/// # use armature_shapes::testing::kinds::{GROUP, STORE};
/// # use serde_json::json;
/// use armature_azure::Method;
/// use armature_reconcile::backoff::RetryClass;
/// use armature_reconcile::extension::{
///     Context, ErrorClassifier, ExtensionError, Next, Registry,
/// };
/// use armature_reconcile::outcome::Failure;
/// use armature_reconcile::remote::RemoteError;
/// use armature_arm::testing::error;
/// use armature_shapes::resource::TypedObject;
/// use armature_shapes::testing::kinds::HubStore;
///
/// /// A store whose name is still taken by a deleted one gets it after some minutes.
/// struct NameIsFreedLater;
///
/// #[async_trait::async_trait]
/// impl ErrorClassifier for NameIsFreedLater {
///     type Hub = HubStore;
///
///     async fn classify(
///         &self,
///         _: &Context,
///         _: &TypedObject<HubStore>,
///         error: &dyn RemoteError,
///         next: Next<'_, Failure>,
///     ) -> Result<Failure, ExtensionError> {
///         if error.has_code("NameTaken") {
///             let message = "the name is not free yet";
///             return Ok(Failure::warning("NameTaken", RetryClass::Slow, message));
///         }
///         next.call().await
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let cluster = Arc::new(MemoryCluster::new(Journal::default()));
/// # let azure = Arc::new(MemoryAzure::new(Journal::default(), "s-1"));
/// let extensions = Registry::builder().register_error_classifier(NameIsFreedLater).build().expect("one for each point");
/// # let reconciler = reconciler(&cluster, &azure, extensions);
/// # reconciler.reconcile(&cluster.apply(&GROUP, "g", &json!({"location": "westus"}))).await;
/// # let id = "/subscriptions/s-1/resourceGroups/g/providers/Microsoft.Toys/stores/s";
/// azure.script(Method::Put, id, error(400, "NameTaken"));
/// let store = cluster.apply(&STORE, "s", &json!({"owner": {"name": "g"}}));
/// reconciler.reconcile(&store).await;
/// assert_eq!(cluster.condition(&store, "Ready"), "False/Warning/NameTaken");
/// # }
/// ```
#[async_trait]
pub trait ErrorClassifier: Send + Sync + 'static {
    /// Hub type of the kind.
    type Hub: TypedKind;

    /// Yields severity, reason, message and patience.
    ///
    /// # Errors
    /// When it cannot tell; the table decides then.
    async fn classify(
        &self,
        context: &Context,
        object: &TypedObject<Self::Hub>,
        error: &dyn RemoteError,
        next: Next<'_, Failure>,
    ) -> Result<Failure, ExtensionError>;
}

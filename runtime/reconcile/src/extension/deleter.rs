//! Deleting in another way than by one DELETE.

use armature_shapes::kind::TypedKind;
use armature_shapes::resource::TypedObject;
use async_trait::async_trait;

use super::{Context, ExtensionError, Next};
use crate::outcome::Write;

/// Deletes the resource (ASO behaviour §1.9 item 3).
///
/// Called when the resource may exist in Azure and the policy allows it to go; again on later passes while it
/// answers [`Write::Failed`]. A running operation that `next` started is followed by the reconciler. `next`
/// sends the DELETE.
///
/// ```
/// # use std::sync::Arc;
/// # use armature_arm::testing::{MemoryAzure, reconciler};
/// # use armature_reconcile::testing::{Journal, MemoryCluster};
/// # use armature_shapes::testing::kinds::{GROUP, STORE};
/// # use serde_json::json;
/// use armature_arm::ArmContext;
/// use armature_reconcile::extension::{Context, Deleter, ExtensionError, Next, Registry};
/// use armature_reconcile::outcome::Write;
/// use armature_shapes::resource::TypedObject;
/// use armature_shapes::testing::kinds::HubStore;
///
/// /// Azure keeps what a store sells on until it is stopped.
/// struct StopFirst;
///
/// #[async_trait::async_trait]
/// impl Deleter for StopFirst {
///     type Hub = HubStore;
///
///     async fn delete(
///         &self,
///         context: &Context,
///         _: &TypedObject<HubStore>,
///         next: Next<'_, Write>,
///     ) -> Result<Write, ExtensionError> {
///         context.arm().post(&context.action_url("stop")?, None).await?;
///         next.call().await
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let cluster = Arc::new(MemoryCluster::new(Journal::default()));
/// # let azure = Arc::new(MemoryAzure::new(Journal::default(), "s-1"));
/// let extensions = Registry::builder().register_deleter(StopFirst).build().expect("one for each point");
/// # let reconciler = reconciler(&cluster, &azure, extensions);
/// # reconciler.reconcile(&cluster.apply(&GROUP, "g", &json!({"location": "westus"}))).await;
/// # let id = "/subscriptions/s-1/resourceGroups/g/providers/Microsoft.Toys/stores/s";
/// # let stopped = armature_arm::testing::response(200, &[], None);
/// # azure.script(armature_azure::Method::Post, &format!("{id}/stop"), stopped);
/// let store = cluster.apply(&STORE, "s", &json!({"owner": {"name": "g"}}));
/// reconciler.reconcile(&store).await;
/// cluster.delete(&store);
/// reconciler.reconcile(&store).await;
/// assert!(cluster.object(&store).is_none());
/// assert!(azure.get(id).is_none());
/// # }
/// ```
#[async_trait]
pub trait Deleter: Send + Sync + 'static {
    /// Hub type of the kind.
    type Hub: TypedKind;

    /// Deletes, or starts to.
    ///
    /// # Errors
    /// When it could not be tried; tried again later, for ever.
    async fn delete(
        &self,
        context: &Context,
        object: &TypedObject<Self::Hub>,
        next: Next<'_, Write>,
    ) -> Result<Write, ExtensionError>;
}

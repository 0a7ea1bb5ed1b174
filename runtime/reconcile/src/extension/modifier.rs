//! A change of the body before it is compared and sent.

use armature_shapes::kind::TypedKind;
use armature_shapes::resource::TypedObject;
use async_trait::async_trait;
use serde_json::Value;

use super::{Context, ExtensionError, Next};

/// Changes the body that is compared with Azure and sent (ASO behaviour §1.3 step 12).
///
/// Called on every pass that compares, after the checks: what it reads from Azure must be cheap. The object's status
/// is fresh from Azure; it is absent when Azure answered 404. The result must depend on the object and on Azure
/// alone, or every pass sees drift. `next` takes the body and returns it.
///
/// ```
/// # use std::sync::Arc;
/// # use armature_arm::testing::{MemoryAzure, reconciler};
/// # use armature_reconcile::testing::{Journal, MemoryCluster};
/// # use armature_shapes::testing::kinds::{GROUP, STORE};
/// # use serde_json::json;
/// use armature_reconcile::extension::{
///     ArmResourceModifier, Context, ExtensionError, Next, Registry,
/// };
/// use armature_shapes::resource::TypedObject;
/// use armature_shapes::testing::kinds::HubStore;
/// use serde_json::Value;
///
/// /// Stores of any size want a tier, and Azure has no default for it.
/// struct WithTier;
///
/// #[async_trait::async_trait]
/// impl ArmResourceModifier for WithTier {
///     type Hub = HubStore;
///
///     async fn modify(
///         &self,
///         _: &Context,
///         store: &TypedObject<HubStore>,
///         body: Value,
///         next: Next<'_, Value, Value>,
///     ) -> Result<Value, ExtensionError> {
///         let mut body = next.call_with(body).await?;
///         if store.spec.tier.is_none() {
///             body["properties"]["tier"] = "Hot".into();
///         }
///         Ok(body)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let cluster = Arc::new(MemoryCluster::new(Journal::default()));
/// # let azure = Arc::new(MemoryAzure::new(Journal::default(), "s-1"));
/// let extensions = Registry::builder().register_modifier(WithTier).build().expect("one for each point");
/// # let reconciler = reconciler(&cluster, &azure, extensions);
/// # reconciler.reconcile(&cluster.apply(&GROUP, "g", &json!({"location": "westus"}))).await;
/// let spec = json!({"owner": {"name": "g"}, "capacity": 5});
/// reconciler.reconcile(&cluster.apply(&STORE, "s", &spec)).await;
/// let bodies = azure.take_bodies();
/// assert_eq!(bodies.last().unwrap()["properties"], json!({"capacity": 5, "tier": "Hot"}));
/// # }
/// ```
#[async_trait]
pub trait ArmResourceModifier: Send + Sync + 'static {
    /// Hub type of the kind.
    type Hub: TypedKind;

    /// Yields the body to send.
    ///
    /// # Errors
    /// When the body cannot be made; the pass ends with `Failed` and is tried again.
    async fn modify(
        &self,
        context: &Context,
        object: &TypedObject<Self::Hub>,
        body: Value,
        next: Next<'_, Value, Value>,
    ) -> Result<Value, ExtensionError>;
}

//! A hook after success.

use std::collections::BTreeMap;

use armature_shapes::kind::TypedKind;
use armature_shapes::resource::TypedObject;
use async_trait::async_trait;

use super::{Context, ExtensionError, Next};

/// Adds annotations once the resource is ready (ASO behaviour §1.3 step 18).
///
/// Called at the end of every pass that succeeds, so it must yield the same result for the same object. `next`
/// yields none.
///
/// ```
/// # use std::sync::Arc;
/// # use armature_arm::testing::{MemoryAzure, reconciler};
/// # use armature_reconcile::testing::{Journal, MemoryCluster};
/// # use armature_shapes::testing::kinds::{GROUP, STORE};
/// # use serde_json::json;
/// use std::collections::BTreeMap;
///
/// use armature_reconcile::extension::{
///     Context, ExtensionError, Next, Registry, SuccessfulCreationHandler,
/// };
/// use armature_shapes::resource::TypedObject;
/// use armature_shapes::testing::kinds::HubStore;
///
/// /// Notes the capacity that Azure has given.
/// struct Capacity;
///
/// #[async_trait::async_trait]
/// impl SuccessfulCreationHandler for Capacity {
///     type Hub = HubStore;
///
///     async fn succeeded(
///         &self,
///         _: &Context,
///         store: &TypedObject<HubStore>,
///         next: Next<'_, BTreeMap<String, String>>,
///     ) -> Result<BTreeMap<String, String>, ExtensionError> {
///         let mut annotations = next.call().await?;
///         let capacity = store.status.as_ref().and_then(|status| status.capacity);
///         annotations.extend(capacity.map(|it| ("toys.example/capacity".to_owned(), it.to_string())));
///         Ok(annotations)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let cluster = Arc::new(MemoryCluster::new(Journal::default()));
/// # let azure = Arc::new(MemoryAzure::new(Journal::default(), "s-1"));
/// let extensions = Registry::builder().register_success_handler(Capacity).build().expect("one for each point");
/// # let reconciler = reconciler(&cluster, &azure, extensions);
/// # reconciler.reconcile(&cluster.apply(&GROUP, "g", &json!({"location": "westus"}))).await;
/// let spec = json!({"owner": {"name": "g"}, "capacity": 5});
/// let store = cluster.apply(&STORE, "s", &spec);
/// reconciler.reconcile(&store).await;
/// let noted = cluster.annotation(&store, "toys.example/capacity");
/// assert_eq!(noted.as_deref(), Some("5"));
/// # }
/// ```
#[async_trait]
pub trait SuccessfulCreationHandler: Send + Sync + 'static {
    /// Hub type of the kind.
    type Hub: TypedKind;

    /// Yields annotations to set.
    ///
    /// # Errors
    /// When they cannot be made; the pass ends with `Failed` and is tried again.
    async fn succeeded(
        &self,
        context: &Context,
        object: &TypedObject<Self::Hub>,
        next: Next<'_, BTreeMap<String, String>>,
    ) -> Result<BTreeMap<String, String>, ExtensionError>;
}

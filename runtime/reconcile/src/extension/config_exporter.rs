//! Values for `operatorSpec.configMaps` that no status field has.

use std::collections::{BTreeMap, BTreeSet};

use armature_shapes::kind::TypedKind;
use armature_shapes::resource::TypedObject;
use async_trait::async_trait;

use super::{Context, ExtensionError, Next};

/// Gets values for `operatorSpec.configMaps` (ASO behaviour §1.6 step 4).
///
/// Called only when the object names a destination for at least one of the kind's values. The reconciler writes
/// the values to their destinations. `next` yields the values that status fields have.
///
/// ```
/// # use std::sync::Arc;
/// # use armature_arm::testing::{MemoryAzure, reconciler};
/// # use armature_reconcile::testing::{Journal, MemoryCluster};
/// # use armature_shapes::testing::kinds::{GROUP, STORE};
/// # use serde_json::json;
/// use std::collections::{BTreeMap, BTreeSet};
///
/// use armature_reconcile::extension::{
///     Context, ExtensionError, KubernetesConfigExporter, Next, Registry,
/// };
/// use armature_reconcile::port::DataKind;
/// use armature_shapes::resource::TypedObject;
/// use armature_shapes::testing::kinds::{HubGroup, HubStore};
///
/// /// The region of a store is that of its group.
/// struct Region;
///
/// #[async_trait::async_trait]
/// impl KubernetesConfigExporter for Region {
///     type Hub = HubStore;
///
///     async fn export(
///         &self,
///         context: &Context,
///         _: &TypedObject<HubStore>,
///         _: &BTreeSet<String>,
///         next: Next<'_, BTreeMap<String, String>>,
///     ) -> Result<BTreeMap<String, String>, ExtensionError> {
///         let mut values = next.call().await?;
///         let region = context.owner::<HubGroup>()?.and_then(|group| group.spec.location);
///         values.extend(region.map(|region| ("region".to_owned(), region)));
///         Ok(values)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let cluster = Arc::new(MemoryCluster::new(Journal::default()));
/// # let azure = Arc::new(MemoryAzure::new(Journal::default(), "s-1"));
/// let extensions = Registry::builder().register_config_exporter(Region).build().expect("one for each point");
/// # let reconciler = reconciler(&cluster, &azure, extensions);
/// # reconciler.reconcile(&cluster.apply(&GROUP, "g", &json!({"location": "westus"}))).await;
/// let spec = json!({
///     "owner": {"name": "g"},
///     "operatorSpec": {"configMaps": {"region": {"name": "store", "key": "region"}}},
/// });
/// reconciler.reconcile(&cluster.apply(&STORE, "s", &spec)).await;
/// let exported = cluster.data(DataKind::ConfigMap, "store", "region");
/// assert_eq!(exported.as_deref(), Some("westus"));
/// # }
/// ```
#[async_trait]
pub trait KubernetesConfigExporter: Send + Sync + 'static {
    /// Hub type of the kind.
    type Hub: TypedKind;

    /// Yields values by key of `operatorSpec.configMaps`; only the `wanted` ones are used.
    ///
    /// # Errors
    /// When they cannot be found out.
    async fn export(
        &self,
        context: &Context,
        object: &TypedObject<Self::Hub>,
        wanted: &BTreeSet<String>,
        next: Next<'_, BTreeMap<String, String>>,
    ) -> Result<BTreeMap<String, String>, ExtensionError>;
}

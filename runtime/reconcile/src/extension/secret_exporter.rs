//! Values for `operatorSpec.secrets`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use armature_shapes::kind::TypedKind;
use armature_shapes::resource::TypedObject;
use async_trait::async_trait;

use super::{Context, ExtensionError, Next};

/// Secret values by key of `operatorSpec.secrets`. Prints its keys only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretValues(pub BTreeMap<String, String>);

impl fmt::Debug for SecretValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

/// Gets secret values that Azure keeps for the resource (ASO behaviour §1.6 step 2).
///
/// Called only when the object names a destination for at least one of the kind's secrets. The reconciler writes
/// the values to their destinations. `next` yields none.
///
/// ```
/// # use std::sync::Arc;
/// # use armature_arm::testing::{MemoryAzure, reconciler};
/// # use armature_reconcile::testing::{Journal, MemoryCluster};
/// # use armature_shapes::testing::kinds::{GROUP, STORE};
/// # use serde_json::json;
/// use std::collections::BTreeSet;
///
/// use armature_azure::Method;
/// use armature_arm::ArmContext;
/// use armature_reconcile::extension::{
///     Context, ExtensionError, KubernetesSecretExporter, Next, Registry, SecretValues,
/// };
/// use armature_reconcile::port::DataKind;
/// use armature_arm::testing::response;
/// use armature_shapes::resource::TypedObject;
/// use armature_shapes::testing::kinds::HubStore;
///
/// /// The key of a store is what the action `newKey` says.
/// struct NewKey;
///
/// #[async_trait::async_trait]
/// impl KubernetesSecretExporter for NewKey {
///     type Hub = HubStore;
///
///     async fn export(
///         &self,
///         context: &Context,
///         _: &TypedObject<HubStore>,
///         wanted: &BTreeSet<String>,
///         next: Next<'_, SecretValues>,
///     ) -> Result<SecretValues, ExtensionError> {
///         let mut values = next.call().await?;
///         if wanted.contains("key") {
///             let answer = context.arm().post(&context.action_url("newKey")?, None).await?;
///             let key = answer.and_then(|body| Some(body["key"].as_str()?.to_owned()));
///             values.0.extend(key.map(|key| ("key".to_owned(), key)));
///         }
///         Ok(values)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let cluster = Arc::new(MemoryCluster::new(Journal::default()));
/// # let azure = Arc::new(MemoryAzure::new(Journal::default(), "s-1"));
/// let extensions = Registry::builder().register_secret_exporter(NewKey).build().expect("one for each point");
/// # let reconciler = reconciler(&cluster, &azure, extensions);
/// # reconciler.reconcile(&cluster.apply(&GROUP, "g", &json!({"location": "westus"}))).await;
/// # let action = "/subscriptions/s-1/resourceGroups/g/providers/Microsoft.Toys/stores/s/newKey";
/// azure.script(Method::Post, action, response(200, &[], Some(json!({"key": "hunter2"}))));
/// let spec = json!({
///     "owner": {"name": "g"},
///     "operatorSpec": {"secrets": {"key": {"name": "store-keys", "key": "main"}}},
/// });
/// reconciler.reconcile(&cluster.apply(&STORE, "s", &spec)).await;
/// let exported = cluster.data(DataKind::Secret, "store-keys", "main");
/// assert_eq!(exported.as_deref(), Some("hunter2"));
/// # }
/// ```
#[async_trait]
pub trait KubernetesSecretExporter: Send + Sync + 'static {
    /// Hub type of the kind.
    type Hub: TypedKind;

    /// Yields values by key of `operatorSpec.secrets`; only the `wanted` ones are used.
    ///
    /// # Errors
    /// When Azure does not give them.
    async fn export(
        &self,
        context: &Context,
        object: &TypedObject<Self::Hub>,
        wanted: &BTreeSet<String>,
        next: Next<'_, SecretValues>,
    ) -> Result<SecretValues, ExtensionError>;
}

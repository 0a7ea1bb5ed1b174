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

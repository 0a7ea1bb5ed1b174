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

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

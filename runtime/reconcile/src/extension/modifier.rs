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

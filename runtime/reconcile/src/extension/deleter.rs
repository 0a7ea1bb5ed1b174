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

//! What an error of one kind means.

use armature_azure::CloudError;
use armature_shapes::kind::TypedKind;
use armature_shapes::resource::TypedObject;
use async_trait::async_trait;

use super::{Context, ExtensionError, Next};
use crate::outcome::Failure;

/// Says what an Azure error means for this kind (ASO behaviour §1.7).
///
/// Called for every error that Azure answers a request of the reconciler with. `next` is the table of error
/// codes. It should look at code and status; texts change.
#[async_trait]
pub trait ErrorClassifier: Send + Sync + 'static {
    /// Hub type of the kind.
    type Hub: TypedKind;

    /// Yields severity, reason, message and patience.
    ///
    /// # Errors
    /// When it cannot tell; the table decides then.
    async fn classify(
        &self,
        context: &Context,
        object: &TypedObject<Self::Hub>,
        error: &CloudError,
        next: Next<'_, Failure>,
    ) -> Result<Failure, ExtensionError>;
}

//! What is written when an object is claimed.

use armature_shapes::kind::TypedKind;
use armature_shapes::resource::TypedObject;
use async_trait::async_trait;

use super::{Context, ExtensionError, Next};
use crate::port::MetadataPatch;

/// Adds to what the claim writes on the object (ASO behaviour §1.3 step 4).
///
/// Called once per object, when its owner is ready and all inputs resolve, before anything is sent to Azure.
/// `next` yields the default claim: owner reference, labels and resource id. The finalizer is always added.
#[async_trait]
pub trait Claimer: Send + Sync + 'static {
    /// Hub type of the kind.
    type Hub: TypedKind;

    /// Yields the changes to metadata.
    ///
    /// # Errors
    /// When the object must not be claimed now; the pass ends with `Failed` and is tried again.
    async fn claim(
        &self,
        context: &Context,
        object: &TypedObject<Self::Hub>,
        next: Next<'_, MetadataPatch>,
    ) -> Result<MetadataPatch, ExtensionError>;
}

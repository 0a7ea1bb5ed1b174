//! A hook after success.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::typed::typed;
use super::{Context, ExtensionError, Next};
use armature_shapes::kind::TypedKind;
use armature_shapes::resource::{Object, TypedObject};

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

/// [`SuccessfulCreationHandler`] for any kind.
#[async_trait]
pub(crate) trait Erased: Send + Sync {
    async fn succeeded(
        &self,
        context: &Context,
        object: &Object,
        next: Next<'_, BTreeMap<String, String>>,
    ) -> Result<BTreeMap<String, String>, ExtensionError>;
}

#[async_trait]
impl<T: SuccessfulCreationHandler> Erased for T {
    async fn succeeded(
        &self,
        context: &Context,
        object: &Object,
        next: Next<'_, BTreeMap<String, String>>,
    ) -> Result<BTreeMap<String, String>, ExtensionError> {
        let object = typed::<T::Hub>(object)?;
        SuccessfulCreationHandler::succeeded(self, context, &object, next).await
    }
}

//! A check of the owner before anything is asked of Azure about the resource.

use armature_shapes::kind::TypedKind;
use armature_shapes::resource::TypedObject;
use async_trait::async_trait;

use super::{Context, ExtensionError, Next, PreCheck};

/// Decides by the owner's state whether the resource may be touched now (ASO behaviour §1.3 step 10).
///
/// Called first of all checks, on passes that may send a PUT. The owner's status is fresh from Azure, also when
/// the owner is named by an ARM id; it is absent when Azure answered 404. While it does not proceed, no request
/// goes below the resource's own path. `next` proceeds. An owner of another kind is an error.
#[async_trait]
pub trait PreReconciliationOwnerChecker: Send + Sync + 'static {
    /// Hub type of the kind that is checked for.
    type Hub: TypedKind;
    /// Hub type of its owner.
    type Owner: TypedKind;

    /// Looks at the owner.
    ///
    /// # Errors
    /// Only when the state could not be found out; the pass ends with `Failed` and is tried again.
    async fn check(
        &self,
        context: &Context,
        owner: &TypedObject<Self::Owner>,
        next: Next<'_, PreCheck>,
    ) -> Result<PreCheck, ExtensionError>;
}

//! A check of the resource after a PUT.

use armature_shapes::kind::TypedKind;
use armature_shapes::resource::TypedObject;
use async_trait::async_trait;

use super::{Context, ExtensionError, Next};

/// Result of the check after a PUT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostCheck {
    /// The resource can be used.
    Success,
    /// It cannot. The reason becomes the message of `PostReconciliationFailure`; looked at again soon.
    Failure(String),
}

/// Decides whether a resource that Azure has taken is ready to be used (ASO behaviour §1.3 step 16).
///
/// Called on every pass that reaches the end, also under the policy `skip`; the object's status is fresh from
/// Azure. It should read that status and ask Azure for nothing else. `next` succeeds.
#[async_trait]
pub trait PostReconciliationChecker: Send + Sync + 'static {
    /// Hub type of the kind.
    type Hub: TypedKind;

    /// Looks at the object.
    ///
    /// # Errors
    /// Only when the state could not be found out; the pass ends with `Failed` and is tried again.
    async fn check(
        &self,
        context: &Context,
        object: &TypedObject<Self::Hub>,
        next: Next<'_, PostCheck>,
    ) -> Result<PostCheck, ExtensionError>;
}

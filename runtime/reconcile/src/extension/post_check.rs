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
///
/// ```
/// # use std::sync::Arc;
/// # use armature_arm::testing::{MemoryAzure, reconciler};
/// # use armature_reconcile::testing::{Journal, MemoryCluster};
/// # use armature_shapes::testing::kinds::{GROUP, STORE};
/// # use serde_json::json;
/// use armature_reconcile::extension::{
///     Context, ExtensionError, Next, PostCheck, PostReconciliationChecker, Registry,
/// };
/// use armature_shapes::resource::TypedObject;
/// use armature_shapes::testing::kinds::HubStore;
///
/// /// A store without an endpoint is of no use.
/// struct HasEndpoint;
///
/// #[async_trait::async_trait]
/// impl PostReconciliationChecker for HasEndpoint {
///     type Hub = HubStore;
///
///     async fn check(
///         &self,
///         _: &Context,
///         store: &TypedObject<HubStore>,
///         next: Next<'_, PostCheck>,
///     ) -> Result<PostCheck, ExtensionError> {
///         match store.status.as_ref().and_then(|status| status.endpoint.as_ref()) {
///             Some(_) => next.call().await,
///             None => Ok(PostCheck::Failure("it has no endpoint yet".to_owned())),
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let cluster = Arc::new(MemoryCluster::new(Journal::default()));
/// # let azure = Arc::new(MemoryAzure::new(Journal::default(), "s-1"));
/// let extensions = Registry::builder().register_post_checker(HasEndpoint).build().expect("one for each point");
/// # let reconciler = reconciler(&cluster, &azure, extensions);
/// # reconciler.reconcile(&cluster.apply(&GROUP, "g", &json!({"location": "westus"}))).await;
/// let store = cluster.apply(&STORE, "s", &json!({"owner": {"name": "g"}}));
/// reconciler.reconcile(&store).await;
/// assert_eq!(cluster.message(&store), "it has no endpoint yet");
/// # }
/// ```
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

//! A check of the resource before a PUT. Where nothing would be sent it is not asked: what is not sent is not blocked.

use armature_shapes::kind::TypedKind;
use armature_shapes::resource::TypedObject;
use async_trait::async_trait;

use super::{Context, ExtensionError, Next};

/// Result of the checks before a PUT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreCheck {
    /// Go on.
    Proceed,
    /// Do not go on. The reason becomes the message of `ReconciliationBlocked`; looked at again soon.
    Block(String),
    /// Not now and nothing is wrong: looked at again at the next sync, as `ReconciliationPostponed`.
    Postpone(String),
    /// Azure has to do something else before the PUT. The reconciler asks for it, follows it like any
    /// long-running operation, and then asks this check again.
    First(Prerequisite),
}

/// Something that Azure has to do before a PUT can succeed, such as to give a name free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prerequisite {
    /// Path and query of a POST.
    pub url: String,
    /// What it does, for the condition and the event: `purging the deleted vault`.
    pub message: String,
}

/// Decides whether the resource may be changed now (ASO behaviour §1.3 step 10).
///
/// Called after the owner's check and before the PUT, on passes that may send one. The object's status is fresh
/// from Azure; it is absent when Azure answered 404. `next` proceeds. [`PreCheck::First`] is not acted on for an object
/// that is only observed.
///
/// ```
/// # use std::sync::Arc;
/// # use armature_arm::testing::{MemoryAzure, reconciler};
/// # use armature_reconcile::testing::{Journal, MemoryCluster};
/// # use armature_shapes::testing::kinds::{GROUP, STORE};
/// # use serde_json::json;
/// use armature_reconcile::extension::{
///     Context, ExtensionError, Next, PreCheck, PreReconciliationChecker, Registry,
/// };
/// use armature_shapes::resource::TypedObject;
/// use armature_shapes::testing::kinds::HubStore;
///
/// /// Azure refuses changes of a full store.
/// struct NotFull;
///
/// #[async_trait::async_trait]
/// impl PreReconciliationChecker for NotFull {
///     type Hub = HubStore;
///
///     async fn check(
///         &self,
///         _: &Context,
///         store: &TypedObject<HubStore>,
///         next: Next<'_, PreCheck>,
///     ) -> Result<PreCheck, ExtensionError> {
///         match store.status.as_ref().and_then(|status| status.capacity) {
///             Some(0) => Ok(PreCheck::Block("the store is full".to_owned())),
///             _ => next.call().await,
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let cluster = Arc::new(MemoryCluster::new(Journal::default()));
/// # let azure = Arc::new(MemoryAzure::new(Journal::default(), "s-1"));
/// let extensions = Registry::builder().register_pre_checker(NotFull).build().expect("one for each point");
/// # let reconciler = reconciler(&cluster, &azure, extensions);
/// # reconciler.reconcile(&cluster.apply(&GROUP, "g", &json!({"location": "westus"}))).await;
/// # let id = "/subscriptions/s-1/resourceGroups/g/providers/Microsoft.Toys/stores/s";
/// azure.set(id, json!({"properties": {"capacity": 0}}));
/// let spec = json!({"owner": {"name": "g"}, "capacity": 5});
/// let store = cluster.apply(&STORE, "s", &spec);
/// reconciler.reconcile(&store).await;
/// assert_eq!(cluster.message(&store), "the store is full");
/// # }
/// ```
#[async_trait]
pub trait PreReconciliationChecker: Send + Sync + 'static {
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
        next: Next<'_, PreCheck>,
    ) -> Result<PreCheck, ExtensionError>;
}

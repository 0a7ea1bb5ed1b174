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
///
/// ```
/// # use std::sync::Arc;
/// # use armature_arm::testing::{MemoryAzure, reconciler};
/// # use armature_reconcile::testing::{Journal, MemoryCluster};
/// # use armature_shapes::testing::kinds::{GROUP, STORE};
/// # use serde_json::json;
/// use armature_reconcile::extension::{
///     Context, ExtensionError, Next, PreCheck, PreReconciliationOwnerChecker, Registry,
/// };
/// use armature_shapes::resource::TypedObject;
/// use armature_shapes::testing::kinds::{HubGroup, HubStore};
///
/// /// Leaves stores alone while their group is in the wrong place.
/// struct AtHome;
///
/// #[async_trait::async_trait]
/// impl PreReconciliationOwnerChecker for AtHome {
///     type Hub = HubStore;
///     type Owner = HubGroup;
///
///     async fn check(
///         &self,
///         _: &Context,
///         group: &TypedObject<HubGroup>,
///         next: Next<'_, PreCheck>,
///     ) -> Result<PreCheck, ExtensionError> {
///         let status = group.status.as_ref();
///         match status.and_then(|status| status.location.as_deref()) {
///             Some("eastus") => next.call().await,
///             _ => Ok(PreCheck::Block("move the group to eastus".to_owned())),
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let cluster = Arc::new(MemoryCluster::new(Journal::default()));
/// # let azure = Arc::new(MemoryAzure::new(Journal::default(), "s-1"));
/// let extensions = Registry::builder().register_owner_checker(AtHome).build().expect("one for each point");
/// # let reconciler = reconciler(&cluster, &azure, extensions);
/// # reconciler.reconcile(&cluster.apply(&GROUP, "g", &json!({"location": "westus"}))).await;
/// let store = cluster.apply(&STORE, "s", &json!({"owner": {"name": "g"}}));
/// reconciler.reconcile(&store).await;
/// assert_eq!(cluster.condition(&store, "Ready"), "False/Warning/ReconciliationBlocked");
/// assert_eq!(cluster.message(&store), "move the group to eastus");
/// # }
/// ```
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

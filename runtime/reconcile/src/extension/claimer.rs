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
///
/// ```
/// # use std::sync::Arc;
/// # use armature_arm::testing::{MemoryAzure, reconciler};
/// # use armature_reconcile::testing::{Journal, MemoryCluster};
/// # use armature_shapes::testing::kinds::{GROUP, STORE};
/// # use serde_json::json;
/// use armature_reconcile::extension::{Claimer, Context, ExtensionError, Next, Registry};
/// use armature_reconcile::port::MetadataPatch;
/// use armature_shapes::resource::TypedObject;
/// use armature_shapes::testing::kinds::HubStore;
///
/// /// Labels stores with their tier.
/// struct Labelled;
///
/// #[async_trait::async_trait]
/// impl Claimer for Labelled {
///     type Hub = HubStore;
///
///     async fn claim(
///         &self,
///         _: &Context,
///         store: &TypedObject<HubStore>,
///         next: Next<'_, MetadataPatch>,
///     ) -> Result<MetadataPatch, ExtensionError> {
///         let mut patch = next.call().await?;
///         patch.labels.insert("tier".to_owned(), store.spec.tier.clone());
///         Ok(patch)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let cluster = Arc::new(MemoryCluster::new(Journal::default()));
/// # let azure = Arc::new(MemoryAzure::new(Journal::default(), "s-1"));
/// let extensions = Registry::builder().register_claimer(Labelled).build().expect("one for each point");
/// # let reconciler = reconciler(&cluster, &azure, extensions);
/// # reconciler.reconcile(&cluster.apply(&GROUP, "g", &json!({"location": "westus"}))).await;
/// let spec = json!({"owner": {"name": "g"}, "tier": "Hot"});
/// let store = cluster.apply(&STORE, "s", &spec);
/// reconciler.reconcile(&store).await;
/// let labels = cluster.object(&store).unwrap().metadata.labels.unwrap();
/// assert_eq!(labels["tier"], "Hot");
/// # }
/// ```
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

//! Whether an existing resource is worth an object.

use armature_shapes::kind::TypedKind;
use armature_shapes::resource::TypedObject;
use async_trait::async_trait;

use super::{Context, ExtensionError, Next};

/// Result of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Import {
    /// Write the object.
    Succeeded,
    /// Leave it out, and why: it is a default, built in or inherited.
    Skipped(String),
}

/// Decides whether a resource that exists in Azure is imported as an object.
///
/// Called by the import command, never by the reconciler, with the object that would be written. `next` imports
/// it.
///
/// ```
/// # use std::sync::Arc;
/// # use armature_azure::CredentialKey;
/// # use armature_arm::ArmAccess;
/// # use armature_reconcile::extension::Resolver;
/// # use armature_arm::testing::MemoryAzure;
/// # use armature_reconcile::testing::{Journal, MemoryCluster};
/// # use armature_shapes::testing::kinds::STORE;
/// # use serde_json::json;
/// use armature_reconcile::extension::{
///     Context, ExtensionError, Import, Importer, Next, Registry,
/// };
/// use armature_shapes::resource::{Kind, TypedObject};
/// use armature_shapes::testing::kinds::HubStore;
///
/// /// Every group has a store `default`, which nobody made.
/// struct NoDefault;
///
/// #[async_trait::async_trait]
/// impl Importer for NoDefault {
///     type Hub = HubStore;
///
///     async fn import(
///         &self,
///         _: &Context,
///         store: &TypedObject<HubStore>,
///         next: Next<'_, Import>,
///     ) -> Result<Import, ExtensionError> {
///         match store.metadata.name.as_deref() {
///             Some("default") => Ok(Import::Skipped("it is built in".to_owned())),
///             _ => next.call().await,
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let cluster = Arc::new(MemoryCluster::new(Journal::default()));
/// # let azure = Arc::new(MemoryAzure::new(Journal::default(), "s-1"));
/// # let context = Context {
/// #     resolver: Resolver::new(cluster.clone(), "default".to_owned()),
/// #     access: ArmAccess::new(azure, CredentialKey::Global).into(),
/// #     id: None,
/// #     api_version: "2020-01-01",
/// #     owner: None,
/// #     span: tracing::Span::none(),
/// #     cancellation: Default::default(),
/// # };
/// let extensions = Registry::builder().register_importer(NoDefault).build().expect("one for each point");
/// # let store = cluster.apply(&STORE, "default", &json!({"owner": {"name": "g"}}));
/// # let store = cluster.object(&store).unwrap();
/// let import = extensions.of(Kind(&STORE)).import(&context, &store).await;
/// assert_eq!(import.unwrap(), Import::Skipped("it is built in".to_owned()));
/// # }
/// ```
#[async_trait]
pub trait Importer: Send + Sync + 'static {
    /// Hub type of the kind.
    type Hub: TypedKind;

    /// Looks at the object.
    ///
    /// # Errors
    /// When it could not be found out; the import reports it and goes on with the next resource.
    async fn import(
        &self,
        context: &Context,
        object: &TypedObject<Self::Hub>,
        next: Next<'_, Import>,
    ) -> Result<Import, ExtensionError>;
}

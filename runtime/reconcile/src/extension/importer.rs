//! Whether an existing resource is worth an object.

use async_trait::async_trait;

use super::typed::typed;
use super::{Context, ExtensionError, Next, Points};
use armature_shapes::kind::TypedKind;
use armature_shapes::resource::{Object, TypedObject};

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

/// [`Importer`] for any kind.
#[async_trait]
pub(crate) trait Erased: Send + Sync {
    async fn import(
        &self,
        context: &Context,
        object: &Object,
        next: Next<'_, Import>,
    ) -> Result<Import, ExtensionError>;
}

#[async_trait]
impl<T: Importer> Erased for T {
    async fn import(
        &self,
        context: &Context,
        object: &Object,
        next: Next<'_, Import>,
    ) -> Result<Import, ExtensionError> {
        let object = typed::<T::Hub>(object)?;
        Importer::import(self, context, &object, next).await
    }
}

impl Points {
    /// Asks the kind's importer about an object; imports it where there is none.
    ///
    /// # Errors
    /// When it could not be found out.
    pub async fn import(
        &self,
        context: &Context,
        object: &Object,
    ) -> Result<Import, ExtensionError> {
        let next = Next::value(Import::Succeeded);
        match &self.importer {
            Some(importer) => importer.import(context, object, next).await,
            None => next.call().await,
        }
    }
}

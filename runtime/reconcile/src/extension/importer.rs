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

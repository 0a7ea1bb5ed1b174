//! Why types cannot be built.

use super::bounds::{DEEPEST, MOST_OBJECTS};
use crate::load::Source;

/// Why types could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypesError {
    /// A schema has a type that neither Swagger nor we know.
    #[error(
        "{at}: unknown type `{ty}`; expected object, array, string, integer, number or boolean"
    )]
    UnknownType {
        /// The schema.
        at: Source,
        /// What it says.
        ty: String,
    },
    /// A resource's body or answer is not an object.
    #[error("{at}: the schema of resource {kind} is not an object")]
    NotAnObject {
        /// The schema.
        at: Source,
        /// The resource.
        kind: String,
    },
    /// Two variants of a schema cannot be told apart.
    #[error(
        "{at}: `{value}` also means the variant at {first}; give each its own discriminator value"
    )]
    VariantsAlike {
        /// One variant.
        at: Source,
        /// The other.
        first: Source,
        /// Their value.
        value: String,
    },
    /// Schemas stand in each other too deep.
    #[error(
        "{at}: schemas are nested more than {DEEPEST} deep in resource {kind}; expected far less of any API"
    )]
    TooDeep {
        /// The schema at which the walk ended.
        at: Source,
        /// The resource.
        kind: String,
    },
    /// Schemas branch so that a resource has too many types.
    #[error(
        "{at}: resource {kind} has more than {MOST_OBJECTS} objects, each counted as often as schemas lead to it"
    )]
    TooManyObjects {
        /// The schema at which the walk ended.
        at: Source,
        /// The resource.
        kind: String,
    },
}

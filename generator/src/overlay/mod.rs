//! Facts that one spec takes from another, beside the documents: what was loaded stays as it was read.
//!
//! Here: the facts by the place that they are about ([`Overlay`]), and a set that is seen with them ([`Overlaid`]).
//! Whoever asks what a schema says, asks there. Not here: where such facts come from (`inherit`), and what follows from
//! them (`discover` for paths, `types` for schemas).

mod overlaid;

use std::collections::HashMap;

pub use overlaid::{Overlaid, Said};

use crate::load::{SchemaType, Source};
use crate::model::{ApiVersion, Rules, Verbs};

/// What other specs add to a set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay {
    /// By the place of a schema.
    pub schemas: HashMap<Source, Addition>,
    /// By the place of a path.
    pub paths: HashMap<Source, PathAddition>,
}

/// What is added to a schema. What it says itself counts first where nothing else is said here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Addition {
    /// Its members appear in the enclosing object.
    pub flatten: bool,
    /// A secret.
    pub secret: bool,
    /// It is an ARM resource.
    pub azure_resource: bool,
    /// Users set it, though it says that only Azure does.
    pub is_sent: bool,
    /// Azure answers it, though it says otherwise.
    pub is_answered: bool,
    /// Operations that may carry it, where it does not say.
    pub mutability: Vec<String>,
    /// Names of the item properties that identify an item, where it does not say.
    pub identifiers: Vec<String>,
    /// Name in place of its own.
    pub name: Option<String>,
    /// Type in place of its own.
    pub ty: Option<SchemaType>,
    /// Constraints in place of its own.
    pub rules: Option<Rules>,
    /// The same definition in the other spec.
    pub identity: Option<Source>,
    /// That definition where Azure answers with it, which may be another one.
    pub answer: Option<Source>,
    /// What of this its own spec does not say, in words.
    pub news: Vec<&'static str>,
    /// api-version of the other spec; none where ARM's common envelope told it.
    pub from: Option<ApiVersion>,
}

/// What is added to a path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathAddition {
    /// api-version of the other spec.
    pub from: ApiVersion,
    /// The same path in it.
    pub source: Source,
    /// Verbs beside GET and PUT, and what takes long.
    pub verbs: Verbs,
    /// Constraints of the name, where it is free.
    pub name: Option<Rules>,
}

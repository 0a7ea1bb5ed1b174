//! The document model: what any front end lowers to.
//!
//! A document is one spec file. References stay references (to a file and a pointer in it), so that each file is
//! lowered once, whichever set of files it becomes part of.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;

use crate::model::Rules;

/// Place in a spec file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    /// File, relative to the root of the spec tree, with `/` between its parts.
    pub file: Arc<str>,
    /// JSON pointer (RFC 6901) within the file.
    pub pointer: String,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}#{}", self.file, self.pointer)
    }
}

/// What a reference points at; same form as the place it stands at.
pub type Target = Source;

/// One spec file.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The file, relative to the root of the spec tree.
    pub file: Arc<str>,
    /// Api-version the file declares, where it does.
    pub api_version: Option<String>,
    /// Paths in the file's order.
    pub paths: Vec<Path>,
    /// Named schemas by JSON pointer, in the file's order.
    pub schemas: IndexMap<String, Schema>,
    /// Named parameters by JSON pointer.
    pub parameters: IndexMap<String, Parameter>,
    /// Every reference of the file: where it stands and what it points at.
    pub references: Vec<(Source, Target)>,
}

/// One path of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Template: `/subscriptions/{subscriptionId}/…`.
    pub template: String,
    /// Where it stands.
    pub source: Source,
    /// Parameters of every operation.
    pub parameters: Vec<Parameter>,
    /// Operations in the file's order.
    pub operations: Vec<Operation>,
}

impl Path {
    /// The operation with this verb.
    pub fn operation(&self, verb: Verb) -> Option<&Operation> {
        self.operations
            .iter()
            .find(|operation| operation.verb == verb)
    }
}

/// HTTP verb of an operation that matters to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// GET.
    Get,
    /// HEAD.
    Head,
    /// PUT.
    Put,
    /// PATCH.
    Patch,
    /// DELETE.
    Delete,
}

/// One operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// HTTP verb.
    pub verb: Verb,
    /// Own parameters; they add to those of the path and win over them.
    pub parameters: Vec<Parameter>,
    /// Schema of the body of each answer that has one, by status code.
    pub responses: Vec<(String, Schema)>,
    /// Answers only after the work is done elsewhere.
    pub long_running: bool,
}

impl Operation {
    /// Schema of the answer with this status code.
    pub fn response(&self, code: &str) -> Option<&Schema> {
        self.responses
            .iter()
            .find(|(known, _)| known == code)
            .map(|(_, schema)| schema)
    }
}

/// A parameter, or a reference to one.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Set when this is only a reference; nothing else means anything then.
    pub reference: Option<Target>,
    /// Where it stands.
    pub source: Source,
    /// Its name.
    pub name: String,
    /// Where its value goes.
    pub place: ParameterPlace,
    /// Schema of the value.
    pub schema: Schema,
}

/// Where the value of a parameter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterPlace {
    /// Into the path.
    Path,
    /// It is the body.
    Body,
    /// Anywhere else: query, header.
    Elsewhere,
}

/// A schema, or a reference to one with facts beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    /// Where it stands.
    pub source: Source,
    /// Its name, where it has one that its place does not end with.
    pub name: Option<String>,
    /// What it refers to. The facts below then add to the target's.
    pub reference: Option<Target>,
    /// Declared type, where there is one.
    pub ty: Option<SchemaType>,
    /// Own properties in order.
    pub properties: IndexMap<String, Schema>,
    /// Names of own or inherited properties that must be present.
    pub required: Vec<String>,
    /// Schemas whose content this one includes.
    pub all_of: Vec<Schema>,
    /// What other members an object may have.
    pub additional: Additional,
    /// Schema of an array's items.
    pub items: Option<Box<Schema>>,
    /// Known values of a string.
    pub values: Vec<String>,
    /// Name of the enum, where the spec gives one.
    pub enum_name: Option<String>,
    /// Values beyond the known ones may appear.
    pub extensible: bool,
    /// Name of the property that tells variants apart.
    pub discriminator: Option<String>,
    /// Value of that property which means this schema.
    pub discriminator_value: Option<String>,
    /// Its members appear in the enclosing object.
    pub flatten: bool,
    /// It is an ARM resource.
    pub azure_resource: bool,
    /// Set by Azure, never sent.
    pub read_only: bool,
    /// Sent and never answered: absent from the answer's types, too. OpenAPI says this by [`Self::mutability`], of
    /// members that one schema for both has.
    pub write_only: bool,
    /// A secret.
    pub secret: bool,
    /// Operations that may carry it (`create`, `read`, `update`); empty if the spec does not say.
    pub mutability: Vec<String>,
    /// Names of the item properties that identify an item of the array.
    pub identifiers: Vec<String>,
    /// Constraints.
    pub rules: Rules,
    /// What Azure takes where nothing is sent.
    pub default: Option<Value>,
    /// Prose.
    pub description: Option<String>,
}

impl Schema {
    /// Name of the definition: its own, else the last part of its pointer.
    pub(crate) fn definition_name(&self) -> &str {
        let place = || self.source.pointer.rsplit('/').next();
        self.name.as_deref().or_else(place).unwrap_or_default()
    }

    /// Whether it has a name of its own, rather than that of its place.
    pub(crate) fn is_definition(&self) -> bool {
        self.name.is_some() || self.source.pointer.matches('/').count() == 2
    }

    /// An empty schema that says nothing: any value.
    pub fn empty(source: Source) -> Self {
        Self {
            source,
            name: None,
            reference: None,
            ty: None,
            properties: IndexMap::new(),
            required: Vec::new(),
            all_of: Vec::new(),
            additional: Additional::Unsaid,
            items: None,
            values: Vec::new(),
            enum_name: None,
            extensible: false,
            discriminator: None,
            discriminator_value: None,
            flatten: false,
            azure_resource: false,
            read_only: false,
            write_only: false,
            secret: false,
            mutability: Vec::new(),
            identifiers: Vec::new(),
            rules: Rules::default(),
            default: None,
            description: None,
        }
    }
}

impl Schema {
    /// Schemas that stand directly within this one.
    pub(crate) fn inner(&self) -> impl Iterator<Item = &Schema> {
        let additional = match &self.additional {
            Additional::Of(inner) => Some(inner.as_ref()),
            _ => None,
        };
        self.properties
            .values()
            .chain(&self.all_of)
            .chain(self.items.as_deref())
            .chain(additional)
    }
}

/// Declared type of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaType {
    /// Object.
    Object,
    /// Array.
    Array,
    /// String.
    String,
    /// Integer.
    Integer,
    /// Number.
    Number,
    /// Boolean.
    Boolean,
    /// Raw bytes beside JSON; no part of a resource.
    File,
    /// A type that the format does not know. An error once a resource reaches it.
    Unknown(String),
}

/// What members an object may have beside its properties.
#[derive(Clone, Debug, PartialEq)]
pub enum Additional {
    /// The spec does not say.
    Unsaid,
    /// None.
    Forbidden,
    /// Any.
    Any,
    /// Any name, with values of this schema.
    Of(Box<Schema>),
}

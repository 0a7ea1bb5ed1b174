//! Types: what specs say about data, and what curation made of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::{LeftOut, Origin, TypeId};

/// All types of one api-version, or of hubs. `BTreeMap`, so that no pass depends on insertion order.
pub type TypeTable = BTreeMap<TypeId, TypeDef>;

/// A type of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeDef {
    /// An object with properties.
    Object(ObjectType),
    /// A string with known values.
    Enum(EnumType),
}

/// An object type. Spec and status sides are separate types from pass 3 on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectType {
    /// Properties in the spec's order.
    pub properties: Vec<Property>,
    /// Set when exactly one property is present, each standing for one variant of an ARM object.
    pub discriminated: Option<Discriminated>,
    /// What is left, its id, of a resource inside another one. Resource-like schemas that are plain parts of the
    /// resource around them are ordinary objects; `types::embedded` has the rule and what overrules it.
    pub arm_resource: bool,
    /// The spec's text about the type. Facts only are emitted by default.
    pub description: Option<String>,
    /// Spec file and JSON pointer of the schema this came from, for messages.
    pub source: String,
    /// Properties that passes left out, for explanations.
    pub left_out: Vec<LeftOut>,
    /// Name of that schema in the spec, if it has one: rules may speak of the type under it.
    pub definition: Option<String>,
}

/// The variants of an ARM object that a discriminator tells apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discriminated {
    /// Name in ARM of the property that tells: `kind`.
    pub property: String,
    /// Variants in the spec's order of definition.
    pub variants: Vec<VariantType>,
}

/// One variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantType {
    /// Value of the discriminator in ARM.
    pub value: String,
    /// Name (ours) of the property that holds the variant.
    pub property: String,
}

/// A property of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Name in Kubernetes. Starts as the name in ARM; references and renames change it.
    pub name: String,
    /// Where it is in ARM's JSON.
    pub place: ArmPlace,
    /// Type of the value.
    pub ty: TypeRef,
    /// Facts and choices about the property.
    pub meaning: Meaning,
    /// Must be present in the spec. Status sides are never required.
    pub required: bool,
    /// `readOnly`: never sent, absent from spec types.
    pub read_only: bool,
    /// Never returned by ARM.
    pub write_only: bool,
    /// Names no resource, whatever it looks like. Set by curation.
    pub free_text: bool,
    /// Settable on creation only (`x-ms-mutability` without `update`).
    pub create_only: bool,
    /// `x-ms-secret`.
    pub secret: bool,
    /// Constraints of the value itself.
    pub rules: Rules,
    /// Constraints of the innermost item of a list or map.
    pub item_rules: Rules,
    /// `x-ms-identifiers`: names of the item properties that identify an item.
    pub identifiers: Vec<String>,
    /// What ARM gets where the list or map is absent. Set by curation.
    pub absent: Absent,
    /// Name that other versions have for the property; the hub knows it by [`Self::name`]. Set by curation.
    pub was: Option<String>,
    /// In hub types: the storage version has no property of this name and type. Set by the hub pass.
    pub stashed: bool,
    /// What Azure takes where the spec has nothing, by its own word: a text, a number or a boolean. On the spec side alone.
    pub default: Option<Value>,
    /// The spec's text.
    pub description: Option<String>,
    /// Where it comes from and what made it what it is, for explanations.
    pub origin: Origin,
}

impl Property {
    /// A property at a place in ARM's JSON, without any further fact.
    pub fn new(name: impl Into<String>, arm: &[&str], ty: TypeRef) -> Self {
        let arm = arm.iter().map(|member| (*member).to_owned());
        Self::with_place(name, ArmPlace::At(arm.collect()), ty)
    }

    /// A property without any further fact.
    pub fn with_place(name: impl Into<String>, place: ArmPlace, ty: TypeRef) -> Self {
        Self {
            name: name.into(),
            place,
            ty,
            meaning: Meaning::Plain,
            required: false,
            read_only: false,
            write_only: false,
            free_text: false,
            create_only: false,
            secret: false,
            rules: Rules::default(),
            item_rules: Rules::default(),
            identifiers: Vec::new(),
            absent: Absent::Nothing,
            was: None,
            stashed: false,
            default: None,
            description: None,
            origin: Origin::default(),
        }
    }
}

/// Where a property is in ARM's JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArmPlace {
    /// Nowhere: it is between the user and the operator, as `azureName`, `owner`, `operatorSpec` and `conditions` are.
    Operator,
    /// Member names from the enclosing object down; `["properties", "accessTier"]` after flattening.
    At(Vec<String>),
    /// It is a variant, whose members are those of the enclosing object.
    Variant,
    /// It has what an object has beside its known members: names from the enclosing object down to that one.
    Further(Vec<String>),
}

impl ArmPlace {
    /// Member names from the enclosing object down; none where the property is, or is in, the enclosing object itself.
    pub fn path(&self) -> &[String] {
        match self {
            Self::At(path) | Self::Further(path) => path,
            Self::Operator | Self::Variant => &[],
        }
    }

    /// The same place in an object that is moved below these members.
    #[must_use]
    pub fn below(&self, above: &[String]) -> Self {
        let joined = |path: &[String]| above.iter().chain(path).cloned().collect();
        match self {
            Self::At(path) => Self::At(joined(path)),
            Self::Further(path) => Self::Further(joined(path)),
            Self::Operator | Self::Variant => self.clone(),
        }
    }
}

/// What ARM gets where a list or map is absent: providers differ in whether a missing one clears what they have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absent {
    /// Nothing.
    #[default]
    Nothing,
    /// `null`.
    Null,
    /// `[]` or `{}`.
    Empty,
}

/// What a property stands for beyond its type. `types` leaves [`Meaning::Plain`] except where a spec says more
/// (`format: arm-id`, `x-ms-azure-resource`); curation sets the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Meaning {
    /// Data.
    #[default]
    Plain,
    /// The spec says that the string is an ARM id. A proposal: curation turns it into a reference or settles
    /// that it stays a string.
    ArmId,
    /// Azure location.
    Location,
}

/// Type of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeRef {
    /// Boolean.
    Bool,
    /// Integer; format `int32`, `int64` or none.
    Integer(Option<String>),
    /// Number with a fraction.
    Number,
    /// String; its format is in [`Rules::format`].
    String,
    /// Any JSON.
    Json,
    /// An object or enum of the same table.
    Named(TypeId),
    /// List of.
    List(Box<TypeRef>),
    /// Map from string to.
    Map(Box<TypeRef>),
    /// ARM id in ARM, `{group, kind, name, armId}` in Kubernetes. Set by curation.
    Reference,
    /// As `Reference`, and takes a well-known name. Set by curation.
    WellKnownReference,
    /// Object of ARM id → `{}` in ARM, list of `{reference}` in Kubernetes (user-assigned identities).
    ArmIdKeyed,
    /// String in ARM, `{name, key}` of a Secret in Kubernetes. Set by curation.
    Secret,
    /// Map of strings in ARM, `{name}` of a Secret in Kubernetes. Set by curation.
    SecretMap,
    /// String in ARM, `{name, key}` of a ConfigMap in Kubernetes (the `…FromConfig` twin). Set by curation.
    ConfigMap(ConfigMapImport),
    /// A struct that every kind shares. Set by curation.
    Common(CommonType),
}

/// The structs of the operator's own that specs and statuses of every kind use (ASO behaviour §3.2, §3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommonType {
    /// Owner of a fixed kind.
    KnownResourceReference,
    /// Owner of any kind.
    ArbitraryOwnerReference,
    /// One condition of the status.
    Condition,
    /// An export by expression.
    DestinationExpression,
    /// Where a secret is written.
    SecretDestination,
    /// Where a value is written.
    ConfigMapDestination,
}

impl TypeRef {
    /// The named type at the heart of lists and maps, if there is one.
    pub fn named(&self) -> Option<&TypeId> {
        match self {
            Self::Named(id) => Some(id),
            Self::List(item) | Self::Map(item) => item.named(),
            _ => None,
        }
    }

    /// The same type with another one at the heart of its lists and maps.
    pub fn with_core(&self, core: TypeRef) -> TypeRef {
        match self {
            Self::List(item) => Self::List(Box::new(item.with_core(core))),
            Self::Map(item) => Self::Map(Box::new(item.with_core(core))),
            _ => core,
        }
    }
}

/// Types reachable from `roots`, the roots included; what the table lacks is left out.
pub fn reachable<'a>(
    types: &'a TypeTable,
    roots: impl IntoIterator<Item = &'a TypeId>,
) -> BTreeSet<TypeId> {
    let mut seen = BTreeSet::new();
    let mut pending = roots.into_iter().collect::<Vec<_>>();
    while let Some(id) = pending.pop() {
        let Some(definition) = types.get(id) else {
            continue;
        };
        if seen.insert(id.clone())
            && let TypeDef::Object(object) = definition
        {
            pending.extend(object.properties.iter().filter_map(|p| p.ty.named()));
        }
    }
    seen
}

/// Whether a value may or must come from a ConfigMap (ASO behaviour §3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigMapImport {
    /// `foo` and `fooFromConfig` exist side by side; setting both is refused.
    Optional,
    /// Only the ConfigMap form exists.
    Required,
}

/// A string with known values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnumType {
    /// Values in the spec's order, each once.
    pub values: Vec<String>,
    /// `x-ms-enum.modelAsString: true`: other values may appear.
    pub extensible: bool,
    /// The spec's text.
    pub description: Option<String>,
    /// Spec file and JSON pointer.
    pub source: String,
}

impl EnumType {
    /// Whether any string may stand there: the list is open, or there is none.
    pub fn is_open(&self) -> bool {
        self.extensible || self.values.is_empty()
    }
}

/// Constraints, as OpenAPI has them.
#[derive(Clone, Default, PartialEq)]
pub struct Rules {
    /// `format` of a string.
    pub format: Option<String>,
    /// Regular expression.
    pub pattern: Option<String>,
    /// Shortest string.
    pub min_length: Option<u64>,
    /// Longest string.
    pub max_length: Option<u64>,
    /// Smallest number.
    pub minimum: Option<f64>,
    /// Largest number.
    pub maximum: Option<f64>,
    /// Number that the value must be a multiple of.
    pub multiple_of: Option<f64>,
    /// Fewest items.
    pub min_items: Option<u64>,
    /// Most items.
    pub max_items: Option<u64>,
    /// Of a name in Azure: what ARM writes where the service's own name has a slash.
    pub slash: Option<String>,
}

/// As derived, but what few names have is not told of others: fingerprints of types are made of this text.
impl fmt::Debug for Rules {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("Rules");
        text.field("format", &self.format)
            .field("pattern", &self.pattern)
            .field("min_length", &self.min_length)
            .field("max_length", &self.max_length)
            .field("minimum", &self.minimum)
            .field("maximum", &self.maximum)
            .field("multiple_of", &self.multiple_of)
            .field("min_items", &self.min_items)
            .field("max_items", &self.max_items);
        if self.slash.is_some() {
            text.field("slash", &self.slash);
        }
        text.finish()
    }
}

//! The tables themselves: plain `'static` data without behaviour beyond lookups.

/// The type of one value, as a reference into static tables.
///
/// Every engine matches on this enum; adding a variant makes each of them decide what it means there.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// JSON boolean; `bool` in Rust.
    Bool,
    /// JSON integer; `i64` in Rust whatever the format.
    Integer(IntegerFormat),
    /// JSON number with a fraction; `f64` in Rust.
    Number,
    /// JSON string; `String` in Rust. Formats and patterns are in the field's [`Rules`].
    String,
    /// Any JSON, kept as it is; [`super::Json`] in Rust.
    Json,
    /// A string with known values. Values outside the table are kept, because Azure adds members.
    Enum(&'static EnumShape),
    /// A struct with a shape; `Box<T>` as a field, `T` as an item.
    Struct(&'static StructShape),
    /// `Vec<T>` in Rust.
    List(&'static ListShape),
    /// `BTreeMap<String, T>` in Rust.
    Map(&'static MapShape),
}

/// Width of an integer as the spec states it (OpenAPI `format`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerFormat {
    /// No `format` in the spec.
    Plain,
    /// `format: int32`.
    Int32,
    /// `format: int64`.
    Int64,
}

/// The shape of one struct.
#[derive(Debug)]
pub struct StructShape {
    /// Name of the Rust type, for messages.
    pub name: &'static str,
    /// Fields in declaration order. Names are unique.
    pub fields: &'static [Field],
    /// What the struct stands for, when it is more than its fields.
    pub semantic: Semantic,
    /// Set when exactly one of the fields must be present, each standing for one discriminated variant.
    pub one_of: Option<OneOf>,
    /// The spec's own text, by JSON name of the field; about the struct itself under the empty name. Empty unless the
    /// generator was asked for it: facts are enough for every engine, and prose is most of the size of a CRD.
    pub descriptions: &'static [(&'static str, &'static str)],
}

impl StructShape {
    /// The spec's text about a field, or about the struct under the empty name.
    pub fn description(&self, name: &str) -> Option<&'static str> {
        let mut texts = self.descriptions.iter();
        texts.find(|(of, _)| *of == name).map(|(_, text)| *text)
    }

    /// The field with this JSON name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// Structs whose JSON in Kubernetes differs in kind from their JSON in ARM. Engines switch on this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantic {
    /// An ordinary struct: an object here and an object in ARM.
    Plain,
    /// `{group, kind, name, armId}` here, an ARM id string in ARM (ASO behaviour §3.3).
    Reference,
    /// A reference that also takes `wellKnownName` (ASO behaviour §3.3).
    WellKnownReference,
    /// `{name, key}` of a Kubernetes Secret here, the secret's value in ARM.
    SecretReference,
    /// `{name}` of a Kubernetes Secret here, a map of all its keys in ARM.
    SecretMapReference,
    /// `{name, key}` of a ConfigMap here, the value in ARM.
    ConfigMapReference,
    /// One item `{reference}` of a list here, one `"<ARM id>": {}` member of an object in ARM
    /// (ASO's `UserAssignedIdentityDetails`, ASO behaviour §3.5).
    ArmIdKeyed,
}

/// A struct of which exactly one field is set: ARM's discriminated object (ASO behaviour §3.5).
///
/// In ARM the variant's members sit directly in the object, beside the discriminator.
#[derive(Clone, Copy, Debug)]
pub struct OneOf {
    /// JSON name in ARM of the discriminator, for example `kind`.
    pub discriminator: &'static str,
    /// The variants, in field order.
    pub variants: &'static [Variant],
}

/// One variant of a [`OneOf`].
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Value of the discriminator in ARM, for example `ReadWrite`.
    pub value: &'static str,
    /// JSON name of the field that holds the variant, for example `readWriteDatabase`.
    pub field: &'static str,
}

/// A string type with known values.
#[derive(Debug)]
pub struct EnumShape {
    /// Name of the Rust type, for messages.
    pub name: &'static str,
    /// Known values in the spec's order.
    pub values: &'static [&'static str],
    /// No other value may stand there. Most lists are open: Azure goes past them without a new api-version.
    pub is_closed: bool,
}

impl EnumShape {
    /// The only values that may stand there; `None` where any text may.
    pub fn only(&self) -> Option<&'static [&'static str]> {
        (self.is_closed && !self.values.is_empty()).then_some(self.values)
    }

    /// The known value that equals `text` in any casing, or `text` itself. Manifests and services are both
    /// free with casing (ASO behaviour §3.5).
    pub fn canonical<'a>(&self, text: &'a str) -> &'a str {
        let mut known = self.values.iter();
        known
            .find(|known| known.eq_ignore_ascii_case(text))
            .map_or(text, |known| known)
    }
}

/// A list: the type of its items.
#[derive(Debug)]
pub struct ListShape {
    /// Type of each item.
    pub item: Type,
}

/// A map with string keys: the type of its values.
#[derive(Debug)]
pub struct MapShape {
    /// Type of each value.
    pub value: Type,
}

/// One field of a struct.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// JSON name in Kubernetes.
    pub name: &'static str,
    /// Where the value sits in ARM's JSON, relative to the object of the enclosing struct.
    pub arm: ArmPlace,
    /// Type of the value.
    pub ty: Type,
    /// Yes-or-no facts.
    pub flags: Flags,
    /// Constraints on the value.
    pub rules: &'static Rules,
    /// Constraints on the innermost items of a list or map.
    pub item_rules: &'static Rules,
    /// Names of the item fields that identify an item (`x-ms-identifiers`); empty when order is the identity.
    pub identifiers: &'static [&'static str],
}

/// Where a field's value sits in ARM's JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArmPlace {
    /// Nowhere: it is between the user and the operator, as `owner`, `operatorSpec` and `conditions` are.
    Operator,
    /// Member names from the enclosing object down, for example `["properties", "accessTier"]`.
    At(&'static [&'static str]),
    /// It is a variant of a [`OneOf`], whose members are those of the enclosing object.
    Variant,
    /// It is a map of what an object has beside its known members (`additionalProperties` beside `properties`): member
    /// names from the enclosing object down to that one.
    Further(&'static [&'static str]),
}

/// Yes-or-no facts about a field, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(u16);

impl Flags {
    /// No flag set.
    pub const NONE: Flags = Flags(0);
    /// Must be present in Kubernetes.
    pub const REQUIRED: Flags = Flags(1);
    /// ARM sets it; never sent (`readOnly`).
    pub const READ_ONLY: Flags = Flags(1 << 1);
    /// ARM never returns it (`x-ms-mutability` without `read`, `x-ms-secret`, Bicep's write-only flag).
    pub const WRITE_ONLY: Flags = Flags(1 << 2);
    /// Can be set only on creation (`x-ms-mutability` without `update`).
    pub const CREATE_ONLY: Flags = Flags(1 << 3);
    /// A secret: never logged, never in a message.
    pub const SECRET: Flags = Flags(1 << 4);
    /// An ARM id in ARM: compared without regard to case.
    pub const ARM_ID: Flags = Flags(1 << 5);
    /// An Azure location: compared without regard to case and spaces.
    pub const LOCATION: Flags = Flags(1 << 6);
    /// Sent to ARM also when empty or absent, as `[]` or `{}` (ASO's `$payloadType: explicitEmptyCollections`).
    pub const EXPLICIT_EMPTY: Flags = Flags(1 << 7);
    /// Sent to ARM also when empty, and as `null` when absent (ASO's `$payloadType: explicitCollections`).
    pub const EXPLICIT: Flags = Flags(1 << 8);
    /// In the hub only: the storage version has no field of this name or type, so the stored form keeps the
    /// value in the enclosing object's `$propertyBag` (ASO behaviour §3.2).
    pub const STASHED: Flags = Flags(1 << 9);
    /// Text that may look like an ARM id and makes Azure use nothing: paths of HTTP, templates, filters. Said in the group's
    /// curation, with a reason.
    pub const FREE_TEXT: Flags = Flags(1 << 10);

    /// Both sets together.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// Whether every flag of `other` is set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Constraints on a scalar, string or collection. `None` everywhere means "anything of the type".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// OpenAPI `format` of a string (`date-time`, `uuid`, …).
    pub format: Option<&'static str>,
    /// Regular expression (RE2 syntax, checked by the generator).
    pub pattern: Option<&'static str>,
    /// Shortest string, in characters.
    pub min_length: Option<u64>,
    /// Longest string, in characters.
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
    pub slash: Option<&'static str>,
}

impl Rules {
    /// No constraint.
    pub const NONE: Rules = Rules {
        format: None,
        pattern: None,
        min_length: None,
        max_length: None,
        minimum: None,
        maximum: None,
        multiple_of: None,
        min_items: None,
        max_items: None,
        slash: None,
    };
}

//! The elements of a `types.json`, as they stand in the file.

use indexmap::IndexMap;
use serde::Deserialize;

use crate::load::members::unique;

/// One element of the array.
#[derive(Deserialize)]
#[serde(tag = "$type")]
pub(super) enum RawType {
    #[serde(rename = "AnyType")]
    Any,
    #[serde(rename = "NullType")]
    Null,
    #[serde(rename = "BooleanType")]
    Boolean,
    #[serde(rename = "IntegerType", rename_all = "camelCase")]
    Integer {
        min_value: Option<f64>,
        max_value: Option<f64>,
    },
    #[serde(rename = "StringType")]
    String(RawString),
    #[serde(rename = "StringLiteralType")]
    StringLiteral { value: String },
    #[serde(rename = "UnionType")]
    Union { elements: Vec<Reference> },
    #[serde(rename = "ArrayType")]
    Array(RawArray),
    #[serde(rename = "ObjectType")]
    Object(RawObject),
    #[serde(rename = "DiscriminatedObjectType")]
    DiscriminatedObject(RawDiscriminated),
    #[serde(rename = "ResourceType")]
    Resource(RawResource),
    /// Functions such as `listKeys`: no part of a resource.
    #[serde(rename = "ResourceFunctionType")]
    ResourceFunction,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawString {
    #[serde(default)]
    pub sensitive: bool,
    pub min_length: Option<u64>,
    pub max_length: Option<u64>,
    pub pattern: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawArray {
    pub item_type: Reference,
    pub min_length: Option<u64>,
    pub max_length: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawObject {
    pub name: String,
    #[serde(deserialize_with = "unique")]
    pub properties: IndexMap<String, RawProperty>,
    pub additional_properties: Option<Reference>,
    #[serde(default)]
    pub sensitive: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawDiscriminated {
    pub name: String,
    pub discriminator: String,
    #[serde(deserialize_with = "unique")]
    pub base_properties: IndexMap<String, RawProperty>,
    #[serde(deserialize_with = "unique")]
    pub elements: IndexMap<String, Reference>,
}

/// A resource type in an api-version. Scopes are bits, see [`super::paths`].
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawResource {
    /// `Microsoft.KeyVault/vaults@2023-07-01`.
    pub name: String,
    pub body: Reference,
    pub readable_scopes: u32,
    pub writable_scopes: u32,
}

#[derive(Deserialize)]
pub(super) struct RawProperty {
    #[serde(rename = "type")]
    pub ty: Reference,
    pub flags: u32,
    pub description: Option<String>,
}

impl RawProperty {
    const REQUIRED: u32 = 1;
    const READ_ONLY: u32 = 2;
    const WRITE_ONLY: u32 = 4;
    // 8 asks that the value is known when a deployment starts, which says nothing about the resource.
    const IDENTIFIER: u32 = 16;

    /// Must be present.
    pub fn is_required(&self) -> bool {
        self.flags & Self::REQUIRED != 0
    }

    /// Set by Azure.
    pub fn is_read_only(&self) -> bool {
        self.flags & Self::READ_ONLY != 0
    }

    /// Never returned by Azure.
    pub fn is_write_only(&self) -> bool {
        self.flags & Self::WRITE_ONLY != 0
    }

    /// Tells the object from others of its list.
    pub fn is_identifier(&self) -> bool {
        self.flags & Self::IDENTIFIER != 0
    }
}

/// `{"$ref": "#/N"}`: the element with index N.
#[derive(Clone, Deserialize)]
pub(super) struct Reference {
    #[serde(rename = "$ref")]
    pub text: String,
}

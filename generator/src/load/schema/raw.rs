//! A schema as it stands in a file: what Swagger 2.0 and OpenAPI 3.0 write alike, with Azure's `x-ms-*` extensions.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use crate::load::members::unique;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::load) struct RawSchema {
    #[serde(rename = "$ref")]
    pub reference: Option<String>,
    #[serde(rename = "type")]
    pub ty: Option<String>,
    pub format: Option<String>,
    pub description: Option<String>,
    #[serde(deserialize_with = "unique")]
    pub properties: IndexMap<String, RawSchema>,
    pub required: Vec<String>,
    #[serde(rename = "allOf")]
    pub all_of: Vec<RawSchema>,
    #[serde(rename = "additionalProperties")]
    pub additional: Option<RawAdditional>,
    pub items: Option<Box<RawSchema>>,
    pub default: Option<Value>,
    #[serde(rename = "enum")]
    pub values: Option<Vec<Value>>,
    pub discriminator: Option<String>,
    #[serde(rename = "readOnly")]
    pub read_only: bool,
    /// Swagger 2.0 has no word for it.
    #[serde(skip)]
    pub write_only: bool,
    pub pattern: Option<String>,
    #[serde(rename = "minLength")]
    pub min_length: Option<u64>,
    #[serde(rename = "maxLength")]
    pub max_length: Option<u64>,
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    #[serde(rename = "multipleOf")]
    pub multiple_of: Option<f64>,
    #[serde(rename = "minItems")]
    pub min_items: Option<u64>,
    #[serde(rename = "maxItems")]
    pub max_items: Option<u64>,
    #[serde(rename = "x-ms-enum")]
    pub ms_enum: Option<MsEnum>,
    #[serde(rename = "x-ms-client-flatten")]
    pub flatten: bool,
    #[serde(rename = "x-ms-discriminator-value")]
    pub discriminator_value: Option<String>,
    #[serde(rename = "x-ms-azure-resource")]
    pub azure_resource: bool,
    #[serde(rename = "x-ms-mutability")]
    pub mutability: Vec<String>,
    #[serde(rename = "x-ms-secret")]
    pub secret: bool,
    #[serde(rename = "x-ms-identifiers")]
    pub identifiers: Vec<String>,
}

impl RawSchema {
    /// Whether it says nothing about the value beside its `allOf`.
    pub(super) fn says_no_more(&self) -> bool {
        matches!(self.ty.as_deref(), None | Some("object"))
            && self.reference.is_none()
            && self.properties.is_empty()
            && self.required.is_empty()
            && self.additional.is_none()
            && self.discriminator.is_none()
            && self.values.as_ref().is_none_or(Vec::is_empty)
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(in crate::load) enum RawAdditional {
    Flag(bool),
    Schema(Box<RawSchema>),
}

#[derive(Deserialize)]
pub(in crate::load) struct MsEnum {
    pub name: Option<String>,
    #[serde(default, rename = "modelAsString")]
    pub model_as_string: bool,
}

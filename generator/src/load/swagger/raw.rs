//! The parts of Swagger 2.0 that matter here, as they stand in a file.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub(super) struct Swagger {
    pub info: Option<Info>,
    #[serde(default)]
    pub paths: IndexMap<String, PathItem>,
    #[serde(default)]
    pub definitions: IndexMap<String, RawSchema>,
    #[serde(default)]
    pub parameters: IndexMap<String, RawParameter>,
}

#[derive(Deserialize)]
pub(super) struct Info {
    pub version: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct PathItem {
    pub get: Option<RawOperation>,
    pub head: Option<RawOperation>,
    pub put: Option<RawOperation>,
    pub patch: Option<RawOperation>,
    pub delete: Option<RawOperation>,
    #[serde(default)]
    pub parameters: Vec<RawParameter>,
}

#[derive(Deserialize)]
pub(super) struct RawOperation {
    #[serde(default)]
    pub parameters: Vec<RawParameter>,
    #[serde(default)]
    pub responses: IndexMap<String, Response>,
    #[serde(default, rename = "x-ms-long-running-operation")]
    pub long_running: bool,
}

#[derive(Deserialize)]
pub(super) struct Response {
    pub schema: Option<RawSchema>,
}

#[derive(Deserialize)]
pub(super) struct RawParameter {
    #[serde(rename = "$ref")]
    pub reference: Option<String>,
    pub name: Option<String>,
    #[serde(rename = "in")]
    pub place: Option<String>,
    pub schema: Option<RawSchema>,
    // A parameter outside the body carries its schema inline; `required` is a flag there and of no interest.
    #[serde(rename = "type")]
    pub ty: Option<String>,
    pub format: Option<String>,
    #[serde(rename = "enum")]
    pub values: Option<Vec<Value>>,
    pub pattern: Option<String>,
    #[serde(rename = "minLength")]
    pub min_length: Option<u64>,
    #[serde(rename = "maxLength")]
    pub max_length: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RawSchema {
    #[serde(rename = "$ref")]
    pub reference: Option<String>,
    #[serde(rename = "type")]
    pub ty: Option<String>,
    pub format: Option<String>,
    pub description: Option<String>,
    pub properties: IndexMap<String, RawSchema>,
    pub required: Vec<String>,
    #[serde(rename = "allOf")]
    pub all_of: Vec<RawSchema>,
    #[serde(rename = "additionalProperties")]
    pub additional: Option<RawAdditional>,
    pub items: Option<Box<RawSchema>>,
    #[serde(rename = "enum")]
    pub values: Option<Vec<Value>>,
    pub discriminator: Option<String>,
    #[serde(rename = "readOnly")]
    pub read_only: bool,
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

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum RawAdditional {
    Flag(bool),
    Schema(Box<RawSchema>),
}

#[derive(Deserialize)]
pub(super) struct MsEnum {
    pub name: Option<String>,
    #[serde(default, rename = "modelAsString")]
    pub model_as_string: bool,
}

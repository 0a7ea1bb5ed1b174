//! The parts of Swagger 2.0 that matter here, as they stand in a file.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use crate::load::members::unique;
use crate::load::schema::RawSchema;

#[derive(Deserialize)]
pub(super) struct Swagger {
    pub info: Option<Info>,
    #[serde(default, deserialize_with = "unique")]
    pub paths: IndexMap<String, PathItem>,
    #[serde(default, deserialize_with = "unique")]
    pub definitions: IndexMap<String, RawSchema>,
    #[serde(default, deserialize_with = "unique")]
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

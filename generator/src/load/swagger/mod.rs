//! The Swagger 2.0 front end: one JSON file → [`Document`].
//!
//! Here: our own small model of the parts of Swagger 2.0 and of Azure's `x-ms-*` extensions that matter to
//! resources ([`raw`]), and its lowering ([`lower`]). Everything else in a file is skipped unread.

mod lower;
mod raw;

use super::json::broken;
use super::{Document, LoadError};

/// Parses and lowers one file.
pub(super) fn document(file: &str, text: &[u8]) -> Result<Document, LoadError> {
    let raw: raw::Swagger = serde_json::from_slice(text).map_err(|error| broken(file, &error))?;
    lower::lower(file, raw)
}

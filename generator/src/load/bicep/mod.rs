//! The Bicep front end: one `types.json` → [`Document`].
//!
//! Such a file describes the resource types of one provider in one api-version as Bicep knows them: a JSON array whose
//! elements refer to each other by index. Here: the elements as they stand ([`raw`]), their lowering to schemas
//! ([`lower`]) and to the paths that the resource types stand for ([`paths`]), so that all passes after `load` run as
//! they do on OpenAPI. Not here: what such files do not say (verbs beside GET and PUT, flattening, formats of strings).

mod lower;
mod paths;
mod raw;

use super::json::broken;
use super::{Document, LoadError};

/// Parses and lowers one file.
pub(super) fn document(file: &str, text: &[u8]) -> Result<Document, LoadError> {
    let types: Vec<raw::RawType> =
        serde_json::from_slice(text).map_err(|error| broken(file, &error))?;
    lower::lower(file, &types)
}

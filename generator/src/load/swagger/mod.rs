//! The Swagger 2.0 front end: one JSON file → [`Document`].
//!
//! Here: our own small model of the parts of Swagger 2.0 and of Azure's `x-ms-*` extensions that matter to
//! resources ([`raw`]), and its lowering ([`lower`]). Everything else in a file is skipped unread.

mod lower;
mod raw;

use super::{Document, LoadError};

/// Parses and lowers one file.
pub(super) fn document(file: &str, text: &[u8]) -> Result<Document, LoadError> {
    let raw: raw::Swagger =
        serde_json::from_slice(text).map_err(|error| LoadError::BrokenJson {
            file: file.to_owned(),
            line: error.line(),
            column: error.column(),
            reason: plain(&error),
        })?;
    if raw.swagger.as_deref() != Some("2.0") {
        return Err(LoadError::UnknownFormat {
            file: file.to_owned(),
        });
    }
    lower::lower(file, raw)
}

/// The parser's message without the position that it appends; we report that by itself.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

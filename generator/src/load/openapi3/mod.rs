//! The OpenAPI 3.0 front end: one JSON file → [`Document`].
//!
//! Files are parsed with the `openapiv3` crate. Here: the check that tells where a file is wrong ([`check`]), schemas
//! brought into the form that Swagger 2.0 has too ([`schema`]), variants as OpenAPI 3 names them ([`variants`]), and
//! the lowering of paths and components ([`lower`]). Not here: the lowering of schemas (`load::schema`).

mod check;
mod lower;
mod schema;
mod variants;

use std::sync::Arc;

use serde_json::Value;

use super::json::broken;
use super::schema::child;
use super::{Document, LoadError, Source};

/// Parses and lowers one file.
pub(super) fn document(file: &str, text: &[u8]) -> Result<Document, LoadError> {
    let mut value: Value = serde_json::from_slice(text).map_err(|error| broken(file, &error))?;
    let version = match &value["openapi"] {
        Value::String(version) => version.clone(),
        other => other.to_string(),
    };
    if version != "3.0" && !version.starts_with("3.0.") {
        return Err(LoadError::UnsupportedVersion {
            file: file.to_owned(),
            version,
        });
    }
    let top = Source {
        file: Arc::from(file),
        pointer: String::new(),
    };
    check::check(&mut value, &top)?;
    let parsed = serde_json::from_value(value).map_err(|error| invalid(top, error))?;
    lower::lower(file, parsed)
}

/// The error for an object that is not what OpenAPI asks for.
fn invalid(at: Source, reason: impl ToString) -> LoadError {
    LoadError::Invalid {
        at,
        reason: reason.to_string(),
    }
}

/// The member `name` of what stands at `at`.
fn inside(at: &Source, name: &str) -> Source {
    Source {
        file: Arc::clone(&at.file),
        pointer: child(&at.pointer, name),
    }
}

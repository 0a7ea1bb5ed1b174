//! From the stored object to the hub type that extensions are written on.

use serde_json::Value;
use serde_json::value::RawValue;

use super::ExtensionError;
use crate::kind::TypedKind;
use crate::resource::{Object, TypedObject};

/// The object in its kind's hub type.
///
/// # Errors
/// [`ExtensionError::WrongKind`] when it is of another kind, [`ExtensionError::Unreadable`] when it does not
/// fit its kind.
pub fn typed<H: TypedKind>(object: &Object) -> Result<TypedObject<H>, ExtensionError> {
    let (expected, found) = (H::KIND, object.kind.0);
    if (expected.group, expected.kind) != (found.group, found.kind) {
        return Err(ExtensionError::WrongKind {
            expected: format!("{}.{}", expected.kind, expected.group),
            found: object.key().to_string(),
        });
    }
    let unreadable = |message: String| ExtensionError::Unreadable {
        object: object.key().to_string(),
        message,
    };
    let parse = |raw: &Option<Box<RawValue>>, field: &str| {
        raw.as_deref()
            .map(|text| serde_json::from_str::<Value>(text.get()))
            .transpose()
            .map_err(|error| unreadable(format!("{field}: {error}")))
    };
    let spec = parse(&object.spec, "spec")?;
    let status = parse(&object.status, "status")?;
    TypedObject::from_parts(object.metadata.clone(), spec.as_ref(), status.as_ref())
        .map_err(|error| unreadable(error.to_string()))
}

//! From the stored object to the hub type that extensions are written on.

use armature_shapes::kind::TypedKind;
use armature_shapes::resource::{Object, TypedObject};

use super::ExtensionError;

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
    TypedObject::from_object(object).map_err(|error| ExtensionError::Unreadable {
        object: object.key().to_string(),
        message: error.to_string(),
    })
}

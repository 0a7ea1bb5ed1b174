//! Paths of properties from a root down, as curation files write them.

use crate::curation::hint;
use crate::model::{Property, TypeDef, TypeId, Version};

/// The properties on a path, the root's first.
///
/// # Errors
/// Where it ends, the missing name and what to do, to be read after the name of what the path begins at.
pub(super) fn walk<'v>(
    version: &'v Version,
    root: &'v TypeId,
    path: &[&str],
) -> Result<Vec<&'v Property>, String> {
    let mut current = Some(root);
    let mut walked = Vec::new();
    for name in path {
        let object = match current.and_then(|current| version.types.get(current)) {
            Some(TypeDef::Object(object)) => Some(object),
            _ => None,
        };
        let properties = || object.iter().flat_map(|object| &object.properties);
        let Some(property) = properties().find(|property| property.name == **name) else {
            let known = properties().map(|property| property.name.as_str());
            return Err(format!(
                "has no `{name}` in `{}`; {}",
                path.join("."),
                hint(name, known)
            ));
        };
        walked.push(property);
        current = property.ty.named();
    }
    Ok(walked)
}

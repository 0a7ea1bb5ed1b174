//! What of a kind cannot change.

use armature_runtime::kind::{KindInfo, OwnerRule};
use armature_runtime::shape::{Flags, StructShape};

use super::wording;

/// What the API server refuses to change, and what Azure lets be set on creation only.
pub fn cannot_change(kind: &KindInfo, spec: &'static StructShape) -> Vec<String> {
    let mut found = Vec::new();
    if spec.field("azureName").is_some() {
        found.push("azureName".to_owned());
    }
    if kind.owner != OwnerRule::None {
        found.push("owner".to_owned());
    }
    let mut open = Vec::new();
    once(spec, "", &mut open, &mut found);
    found
}

/// Whether a property of the spec is one of those: nobody can change it, nor what is below it.
pub fn is_fixed(kind: &KindInfo, spec: &'static StructShape, path: &str) -> bool {
    let fixed = cannot_change(kind, spec);
    fixed.iter().any(|fixed| {
        let rest = path.strip_prefix(fixed.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

fn once(
    shape: &'static StructShape,
    above: &str,
    open: &mut Vec<&'static str>,
    found: &mut Vec<String>,
) {
    // A struct that holds itself says nothing new.
    if open.contains(&shape.name) {
        return;
    }
    open.push(shape.name);
    for field in shape.fields {
        let path = format!("{above}{}", field.name);
        let is_place = above.is_empty() && field.name == "location";
        if field.flags.has(Flags::CREATE_ONLY) || (is_place && field.flags.has(Flags::LOCATION)) {
            found.push(path);
        } else if let Some(below) = wording::inner(field.ty) {
            once(below, &format!("{path}."), open, found);
        }
    }
    open.pop();
}

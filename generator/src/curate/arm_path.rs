//! Paths in ARM's schema from a root down, as rules for single values have them: `properties.rules[].value`.

use crate::curation::hint;
use crate::model::{ArmPlace, ObjectType, TypeDef, TypeId, TypeRef, Version};

/// Stands for the items of a list and the entries of a map.
const ITEM: &str = "[]";

/// Where a path ends too early.
struct Missing {
    /// How many steps are left.
    left: usize,
    /// The step that is not there.
    step: String,
    /// What is there.
    known: Vec<String>,
}

/// Whether the schema has the path.
///
/// # Errors
/// Where it ends, and what to do.
pub(super) fn check(version: &Version, root: &TypeId, path: &str) -> Result<(), String> {
    let steps = steps(path);
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    named(version, root, &steps).map_err(|missing| {
        if missing.known == [ITEM] {
            return format!(
                "`{}` is not there: write `[]` for the items of a list and the entries of a map",
                missing.step
            );
        }
        let known = missing.known.iter().map(String::as_str);
        format!(
            "`{}` is not there: {}",
            missing.step,
            hint(&missing.step, known)
        )
    })
}

fn steps(path: &str) -> Vec<String> {
    let parts = path.split('.').flat_map(|part| {
        let name = part.trim_end_matches(ITEM);
        let items = (part.len() - name.len()) / ITEM.len();
        std::iter::once(name).chain(std::iter::repeat_n(ITEM, items))
    });
    parts.map(str::to_owned).collect()
}

fn named(version: &Version, id: &TypeId, steps: &[&str]) -> Result<(), Missing> {
    match version.types.get(id) {
        Some(TypeDef::Object(object)) => object_has(version, object, steps),
        _ if steps.is_empty() => Ok(()),
        _ => Err(missing(steps, Vec::new())),
    }
}

fn object_has(version: &Version, object: &ObjectType, steps: &[&str]) -> Result<(), Missing> {
    let [first, ..] = steps else {
        return Ok(());
    };
    let discriminator = object.discriminated.as_ref().map(|it| it.property.as_str());
    if discriminator == Some(*first) && steps.len() == 1 {
        return Ok(());
    }
    let known = discriminator.map(str::to_owned).into_iter().collect();
    let mut furthest = missing(steps, known);
    for property in &object.properties {
        let path = property.place.path();
        let common = path
            .iter()
            .zip(steps)
            .take_while(|(one, other)| one == *other);
        let common = common.count();
        let result = match &property.place {
            ArmPlace::Operator => continue,
            ArmPlace::Variant => value_has(version, &property.ty, steps),
            _ if common < path.len() => Err(missing(&steps[common..], vec![path[common].clone()])),
            _ => value_has(version, &property.ty, &steps[common..]),
        };
        match result {
            Ok(()) => return Ok(()),
            Err(other) if other.left < furthest.left => furthest = other,
            Err(other) if other.left == furthest.left => furthest.known.extend(other.known),
            Err(_) => {}
        }
    }
    Err(furthest)
}

fn value_has(version: &Version, ty: &TypeRef, steps: &[&str]) -> Result<(), Missing> {
    match (ty, steps) {
        (_, []) => Ok(()),
        (TypeRef::List(item) | TypeRef::Map(item), [ITEM, rest @ ..]) => {
            value_has(version, item, rest)
        }
        // An entry by its key.
        (TypeRef::Map(item), [_, rest @ ..]) => value_has(version, item, rest),
        (TypeRef::List(_), steps) => Err(missing(steps, vec![ITEM.to_owned()])),
        (TypeRef::Named(id), steps) => named(version, id, steps),
        // Whatever stands in an id's place.
        (TypeRef::Reference | TypeRef::WellKnownReference, ["id"]) => Ok(()),
        (_, steps) => Err(missing(steps, Vec::new())),
    }
}

fn missing(steps: &[&str], known: Vec<String>) -> Missing {
    Missing {
        left: steps.len(),
        step: steps.first().copied().unwrap_or_default().to_owned(),
        known,
    }
}

//! What an answer of Azure says that a PUT could say as well, and a body does not.

use std::collections::BTreeMap;

use armature_runtime::kind::VersionInfo;
use armature_runtime::shape::arm_json::member;
use armature_runtime::shape::arm_tree::ArmTree;
use armature_runtime::shape::path::Path;
use armature_runtime::shape::{Field, Flags, Semantic, StructShape, Type, integer};
use serde_json::{Map, Value};

/// Members of an answer that name the resource.
const IDENTITY: [&str; 3] = ["id", "name", "type"];

/// Places in the schema where the answer has a value that can be written, and the body has it not or has another one: with
/// the answer's values where the body has none, else with null.
pub fn missing(
    version: &VersionInfo,
    answer: &Value,
    body: &Value,
) -> BTreeMap<String, Vec<Value>> {
    let mut places = BTreeMap::new();
    if let (Value::Object(answer), body) = (answer, body.as_object()) {
        within(version.spec, answer, body, &Path::Root(""), &mut places);
    }
    for name in IDENTITY {
        places.remove(name);
    }
    for carried in version.keep_unknown {
        // A PUT carries those items of the list that Azure has and the spec does not name.
        places.remove(&carried.join("."));
    }
    places
}

type Places<'p> = &'p mut BTreeMap<String, Vec<Value>>;

fn within(
    shape: &'static StructShape,
    answer: &Map<String, Value>,
    body: Option<&Map<String, Value>>,
    path: &Path<'_>,
    places: Places<'_>,
) {
    members(&ArmTree::of(shape, answer), answer, body, path, places);
}

fn members(
    tree: &ArmTree,
    answer: &Map<String, Value>,
    body: Option<&Map<String, Value>>,
    path: &Path<'_>,
    places: Places<'_>,
) {
    for (name, value) in answer.iter().filter(|(_, value)| !says_nothing(value)) {
        let there = body.and_then(|body| member(body, name));
        let below = path.member(name);
        match tree.member(name) {
            // No field, so no PUT can say it.
            None => {}
            Some(tree) if tree.discriminator && tree.fields.is_empty() => {
                check(is_alike(value, there), value, there, &below, places);
            }
            Some(tree) if !tree.fields.is_empty() => {
                let mut fields = tree.fields.iter();
                let open = fields.find(|field| !is_of_config_map(field));
                let field = open.or(tree.fields.first());
                if let Some(field) = field.filter(|field| !field.flags.has(Flags::READ_ONLY)) {
                    at(field.ty, value, there, &below, places);
                }
            }
            Some(tree) => {
                if let Value::Object(value) = value {
                    let there = there.and_then(Value::as_object);
                    members(tree, value, there, &below, places);
                }
            }
        }
    }
}

fn at(ty: Type, value: &Value, there: Option<&Value>, path: &Path<'_>, places: Places<'_>) {
    match (ty, value) {
        (Type::Struct(shape), Value::Object(answer)) if shape.semantic == Semantic::Plain => {
            within(
                shape,
                answer,
                there.and_then(Value::as_object),
                path,
                places,
            );
        }
        (Type::Struct(shape), _) => match shape.semantic {
            Semantic::Reference | Semantic::WellKnownReference => {
                check(is_alike(value, there), value, there, path, places);
            }
            Semantic::ConfigMapReference => {}
            // Nobody is shown the value.
            _ => check(there.is_some(), &Value::Null, there, path, places),
        },
        (Type::List(list), Value::Object(ids)) if is_arm_id_keyed(list.item) => {
            let there = there.and_then(Value::as_object);
            for id in ids.keys() {
                let is_there = there.is_some_and(|there| member(there, id).is_some());
                check(is_there, &Value::Null, None, &path.key(id), places);
            }
        }
        (Type::List(list), Value::Array(items)) => match there.and_then(Value::as_array) {
            Some(there) if there.len() == items.len() => {
                for (index, (item, there)) in items.iter().zip(there).enumerate() {
                    at(list.item, item, Some(there), &path.item(index), places);
                }
            }
            _ => check(false, &Value::Null, there, path, places),
        },
        (Type::Map(map), Value::Object(answer)) => {
            let there = there.and_then(Value::as_object);
            for (name, value) in answer.iter().filter(|(_, value)| !says_nothing(value)) {
                let there = there.and_then(|there| there.get(name));
                at(map.value, value, there, &path.key(name), places);
            }
        }
        (Type::Integer(_), _) => {
            let is_same = integer(value).is_some() && integer(value) == there.and_then(integer);
            check(is_same, value, there, path, places);
        }
        (Type::Enum(_), _) => check(is_alike(value, there), value, there, path, places),
        _ => check(there == Some(value), value, there, path, places),
    }
}

fn check(
    is_there: bool,
    value: &Value,
    there: Option<&Value>,
    path: &Path<'_>,
    places: Places<'_>,
) {
    if !is_there {
        let values = places.entry(path.schema_path()).or_default();
        values.push(match there {
            None => value.clone(),
            Some(_) => Value::Null,
        });
    }
}

/// Texts in any casing.
fn is_alike(value: &Value, there: Option<&Value>) -> bool {
    match (value.as_str(), there.and_then(Value::as_str)) {
        (Some(value), Some(there)) => value.eq_ignore_ascii_case(there),
        _ => there == Some(value),
    }
}

/// Null, and what has nothing in it.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.values().all(says_nothing),
        _ => false,
    }
}

fn is_of_config_map(field: &Field) -> bool {
    matches!(field.ty, Type::Struct(shape) if shape.semantic == Semantic::ConfigMapReference)
}

fn is_arm_id_keyed(item: Type) -> bool {
    matches!(item, Type::Struct(shape) if shape.semantic == Semantic::ArmIdKeyed)
}

//! Secrets, which Azure shows to nobody: references to Secrets that somebody has to fill.

use armature_runtime::shape::arm_json::find;
use armature_runtime::shape::path::Path;
use armature_runtime::shape::{ArmPlace, Field, Flags, Semantic, StructShape, Type};
use serde_json::{Map, Value, json};

use super::left_out::LeftOut;

/// Puts a reference to a Secret wherever Azure shows that there is a secret. Secrets that the kind takes in the manifest itself
/// are told instead; ids are none, whatever the schema says.
pub fn add_secrets(
    shape: &'static StructShape,
    arm: &Map<String, Value>,
    spec: &mut Map<String, Value>,
    path: &Path<'_>,
    open: &mut Vec<LeftOut>,
) {
    for field in shape.fields {
        let below = path.member(field.name);
        match (field.arm, field.ty) {
            (ArmPlace::At(at), ty) => {
                let Some(shown) = find(arm, at).filter(|_| !has_twin(shape, field, spec)) else {
                    continue;
                };
                if let Some(reference) = secret(ty, shown, &below) {
                    spec.insert(field.name.to_owned(), reference);
                } else if field.flags.has(Flags::SECRET) {
                    match open_reference(ty, shown) {
                        Some(reference) => {
                            spec.insert(field.name.to_owned(), reference);
                        }
                        None => open.push(LeftOut {
                            path: below.to_string(),
                            why: OPEN_SECRET.to_owned(),
                        }),
                    }
                } else if let Some(value) = spec.get_mut(field.name) {
                    add_secrets_in(ty, shown, value, &below, open);
                }
            }
            (ArmPlace::Variant, Type::Struct(variant)) => {
                if let Some(Value::Object(members)) = spec.get_mut(field.name) {
                    add_secrets(variant, arm, members, &below, open);
                }
            }
            _ => {}
        }
    }
}

/// Why a value is left out.
const OPEN_SECRET: &str = "it is a secret that the manifest would show";

/// A reference by the id that Azure shows.
fn open_reference(ty: Type, shown: &Value) -> Option<Value> {
    match ty {
        Type::Struct(shape) if shape.semantic == Semantic::Reference => {
            let id = shown.as_str().filter(|id| !id.is_empty())?;
            Some(json!({ "armId": id }))
        }
        _ => None,
    }
}

fn add_secrets_in(
    ty: Type,
    arm: &Value,
    spec: &mut Value,
    path: &Path<'_>,
    open: &mut Vec<LeftOut>,
) {
    match (ty, arm, spec) {
        (Type::Struct(shape), Value::Object(arm), Value::Object(spec))
            if shape.semantic == Semantic::Plain =>
        {
            add_secrets(shape, arm, spec, path, open);
        }
        (Type::List(list), Value::Array(arm), Value::Array(spec)) if arm.len() == spec.len() => {
            for (index, (arm, spec)) in arm.iter().zip(spec).enumerate() {
                add_secrets_in(list.item, arm, spec, &path.item(index), open);
            }
        }
        (Type::Map(map), Value::Object(arm), Value::Object(spec)) => {
            for (name, spec) in spec {
                if let Some(arm) = arm.get(name) {
                    add_secrets_in(map.value, arm, spec, &path.member(name), open);
                }
            }
        }
        _ => {}
    }
}

/// Whether another field has the same value openly.
fn has_twin(shape: &StructShape, field: &Field, spec: &Map<String, Value>) -> bool {
    let mut others = shape.fields.iter();
    others.any(|other| {
        other.name != field.name && other.arm == field.arm && spec.contains_key(other.name)
    })
}

/// A reference to a Secret without a name, where the type is one and Azure shows something.
pub fn secret(ty: Type, shown: &Value, path: &Path<'_>) -> Option<Value> {
    let is_there = match shown {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    };
    match (ty, shown) {
        _ if !is_there => None,
        (Type::Struct(shape), _) => match shape.semantic {
            Semantic::SecretReference => {
                Some(json!({"name": UNNAMED, "key": key(&path.to_string())}))
            }
            Semantic::SecretMapReference => Some(json!({ "name": UNNAMED })),
            _ => None,
        },
        (Type::List(list), Value::Array(items)) => {
            let items = items.iter().enumerate();
            let items: Option<Vec<Value>> = items
                .map(|(index, shown)| secret(list.item, shown, &path.item(index)))
                .collect();
            items.map(Value::Array)
        }
        (Type::Map(map), Value::Object(members)) => {
            let members = members.iter().map(|(name, shown)| {
                let reference = secret(map.value, shown, &path.member(name))?;
                Some((name.clone(), reference))
            });
            let members: Option<Map<String, Value>> = members.collect();
            members.map(Value::Object)
        }
        _ => None,
    }
}

/// Name of a Secret that has none yet. No Secret can be called so.
pub const UNNAMED: &str = "?";

/// The key of a Secret for a path: `properties.list[0].value` is `properties.list.0.value`.
pub fn key(path: &str) -> String {
    let path = path.strip_prefix("spec.").unwrap_or(path);
    let letters = path.chars().filter(|letter| !matches!(letter, ']' | '"'));
    letters
        .map(|letter| match letter {
            '[' => '.',
            letter if letter.is_ascii_alphanumeric() || "._-".contains(letter) => letter,
            _ => '_',
        })
        .collect()
}

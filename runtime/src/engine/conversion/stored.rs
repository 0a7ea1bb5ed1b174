//! The stored form: what the storage version has no field for is kept in the `$propertyBag` of its object, as
//! JSON text under the field's upper-camel name (ASO behaviour §3.2).

use serde_json::{Map, Value};

use crate::shape::{Field, Flags, StructShape, Type};

/// Name of the member that holds stashed values.
pub(super) const PROPERTY_BAG: &str = "$propertyBag";

/// The key of a field in a property bag: its name in upper camel case.
///
/// A hub field that stands for an older type of another one (`capacityV20200101` beside `capacity`) goes by
/// the other's name, as ASO has it, unless several older types would then share the key.
pub(super) fn bag_key(shape: &StructShape, field: &Field) -> String {
    let name = match older_form_of(shape, field) {
        Some(base) if older_forms(shape, base) == 1 => base,
        _ => field.name,
    };
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// The field of which this one holds an older type, by the hub's naming: name, `V`, api-version.
fn older_form_of(shape: &StructShape, field: &Field) -> Option<&'static str> {
    let (base, version) = field.name.rsplit_once('V')?;
    let is_version =
        version.len() >= 8 && version.bytes().take(8).all(|byte| byte.is_ascii_digit());
    let base = shape.field(base).filter(|_| is_version)?;
    (!base.flags.has(Flags::STASHED)).then_some(base.name)
}

fn older_forms(shape: &StructShape, base: &str) -> usize {
    let stashed = shape.fields.iter();
    let stashed = stashed.filter(|field| field.flags.has(Flags::STASHED));
    stashed
        .filter(|field| older_form_of(shape, field) == Some(base))
        .count()
}

/// The hub's object in stored form.
pub(super) fn pack(shape: &StructShape, members: &Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    let mut bag = match members.get(PROPERTY_BAG) {
        Some(Value::Object(bag)) => bag.clone(),
        _ => Map::new(),
    };
    for (name, value) in members {
        match shape.field(name) {
            Some(field) if field.flags.has(Flags::STASHED) => {
                bag.insert(bag_key(shape, field), Value::from(value.to_string()));
            }
            Some(field) => {
                out.insert(name.clone(), each_struct(field.ty, value, pack));
            }
            None if name == PROPERTY_BAG => {}
            None => {
                out.insert(name.clone(), value.clone());
            }
        }
    }
    if !bag.is_empty() {
        out.insert(PROPERTY_BAG.to_owned(), Value::Object(bag));
    }
    out
}

/// The stored object in the hub's form. Entries of a bag that mean nothing to the hub stay in the bag.
pub(super) fn unpack(shape: &StructShape, members: &Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for (name, value) in members {
        if name == PROPERTY_BAG {
            continue;
        }
        let value = match shape.field(name) {
            Some(field) => each_struct(field.ty, value, unpack),
            None => value.clone(),
        };
        out.insert(name.clone(), value);
    }
    let mut left = Map::new();
    if let Some(Value::Object(bag)) = members.get(PROPERTY_BAG) {
        for (key, text) in bag {
            match stashed(shape, key, text) {
                Some((field, value)) if !out.contains_key(field.name) => {
                    out.insert(field.name.to_owned(), each_struct(field.ty, &value, unpack));
                }
                _ => {
                    left.insert(key.clone(), text.clone());
                }
            }
        }
    }
    if !left.is_empty() {
        out.insert(PROPERTY_BAG.to_owned(), Value::Object(left));
    }
    out
}

/// The field and the value that an entry of a bag stands for.
fn stashed(shape: &StructShape, key: &str, text: &Value) -> Option<(&'static Field, Value)> {
    let mut fields = shape.fields.iter();
    let field =
        fields.find(|field| field.flags.has(Flags::STASHED) && bag_key(shape, field) == key)?;
    Some((field, serde_json::from_str(text.as_str()?).ok()?))
}

/// Applies `object` to the structs inside a value; everything else is kept.
pub(super) fn each_struct(
    ty: Type,
    value: &Value,
    object: fn(&StructShape, &Map<String, Value>) -> Map<String, Value>,
) -> Value {
    match (ty, value) {
        (Type::Struct(shape), Value::Object(members)) => Value::Object(object(shape, members)),
        (Type::List(shape), Value::Array(items)) => {
            let items = items.iter();
            items
                .map(|item| each_struct(shape.item, item, object))
                .collect()
        }
        (Type::Map(shape), Value::Object(members)) => {
            let members = members.iter();
            Value::Object(
                members
                    .map(|(key, value)| (key.clone(), each_struct(shape.value, value, object)))
                    .collect(),
            )
        }
        _ => value.clone(),
    }
}

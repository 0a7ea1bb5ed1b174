//! The stored form: what the storage version has no field for is kept in the `$propertyBag` of its object, as
//! JSON text under the field's upper-camel name (ASO behaviour §3.2).

use serde_json::{Map, Value};

use super::StoredPlace;
use crate::shape::{Field, Flags, StructShape, Type};

/// Name of the member that holds stashed values.
pub const PROPERTY_BAG: &str = "$propertyBag";

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

/// A value as a bag holds it. Members are in order of name, so that the text, and with it the object's generation, stays
/// the same whichever version wrote it.
pub(super) fn entry(mut value: Value) -> Value {
    value.sort_all_objects();
    Value::from(value.to_string())
}

/// The hub's object in stored form.
pub(super) fn pack(shape: &StructShape, members: &mut Map<String, Value>) {
    let mut bag = take_bag(members);
    members.retain(|name, value| match shape.field(name) {
        Some(field) if field.flags.has(Flags::STASHED) => {
            bag.insert(bag_key(shape, field), entry(std::mem::take(value)));
            false
        }
        Some(field) => {
            each_struct(field.ty, value, pack);
            true
        }
        None => true,
    });
    put_bag(members, bag);
}

/// Where a member of the hub's object is stored.
pub(super) fn place(shape: &StructShape, name: &str) -> StoredPlace {
    match shape.field(name) {
        Some(field) if field.flags.has(Flags::STASHED) => StoredPlace::Bag(bag_key(shape, field)),
        _ => StoredPlace::Member(name.to_owned()),
    }
}

/// The stored object in the hub's form. Entries of a bag that mean nothing to the hub stay in the bag.
pub(super) fn unpack(shape: &StructShape, members: &mut Map<String, Value>) {
    let mut bag = take_bag(members);
    for (name, value) in members.iter_mut() {
        if let Some(field) = shape.field(name) {
            each_struct(field.ty, value, unpack);
        }
    }
    bag.retain(|key, text| match stashed(shape, key, text) {
        Some((field, mut value)) if !members.contains_key(field.name) => {
            each_struct(field.ty, &mut value, unpack);
            members.insert(field.name.to_owned(), value);
            false
        }
        _ => true,
    });
    put_bag(members, bag);
}

/// The property bag, out of its object; an empty one where there is none.
pub(super) fn take_bag(members: &mut Map<String, Value>) -> Map<String, Value> {
    match members.shift_remove(PROPERTY_BAG) {
        Some(Value::Object(bag)) => bag,
        _ => Map::new(),
    }
}

/// Puts a property bag into its object, unless it is empty.
pub(super) fn put_bag(members: &mut Map<String, Value>, bag: Map<String, Value>) {
    if !bag.is_empty() {
        members.insert(PROPERTY_BAG.to_owned(), Value::Object(bag));
    }
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
    value: &mut Value,
    object: fn(&StructShape, &mut Map<String, Value>),
) {
    match (ty, value) {
        (Type::Struct(shape), Value::Object(members)) => object(shape, members),
        (Type::List(shape), Value::Array(items)) => {
            for item in items {
                each_struct(shape.item, item, object);
            }
        }
        (Type::Map(shape), Value::Object(members)) => {
            for value in members.values_mut() {
                each_struct(shape.value, value, object);
            }
        }
        _ => {}
    }
}

//! The stored form of earlier releases, and of ASO's, whose storage version was named after an older version: that
//! version's own words, with what it has no field for in the `$propertyBag` of its object (ASO behaviour §3.1).
//!
//! Objects may be stored so for as long as nobody writes them; and while one release replaces another, both serve
//! a CRD that is still the older one's.

use serde_json::{Map, Value};

use super::stored::{PROPERTY_BAG, bag_key, each_struct, unpack};
use super::walk::{Level, convert};
use crate::shape::Field;

/// What an earlier release stored, in the hub's words. Entries of bags that mean nothing to the hub stay in them.
pub(super) fn to_hub(level: Level, members: &Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for (name, value) in members.iter().filter(|(name, _)| *name != PROPERTY_BAG) {
        let hub_name = level.hub_name(name);
        let types = (level.version_type(name), level.hub_type(hub_name));
        let value = convert(types, level.nested(name), value, to_hub);
        out.insert(hub_name.to_owned(), value);
    }
    let mut left = bag(members);
    left.retain(|key, text| {
        let value = text
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok());
        let Some((field, value)) = bagged(level, key).zip(value) else {
            return true;
        };
        let is_taken = out.contains_key(field.name);
        if !is_taken {
            out.insert(field.name.to_owned(), each_struct(field.ty, &value, unpack));
        }
        is_taken
    });
    put_bag(&mut out, left);
    out
}

/// The hub's object as an earlier release would store it.
pub(super) fn from_hub(level: Level, members: &Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    let mut bag = bag(members);
    for (name, value) in members.iter().filter(|(name, _)| *name != PROPERTY_BAG) {
        match (level.version_name(name), level.hub.field(name)) {
            (Some(version), _) => {
                let types = (level.version_type(version), level.hub_type(name));
                let value = convert(types, level.nested(version), value, from_hub);
                out.insert(version.to_owned(), value);
            }
            (None, Some(field)) => {
                let key = bag_key(level.hub, field);
                bag.insert(key, Value::from(value.to_string()));
            }
            (None, None) => {
                out.insert(name.clone(), value.clone());
            }
        }
    }
    put_bag(&mut out, bag);
    out
}

/// The hub's field that the version keeps in bags under this key.
fn bagged(level: Level, key: &str) -> Option<&'static Field> {
    let mut fields = level.hub.fields.iter();
    fields
        .find(|field| bag_key(level.hub, field) == key && level.version_name(field.name).is_none())
}

fn bag(members: &Map<String, Value>) -> Map<String, Value> {
    match members.get(PROPERTY_BAG) {
        Some(Value::Object(bag)) => bag.clone(),
        _ => Map::new(),
    }
}

fn put_bag(members: &mut Map<String, Value>, bag: Map<String, Value>) {
    if !bag.is_empty() {
        members.insert(PROPERTY_BAG.to_owned(), Value::Object(bag));
    }
}

//! The stored form of earlier releases, and of ASO's, whose storage version was named after an older version: that
//! version's own words, with what it has no field for in the `$propertyBag` of its object (ASO behaviour §3.1).
//!
//! Objects may be stored so for as long as nobody writes them; and while one release replaces another, both serve
//! a CRD that is still the older one's.

use serde_json::{Map, Value};

use super::StoredPlace;
use super::stored::{bag_key, each_struct, entry, put_bag, take_bag, unpack};
use super::walk::{Level, convert};
use crate::shape::Field;

/// What an earlier release stored, in the hub's words. Entries of bags that mean nothing to the hub stay in them.
pub(super) fn to_hub(level: Level, members: &mut Map<String, Value>) {
    let mut bag = take_bag(members);
    level.each_of_version(members, to_hub);
    bag.retain(|key, text| {
        let value = text
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok());
        let Some((field, mut value)) = bagged(level, key).zip(value) else {
            return true;
        };
        let is_taken = members.contains_key(field.name);
        if !is_taken {
            each_struct(field.ty, &mut value, unpack);
            members.insert(field.name.to_owned(), value);
        }
        is_taken
    });
    put_bag(members, bag);
}

/// The hub's object as an earlier release would store it.
pub(super) fn from_hub(level: Level, members: &mut Map<String, Value>) {
    let mut bag = take_bag(members);
    *members = std::mem::take(members)
        .into_iter()
        .filter_map(
            |(name, mut value)| match (level.version_name(&name), level.hub.field(&name)) {
                (Some(version), _) => {
                    let types = (level.version_type(version), level.hub_type(&name));
                    convert(types, level.nested(version), &mut value, from_hub);
                    Some((version.to_owned(), value))
                }
                (None, Some(field)) => {
                    let key = bag_key(level.hub, field);
                    bag.insert(key, entry(value));
                    None
                }
                (None, None) => Some((name, value)),
            },
        )
        .collect();
    put_bag(members, bag);
}

/// Where an earlier release would store a member of the hub's object.
pub(super) fn place(level: Level, name: &str) -> StoredPlace {
    match (level.version_name(name), level.hub.field(name)) {
        (Some(version), _) => StoredPlace::Member(version.to_owned()),
        (None, Some(field)) => StoredPlace::Bag(bag_key(level.hub, field)),
        (None, None) => StoredPlace::Member(name.to_owned()),
    }
}

/// The hub's field that the version keeps in bags under this key.
fn bagged(level: Level, key: &str) -> Option<&'static Field> {
    let mut fields = level.hub.fields.iter();
    fields
        .find(|field| bag_key(level.hub, field) == key && level.version_name(field.name).is_none())
}

//! Edits of a spec along its shape: what a user can add, change, take out and reorder.

use armature_runtime::shape::{Flags, Semantic, StructShape, Type};
use armature_runtime::testing::arbitrary::Arbitrary;
use serde_json::{Map, Value};

use crate::plan::{Change, Draw};

/// Members of every spec that say who the object is and not what it should be.
const IDENTITY: [&str; 6] = [
    "owner",
    "azureName",
    "azureNameFromConfig",
    "operatorSpec",
    "location",
    "originalVersion",
];

/// The one location.
pub const LOCATION: &str = "westus2";

/// Puts every location of a spec into the one place: resources do not move.
fn locate(shape: &'static StructShape, spec: &mut Value) {
    let Value::Object(members) = spec else { return };
    for (name, value) in members {
        match shape.field(name) {
            Some(field) if field.flags.has(Flags::LOCATION) => *value = LOCATION.into(),
            Some(field) => locate_below(field.ty, value),
            None => {}
        }
    }
}

fn locate_below(ty: Type, value: &mut Value) {
    match (ty, value) {
        (Type::Struct(shape), value) => locate(shape, value),
        (Type::List(list), Value::Array(items)) => {
            let items = items.iter_mut();
            items.for_each(|item| locate_below(list.item, item));
        }
        (Type::Map(map), Value::Object(members)) => {
            let values = members.values_mut();
            values.for_each(|value| locate_below(map.value, value));
        }
        _ => {}
    }
}

/// A drawn spec without name and owner.
pub fn spec(shape: &'static StructShape, draw: Draw) -> Value {
    let mut spec = Arbitrary::valid(draw.seed, usize::from(draw.size)).object(shape);
    let members = spec.as_object_mut();
    if let Some(members) = members {
        members.retain(|name, _| !IDENTITY.contains(&name.as_str()));
        if shape.field("location").is_some() {
            members.insert("location".to_owned(), LOCATION.into());
        }
    }
    locate(shape, &mut spec);
    spec
}

#[derive(Clone, Debug)]
enum Key {
    Member(String),
    Item(usize),
}

#[derive(Clone, Debug)]
enum Act {
    Set(Value),
    Remove,
    Push(Value),
    Reverse,
}

#[derive(Clone, Debug)]
struct Site {
    path: Vec<Key>,
    change: Change,
    act: Act,
}

/// Changes one thing in a spec; says what it was. Values come from the draw.
pub fn edit(
    shape: &'static StructShape,
    spec: &mut Value,
    change: Change,
    draw: Draw,
) -> Option<String> {
    let mut donor = Arbitrary::valid(draw.seed, usize::from(draw.size.max(8))).object(shape);
    locate(shape, &mut donor);
    let mut sites = Vec::new();
    members(shape, spec, &donor, &mut Vec::new(), &mut sites);
    let fitting: Vec<_> = sites.iter().filter(|site| site.change == change).collect();
    let pick = usize::try_from(draw.seed >> 7).unwrap_or(0);
    let site = match fitting.len() {
        0 => return None,
        count => fitting[pick % count].clone(),
    };
    apply(spec, &site);
    Some(said(&site))
}

fn said(site: &Site) -> String {
    let mut place = String::from("spec");
    for key in &site.path {
        match key {
            Key::Member(name) => place.push_str(&format!(".{name}")),
            Key::Item(index) => place.push_str(&format!("[{index}]")),
        }
    }
    match &site.act {
        Act::Set(value) => format!("{place} = {value}"),
        Act::Remove => format!("{place} is taken out"),
        Act::Push(value) => format!("{place} gets another item {value}"),
        Act::Reverse => format!("{place} is turned round"),
    }
}

fn apply(spec: &mut Value, site: &Site) {
    let (Some(last), above) = (site.path.last(), &site.path[..site.path.len().max(1) - 1]) else {
        return;
    };
    let mut at = spec;
    for key in above {
        let below = match key {
            Key::Member(name) => at.get_mut(name),
            Key::Item(index) => at.get_mut(index),
        };
        let Some(below) = below else { return };
        at = below;
    }
    match (at, last, &site.act) {
        (Value::Object(members), Key::Member(name), Act::Remove) => {
            members.shift_remove(name);
        }
        (Value::Object(members), Key::Member(name), Act::Set(value)) => {
            // A value comes from one source.
            members.shift_remove(&format!("{name}FromConfig"));
            if let Some(plain) = name.strip_suffix("FromConfig") {
                members.shift_remove(plain);
            }
            members.insert(name.clone(), value.clone());
        }
        (Value::Array(items), Key::Item(index), Act::Remove) => {
            items.remove(*index);
        }
        (Value::Array(items), Key::Item(index), Act::Set(value)) => items[*index] = value.clone(),
        (at, key, act) => {
            let below = match key {
                Key::Member(name) => at.get_mut(name),
                Key::Item(index) => at.get_mut(index),
            };
            match (below, act) {
                (Some(Value::Array(items)), Act::Push(value)) => items.push(value.clone()),
                (Some(Value::Array(items)), Act::Reverse) => items.reverse(),
                _ => {}
            }
        }
    }
}

fn members(
    shape: &'static StructShape,
    spec: &Value,
    donor: &Value,
    path: &mut Vec<Key>,
    sites: &mut Vec<Site>,
) {
    let empty = Map::new();
    let (spec, donor) = (
        spec.as_object().unwrap_or(&empty),
        donor.as_object().unwrap_or(&empty),
    );
    let is_variant = |name: &str| {
        let one_of = shape.one_of.as_ref();
        one_of.is_some_and(|one_of| one_of.variants.iter().any(|variant| variant.field == name))
    };
    for field in shape.fields {
        if path.is_empty() && IDENTITY.contains(&field.name) {
            continue;
        }
        path.push(Key::Member(field.name.to_owned()));
        let (value, other) = (spec.get(field.name), donor.get(field.name));
        match (value, other) {
            (Some(value), other) => {
                if !field.flags.has(Flags::REQUIRED) && !is_variant(field.name) {
                    push(sites, path, Change::Remove, Act::Remove);
                }
                if let Some(other) = other.filter(|other| *other != value) {
                    push(sites, path, Change::Change, Act::Set(other.clone()));
                }
                values(field.ty, value, other.unwrap_or(&Value::Null), path, sites);
            }
            (None, Some(other)) if !is_variant(field.name) => {
                push(sites, path, Change::Add, Act::Set(other.clone()));
            }
            _ => {}
        }
        path.pop();
    }
}

fn push(sites: &mut Vec<Site>, path: &[Key], change: Change, act: Act) {
    sites.push(Site {
        path: path.to_vec(),
        change,
        act,
    });
}

fn values(ty: Type, value: &Value, donor: &Value, path: &mut Vec<Key>, sites: &mut Vec<Site>) {
    match (ty, value) {
        (Type::Struct(shape), Value::Object(_)) if shape.semantic == Semantic::Plain => {
            members(shape, value, donor, path, sites);
        }
        (Type::List(list), Value::Array(items)) => {
            if items.len() > 1 {
                push(sites, path, Change::Reorder, Act::Reverse);
            }
            for item in donor.as_array().into_iter().flatten() {
                push(sites, path, Change::Add, Act::Push(item.clone()));
            }
            for (index, item) in items.iter().enumerate() {
                path.push(Key::Item(index));
                push(sites, path, Change::Remove, Act::Remove);
                let other = donor.get(index).unwrap_or(&Value::Null);
                values(list.item, item, other, path, sites);
                path.pop();
            }
        }
        (Type::Map(map), Value::Object(members)) => {
            let donor = donor.as_object();
            for (name, other) in donor.into_iter().flatten() {
                path.push(Key::Member(name.clone()));
                let change = match members.get(name) {
                    None => Some(Change::Add),
                    Some(value) if value != other => Some(Change::Change),
                    Some(_) => None,
                };
                if let Some(change) = change {
                    push(sites, path, change, Act::Set(other.clone()));
                }
                path.pop();
            }
            for (name, value) in members {
                path.push(Key::Member(name.clone()));
                push(sites, path, Change::Remove, Act::Remove);
                values(map.value, value, &Value::Null, path, sites);
                path.pop();
            }
        }
        _ => {}
    }
}

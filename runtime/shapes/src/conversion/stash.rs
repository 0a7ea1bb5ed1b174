//! What a version cannot express, carried with the served object in an annotation and put back on the way in.
//!
//! A user may have edited the object in between. An entry is put back only where its surroundings are still
//! the ones it was taken from: objects above it exist, list items are found by identity (a name or id that is
//! unique in the list) or else are unchanged, no other variant of a discriminated object was chosen, and the
//! version that writes has no place for the value itself. Everything else is dropped rather than misapplied.
//!
//! Of a spec each member that is no object is an entry of its own, because server-side apply knows owners for each such
//! member: what one field manager no longer applies goes, whether it lies in the spec or in the stash.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::walk::Level;
use crate::digest::short_digest;
use crate::shape::{Field, StructShape, Type};

/// Item members that identify an item where the shape names none.
const USUAL_IDENTIFIERS: [&str; 3] = ["name", "id", "key"];

/// One step down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Segment {
    /// A member of an object.
    Member(String),
    /// An item known by its identity: member names and values.
    Known { by: Map<String, Value> },
    /// An item known by its place in a list of this length, as long as it is unchanged.
    Placed { at: usize, of: usize, is: String },
}

/// One value that the version has no place for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    #[serde(rename = "p")]
    path: Vec<Segment>,
    #[serde(rename = "v")]
    value: Value,
    /// Digest of the value that this one replaces; absent when there was none.
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    replaces: Option<String>,
    /// How many of the objects right above the value the version has no place for either. They come back with it.
    #[serde(rename = "n", default, skip_serializing_if = "is_zero")]
    nested: usize,
}

/// Whether a number is left out.
#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Entry {
    /// The entry's members that are no objects, each as an entry of its own.
    pub fn leaves(self) -> Vec<Self> {
        match self.value {
            Value::Object(members) if self.replaces.is_none() && !members.is_empty() => {
                let leaves = members.into_iter().flat_map(|(name, value)| {
                    let mut path = self.path.clone();
                    path.push(Segment::Member(name));
                    let below = Self {
                        path,
                        value,
                        replaces: None,
                        nested: self.nested + 1,
                    };
                    below.leaves()
                });
                leaves.collect()
            }
            value => vec![Self { value, ..self }],
        }
    }

    /// The way to the value, as data.
    pub fn path(&self) -> Value {
        // A path is plain data, so it always becomes a value.
        serde_json::to_value(&self.path).unwrap_or_default()
    }

    /// Names of the members on the way to the value, and whether that is the whole path.
    pub fn names(&self) -> (Vec<&str>, bool) {
        let names = self.path.iter().filter_map(|segment| match segment {
            Segment::Member(name) => Some(name.as_str()),
            _ => None,
        });
        let names: Vec<_> = names.collect();
        let is_whole = names.len() == self.path.len();
        (names, is_whole)
    }
}

/// The annotation's content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Stash {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spec: Vec<Entry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub status: Vec<Entry>,
    /// Bytes that were left out: the stash holds nothing of the spec then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<usize>,
    /// Whether they were left out for their depth, not for their length.
    #[serde(rename = "deep", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_deep: bool,
}

impl Stash {
    pub fn is_empty(&self) -> bool {
        self.spec.is_empty() && self.status.is_empty() && self.omitted.is_none()
    }
}

/// What `full` has beyond `base`, both in the hub's words.
pub(super) fn difference(
    shape: &'static StructShape,
    base: &Map<String, Value>,
    full: &Map<String, Value>,
) -> Vec<Entry> {
    let mut entries = Vec::new();
    differ_object(Some(shape), base, full, &mut Vec::new(), &mut entries);
    entries
}

fn differ_object(
    shape: Option<&'static StructShape>,
    base: &Map<String, Value>,
    full: &Map<String, Value>,
    path: &mut Vec<Segment>,
    entries: &mut Vec<Entry>,
) {
    for (name, value) in full {
        path.push(Segment::Member(name.clone()));
        match base.get(name) {
            None => entries.push(Entry {
                path: path.clone(),
                value: value.clone(),
                replaces: None,
                nested: 0,
            }),
            Some(there) => {
                let field = shape.and_then(|shape| shape.field(name));
                differ(
                    field.map(|field| (field.ty, field)),
                    there,
                    value,
                    path,
                    entries,
                );
            }
        }
        path.pop();
    }
}

fn differ(
    ty: Option<(Type, &'static Field)>,
    base: &Value,
    full: &Value,
    path: &mut Vec<Segment>,
    entries: &mut Vec<Entry>,
) {
    match (base, full) {
        _ if base == full => {}
        (Value::Object(base), Value::Object(full)) => match ty {
            Some((Type::Map(map), field)) => {
                for (key, value) in full {
                    path.push(Segment::Member(key.clone()));
                    // Conversions keep the keys of maps.
                    if let Some(there) = base.get(key) {
                        differ(Some((map.value, field)), there, value, path, entries);
                    }
                    path.pop();
                }
            }
            Some((Type::Struct(shape), _)) => {
                differ_object(Some(shape), base, full, path, entries);
            }
            _ => differ_object(None, base, full, path, entries),
        },
        (Value::Array(base), Value::Array(full)) if base.len() == full.len() => {
            let item = match ty {
                Some((Type::List(list), field)) => Some((list.item, field)),
                _ => None,
            };
            let identifiers = identifiers(ty.map(|(_, field)| field), base);
            for (index, (there, value)) in base.iter().zip(full).enumerate() {
                path.push(segment(base, index, &identifiers));
                differ(item, there, value, path, entries);
                path.pop();
            }
        }
        _ => entries.push(Entry {
            path: path.clone(),
            value: full.clone(),
            replaces: Some(short_digest(base)),
            nested: 0,
        }),
    }
}

/// Names of members that together tell every item of the list from the others; empty when there are none.
fn identifiers(field: Option<&Field>, items: &[Value]) -> Vec<&'static str> {
    let declared = field.map_or(&[][..], |field| field.identifiers);
    let usual = USUAL_IDENTIFIERS.iter().map(std::slice::from_ref);
    let candidates = std::iter::once(declared).chain(usual);
    let mut candidates = candidates.filter(|names| !names.is_empty());
    candidates
        .find(|names| {
            let identities: Option<Vec<_>> =
                items.iter().map(|item| identity(item, names)).collect();
            identities.is_some_and(|identities| {
                let mut seen = HashSet::new();
                let mut identities = identities.iter();
                identities.all(|identity| seen.insert(Value::from(identity.clone()).to_string()))
            })
        })
        .map(<[_]>::to_vec)
        .unwrap_or_default()
}

fn identity(item: &Value, names: &[&str]) -> Option<Map<String, Value>> {
    let members = names.iter().map(|name| {
        let value = item.get(*name)?;
        let scalar = value.is_string() || value.is_number();
        scalar.then(|| ((*name).to_owned(), value.clone()))
    });
    members.collect()
}

fn segment(items: &[Value], index: usize, identifiers: &[&str]) -> Segment {
    if !identifiers.is_empty()
        && let Some(by) = identity(&items[index], identifiers)
    {
        return Segment::Known { by };
    }
    Segment::Placed {
        at: index,
        of: items.len(),
        is: short_digest(&items[index]),
    }
}

/// One step down a document, after the guards were checked.
enum Step<'a> {
    Member(&'a str),
    Item(usize),
}

/// Puts the entries back into `base` (in the hub's words), as far as their surroundings are unchanged.
pub(super) fn restore(level: Level, base: &mut Map<String, Value>, entries: &[Entry]) {
    let mut document = Value::Object(std::mem::take(base));
    // All guards are checked against the document as the user wrote it, before the first entry changes it.
    let mut digests = Digests::default();
    let steps: Vec<_> = entries
        .iter()
        .map(|entry| locate(level, &document, entry, &mut digests))
        .collect();
    for (entry, steps) in entries.iter().zip(steps) {
        if let Some(steps) = steps {
            set(&mut document, &steps, &entry.value);
        }
    }
    if let Value::Object(members) = document {
        *base = members;
    }
}

/// Digests of values of one document, each made once: entries are a user's text, and many may name one large item.
#[derive(Default)]
struct Digests<'v>(HashMap<*const Value, (&'v Value, String)>);

impl<'v> Digests<'v> {
    fn of(&mut self, value: &'v Value) -> &str {
        let known = self.0.entry(std::ptr::from_ref(value));
        &known.or_insert_with(|| (value, short_digest(value))).1
    }
}

fn locate<'e, 'v>(
    level: Level,
    document: &'v Value,
    entry: &'e Entry,
    digests: &mut Digests<'v>,
) -> Option<Vec<Step<'e>>> {
    let mut ty = Some(Type::Struct(level.hub));
    let mut value = document;
    let mut names = Vec::new();
    let mut steps = Vec::new();
    // The member that the version has no place for, what is above it, and what comes back inside it.
    let first_missing = entry.path.len().checked_sub(entry.nested.checked_add(1)?)?;
    let (above, missing) = entry.path.split_at(first_missing);
    let (member, inside) = missing.split_first()?;
    for segment in above {
        let (step, below) = step_down(segment, value, (&mut ty, &mut names), digests)?;
        steps.push(step);
        value = below;
    }
    if entry.replaces.is_some() {
        let (step, there) = step_down(member, value, (&mut ty, &mut names), digests)?;
        steps.push(step);
        let is_unchanged = entry.replaces.as_deref() == Some(digests.of(there));
        return (is_unchanged && inside.is_empty()).then_some(steps);
    }
    let Segment::Member(name) = member else {
        return None;
    };
    names.push(name.as_str());
    let members = value.as_object()?;
    let free = !members.contains_key(name)
        && !another_variant(ty, name, members)
        && !level.expresses(&names);
    for segment in missing {
        match segment {
            Segment::Member(name) => steps.push(Step::Member(name)),
            _ => return None,
        }
    }
    free.then_some(steps)
}

fn step_down<'e, 'v>(
    segment: &'e Segment,
    value: &'v Value,
    (ty, names): (&mut Option<Type>, &mut Vec<&'e str>),
    digests: &mut Digests<'v>,
) -> Option<(Step<'e>, &'v Value)> {
    match segment {
        Segment::Member(name) => {
            let below = value.get(name)?;
            *ty = match *ty {
                Some(Type::Struct(shape)) => {
                    names.push(name);
                    shape.field(name).map(|field| field.ty)
                }
                Some(Type::Map(map)) => Some(map.value),
                _ => None,
            };
            Some((Step::Member(name), below))
        }
        Segment::Known { by } => {
            let items = value.as_array()?;
            let matches =
                |item: &Value| by.iter().all(|(name, value)| item.get(name) == Some(value));
            let mut found = items.iter().enumerate().filter(|(_, item)| matches(item));
            let (index, item) = found.next()?;
            if found.next().is_some() {
                return None;
            }
            *ty = item_type(*ty);
            Some((Step::Item(index), item))
        }
        Segment::Placed { at, of, is } => {
            let items = value.as_array().filter(|items| items.len() == *of)?;
            let item = items.get(*at).filter(|item| digests.of(item) == *is)?;
            *ty = item_type(*ty);
            Some((Step::Item(*at), item))
        }
    }
}

fn item_type(ty: Option<Type>) -> Option<Type> {
    match ty {
        Some(Type::List(list)) => Some(list.item),
        _ => None,
    }
}

/// Whether `name` is a variant of a discriminated object of which the user has chosen another one.
fn another_variant(ty: Option<Type>, name: &str, members: &Map<String, Value>) -> bool {
    let Some(Type::Struct(StructShape {
        one_of: Some(one_of),
        ..
    })) = ty
    else {
        return false;
    };
    let mut variants = one_of.variants.iter();
    variants.clone().any(|variant| variant.field == name)
        && variants.any(|variant| members.contains_key(variant.field))
}

/// Sets a value. Objects on the way to it are made where they are missing.
fn set(document: &mut Value, steps: &[Step<'_>], value: &Value) {
    let mut place = document;
    for step in steps {
        let below = match step {
            Step::Item(index) => place.get_mut(*index),
            Step::Member(name) => place.as_object_mut().map(|members| {
                let empty = || Value::Object(Map::new());
                members.entry(*name).or_insert_with(empty)
            }),
        };
        match below {
            Some(below) => place = below,
            None => return,
        }
    }
    *place = value.clone();
}

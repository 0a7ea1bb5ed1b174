//! Walking desired and observed side by side: every value that desired names, with its counterpart.

use std::borrow::Cow;

use armature_shapes::shape::arm_json::member;
use armature_shapes::shape::arm_tree::ArmTree;
use armature_shapes::shape::path::Path;
use armature_shapes::shape::{Field, Flags, Semantic, StructShape, Type};
use serde_json::{Map, Value};

use super::equal::{Rule, is_nothing, normal};

/// One value that desired names.
pub(super) struct Leaf<'a> {
    /// Path in ARM's JSON; list items by identity where they have one.
    pub path: String,
    /// The same path in the schema, which no data is part of: `properties.rules[].action`.
    pub schema_path: String,
    /// How it is compared.
    pub rule: Rule,
    /// What is desired; `None` for an item that observed has too much.
    pub desired: Option<Cow<'a, Value>>,
    /// What Azure has.
    pub observed: Option<Cow<'a, Value>>,
    /// Whether the values must stay out of messages.
    pub hidden: bool,
    /// Whether it is a secret, or something else that ARM does not return. Its values are hidden as well.
    pub unseen: bool,
}

/// Members of the body that name the resource. They are in the URL and cannot drift.
const IDENTITY: [&str; 3] = ["id", "name", "type"];

/// Item members that identify an item where the shape names none.
const USUAL_IDENTIFIERS: [&str; 2] = ["name", "id"];

type Take<'t> = &'t mut dyn FnMut(Leaf<'_>);

/// Calls `take` for every value that desired names, except secrets and what ARM never returns.
pub(super) fn visit(
    shape: &'static StructShape,
    desired: &Value,
    observed: &Value,
    take: Take<'_>,
) {
    visit_all(shape, desired, observed, &mut |leaf| {
        if !leaf.unseen {
            take(leaf);
        }
    });
}

/// Calls `take` for every value that desired names.
pub(super) fn visit_all(
    shape: &'static StructShape,
    desired: &Value,
    observed: &Value,
    take: Take<'_>,
) {
    let (Value::Object(desired), observed) = (desired, observed.as_object()) else {
        return;
    };
    let tree = ArmTree::of(shape, desired);
    visit_object(&tree, desired, observed, &Path::Root(""), &mut |leaf| {
        if !IDENTITY.contains(&leaf.path.as_str()) {
            take(leaf);
        }
    });
}

/// Whether ARM does not return the field, or must not be asked to show it.
pub(crate) fn is_unseen(field: &Field) -> bool {
    let semantic = match field.ty {
        Type::Struct(shape) => shape.semantic,
        Type::List(list) => match list.item {
            Type::Struct(shape) => shape.semantic,
            _ => Semantic::Plain,
        },
        Type::Map(map) => match map.value {
            Type::Struct(shape) => shape.semantic,
            _ => Semantic::Plain,
        },
        _ => Semantic::Plain,
    };
    field.flags.has(Flags::SECRET)
        || field.flags.has(Flags::WRITE_ONLY)
        || matches!(
            semantic,
            Semantic::SecretReference | Semantic::SecretMapReference
        )
}

fn visit_object(
    tree: &ArmTree,
    desired: &Map<String, Value>,
    observed: Option<&Map<String, Value>>,
    path: &Path<'_>,
    take: Take<'_>,
) {
    for (name, value) in desired {
        let there = observed.and_then(|observed| member(observed, name));
        let there = there.filter(|there| !there.is_null());
        let below = path.member(name);
        match tree.member(name) {
            _ if value.is_null() => {}
            // A value and its twin from a Secret share a path; the more secretive one decides.
            Some(tree) if tree.fields.iter().any(|field| is_unseen(field)) => {
                take(unseen(&below, value, there));
            }
            Some(ArmTree { fields, .. }) if !fields.is_empty() => {
                visit_value(fields[0].ty, fields[0], value, there, &below, take);
            }
            Some(tree) if tree.discriminator => take(Leaf {
                path: below.to_string(),
                schema_path: below.schema_path(),
                rule: Rule::AnyCase,
                desired: Some(Cow::Borrowed(value)),
                observed: there.map(Cow::Borrowed),
                hidden: false,
                unseen: false,
            }),
            Some(tree) => {
                if let Value::Object(value) = value {
                    let there = there.and_then(Value::as_object);
                    visit_object(tree, value, there, &below, take);
                }
            }
            None => match tree.further.map(|field| (field, field.ty)) {
                Some((field, _)) if is_unseen(field) => take(unseen(&below, value, there)),
                Some((field, Type::Map(map))) => {
                    visit_value(map.value, field, value, there, &path.key(name), take);
                }
                _ => take(Leaf {
                    path: below.to_string(),
                    // The schema does not have the name.
                    schema_path: path.key(name).schema_path(),
                    rule: Rule::Json,
                    desired: Some(Cow::Borrowed(value)),
                    observed: there.map(Cow::Borrowed),
                    hidden: true,
                    unseen: false,
                }),
            },
        }
    }
}

fn unseen<'a>(path: &Path<'_>, desired: &'a Value, observed: Option<&'a Value>) -> Leaf<'a> {
    Leaf {
        path: path.to_string(),
        schema_path: path.schema_path(),
        rule: Rule::Plain,
        desired: Some(Cow::Borrowed(desired)),
        observed: observed.map(Cow::Borrowed),
        hidden: true,
        unseen: true,
    }
}

/// How values of a field's innermost type are compared.
fn rule(ty: Type, field: &Field) -> Rule {
    match ty {
        Type::Enum(_) => Rule::AnyCase,
        Type::Json => Rule::Json,
        Type::Struct(_) => Rule::ArmId,
        _ if field.flags.has(Flags::ARM_ID) => Rule::ArmId,
        _ if field.flags.has(Flags::LOCATION) => Rule::Location,
        _ => Rule::Plain,
    }
}

fn visit_value(
    ty: Type,
    field: &'static Field,
    desired: &Value,
    observed: Option<&Value>,
    path: &Path<'_>,
    take: Take<'_>,
) {
    match (ty, desired) {
        (Type::Struct(shape), Value::Object(members))
            if matches!(shape.semantic, Semantic::Plain | Semantic::ArmIdKeyed) =>
        {
            let observed = observed.and_then(Value::as_object);
            visit_object(&ArmTree::of(shape, members), members, observed, path, take);
        }
        (Type::List(list), Value::Object(ids)) if is_arm_id_keyed(list.item) => {
            let keys = |value: &Value| value.as_object().map(keys_of);
            take(Leaf {
                path: path.to_string(),
                schema_path: path.schema_path(),
                rule: Rule::ArmId,
                desired: Some(Cow::Owned(keys_of(ids))),
                observed: observed.and_then(keys).map(Cow::Owned),
                hidden: false,
                unseen: false,
            });
        }
        (Type::List(list), Value::Array(items)) if is_object(list.item) && !items.is_empty() => {
            let none = Vec::new();
            let there = observed.and_then(Value::as_array).unwrap_or(&none);
            visit_items(list.item, field, items, there, path, take);
        }
        (Type::Map(map), Value::Object(members)) if !members.is_empty() => {
            let there = observed.and_then(Value::as_object);
            for (key, value) in members {
                let there = there.and_then(|there| member(there, key));
                visit_value(map.value, field, value, there, &path.key(key), take);
            }
        }
        _ => {
            let innermost = match ty {
                Type::List(list) => list.item,
                ty => ty,
            };
            take(Leaf {
                path: path.to_string(),
                schema_path: path.schema_path(),
                rule: rule(innermost, field),
                desired: Some(Cow::Borrowed(desired)),
                observed: observed.map(Cow::Borrowed),
                hidden: false,
                unseen: false,
            });
        }
    }
}

fn is_object(item: Type) -> bool {
    match item {
        Type::Struct(shape) => shape.semantic == Semantic::Plain,
        Type::Map(_) | Type::List(_) => true,
        _ => false,
    }
}

fn is_arm_id_keyed(item: Type) -> bool {
    matches!(item, Type::Struct(shape) if shape.semantic == Semantic::ArmIdKeyed)
}

fn keys_of(members: &Map<String, Value>) -> Value {
    members
        .keys()
        .map(|key| Value::from(key.as_str()))
        .collect()
}

/// Lists of objects: items with the same identity are counterparts, else items in the same place, unless
/// desired and observed are the same items in another order.
fn visit_items(
    item: Type,
    field: &'static Field,
    desired: &[Value],
    observed: &[Value],
    path: &Path<'_>,
    take: Take<'_>,
) {
    if let Some(identifiers) = identifiers(field, desired, observed) {
        for value in desired {
            let identity = identity(value, identifiers);
            let mut there = observed.iter();
            let there = there.find(|there| self::identity(there, identifiers) == identity);
            let label = identity.unwrap_or_default();
            let path = path.key(&label);
            // Counterparts have the same identity; its casing is the service's choice.
            let is_identity = |leaf: &Leaf<'_>| {
                let below = identifiers.iter().map(|name| path.member(name).to_string());
                there.is_some() && below.into_iter().any(|path| path == leaf.path)
            };
            visit_value(item, field, value, there, &path, &mut |leaf| {
                if !is_identity(&leaf) {
                    take(leaf);
                }
            });
        }
        for value in observed {
            let identity = identity(value, identifiers);
            let mut wanted = desired.iter();
            if !wanted.any(|wanted| self::identity(wanted, identifiers) == identity) {
                take(superfluous(&path.key(&identity.unwrap_or_default())));
            }
        }
        return;
    }
    let order = matching(item, field, desired, observed);
    for (index, value) in desired.iter().enumerate() {
        let there = match &order {
            Some(order) => observed.get(order[index]),
            None => observed.get(index),
        };
        visit_value(item, field, value, there, &path.item(index), take);
    }
    for index in desired.len()..observed.len() {
        take(superfluous(&path.item(index)));
    }
}

/// An item that Azure has and desired has not. Its content was never ours, so only its place is told.
fn superfluous(path: &Path<'_>) -> Leaf<'static> {
    Leaf {
        path: path.to_string(),
        schema_path: path.schema_path(),
        rule: Rule::Plain,
        desired: None,
        observed: Some(Cow::Owned(Value::from("an item more"))),
        hidden: false,
        unseen: false,
    }
}

/// Names of members that tell every item of either list from its neighbours.
pub(crate) fn identifiers(
    field: &'static Field,
    desired: &[Value],
    observed: &[Value],
) -> Option<&'static [&'static str]> {
    let unique = |items: &[Value], names: &[&str]| {
        let identities: Option<Vec<_>> = items.iter().map(|item| identity(item, names)).collect();
        identities.is_some_and(|mut identities| {
            identities.sort();
            identities.windows(2).all(|pair| pair[0] != pair[1])
        })
    };
    let usual = USUAL_IDENTIFIERS.iter().map(std::slice::from_ref);
    let mut candidates = std::iter::once(field.identifiers).chain(usual);
    candidates.find(|names| !names.is_empty() && unique(desired, names) && unique(observed, names))
}

/// An item's identity as text; identifiers may lead into the item with `/` (`properties/name`).
pub(crate) fn identity(item: &Value, names: &[&str]) -> Option<String> {
    let texts: Option<Vec<_>> = names
        .iter()
        .map(|name| {
            let mut value = item;
            for name in name.split('/') {
                value = member(value.as_object()?, name)?;
            }
            let scalar = value.is_string() || value.is_number();
            scalar.then(|| normal(Rule::AnyCase, value))
        })
        .collect();
    texts.map(|texts| texts.join("/"))
}

/// For each desired item the place of an observed item that has what it asks for; `None` unless all have one of
/// their own.
fn matching(
    item: Type,
    field: &'static Field,
    desired: &[Value],
    observed: &[Value],
) -> Option<Vec<usize>> {
    if desired.len() != observed.len() {
        return None;
    }
    let fits = |wanted: usize, place: usize| {
        let mut same = true;
        let (root, there) = (Path::Root(""), Some(&observed[place]));
        visit_value(item, field, &desired[wanted], there, &root, &mut |leaf| {
            same &= leaf.unseen
                || super::equal(leaf.rule, leaf.desired.as_deref(), leaf.observed.as_deref());
        });
        same
    };
    let places = 0..observed.len();
    if places.clone().all(|place| fits(place, place)) {
        return Some(places.collect());
    }
    let candidates: Vec<Vec<usize>> = places
        .clone()
        .map(|wanted| {
            places
                .clone()
                .filter(|place| fits(wanted, *place))
                .collect()
        })
        .collect();
    let mut taken = vec![None; observed.len()];
    for wanted in places.clone() {
        let mut tried = vec![false; observed.len()];
        if !give_place(wanted, &candidates, &mut taken, &mut tried) {
            return None;
        }
    }
    let mut order = vec![0; observed.len()];
    for (place, wanted) in taken.into_iter().enumerate() {
        order[wanted?] = place;
    }
    Some(order)
}

/// Finds a place for an item, moving others to places that fit them too: an item that asks for little fits many
/// places, and must not keep the only one of an item that asks for more.
fn give_place(
    wanted: usize,
    candidates: &[Vec<usize>],
    taken: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for &place in &candidates[wanted] {
        if std::mem::replace(&mut tried[place], true) {
            continue;
        }
        let free = match taken[place] {
            None => true,
            Some(other) => give_place(other, candidates, taken, tried),
        };
        if free {
            taken[place] = Some(wanted);
            return true;
        }
    }
    false
}

/// A leaf's observed value as text that is the same for all values that mean the same.
pub(super) fn normal_observed(leaf: &Leaf<'_>) -> Option<String> {
    let observed = leaf
        .observed
        .as_deref()
        .filter(|value| !is_nothing(value))?;
    match (&leaf.desired, leaf.rule) {
        (Some(desired), Rule::Json) => Some(normal(Rule::Json, &projected(desired, observed))),
        _ => Some(normal(leaf.rule, observed)),
    }
}

/// Free JSON on the members that desired has: what a service adds beside them is none of our business.
fn projected(desired: &Value, observed: &Value) -> Value {
    match (desired, observed) {
        (Value::Object(desired), Value::Object(observed)) => desired
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), projected(value, observed.get(name)?))))
            .collect::<Map<_, _>>()
            .into(),
        (Value::Array(desired), Value::Array(observed)) if desired.len() == observed.len() => {
            let pairs = desired.iter().zip(observed);
            pairs.map(|(one, other)| projected(one, other)).collect()
        }
        _ => observed.clone(),
    }
}

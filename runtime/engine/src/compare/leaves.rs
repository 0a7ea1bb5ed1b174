//! Walking desired and observed side by side: every value that desired names, with its counterpart.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use armature_shapes::shape::arm_tree::ArmTree;
use armature_shapes::shape::path::Path;
use armature_shapes::shape::{Field, Flags, Semantic, StructShape, Type};
use serde_json::{Map, Value};

use super::equal::{Rule, is_nothing, normal};
use super::leaf::{Leaf, There};
use super::lookup::member;
use super::matching;
use super::spelling::{Around, At, Roots, Spellings};

/// Members of the body that name the resource. They are in the URL and cannot drift.
const IDENTITY: [&str; 3] = ["id", "name", "type"];

/// Item members that identify an item where the shape names none.
const USUAL_IDENTIFIERS: [&str; 4] = ["name", "id", LOCATION_NAME, LUN];

/// What tells the places of a resource that is in several regions.
const LOCATION_NAME: &str = "locationName";

/// What tells the disks of a machine, whose names Azure gives where nobody does.
const LUN: &str = "lun";

type Take<'t> = &'t mut dyn FnMut(Leaf<'_>);

/// Calls `take` for every value that desired names, except secrets and what ARM never returns.
pub(super) fn visit(
    spellings: &Spellings,
    shape: &'static StructShape,
    desired: &Value,
    observed: &Value,
    take: Take<'_>,
) {
    visit_all(spellings, shape, desired, observed, &mut |leaf| {
        if !leaf.unseen {
            take(leaf);
        }
    });
}

/// Calls `take` for every value that desired names.
pub(super) fn visit_all(
    spellings: &Spellings,
    shape: &'static StructShape,
    desired: &Value,
    observed: &Value,
    take: Take<'_>,
) {
    let Value::Object(members) = desired else {
        return;
    };
    let walk = Walk(Roots { desired, observed });
    let there = There {
        here: Some(observed),
        at: spellings.root(),
        ..There::default()
    };
    let tree = ArmTree::of(shape, members);
    walk.object(&tree, members, there, &Path::Root(""), &mut |leaf| {
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

/// Walks both bodies side by side. It knows them as a whole, where a rule looks at another value.
struct Walk<'w>(Roots<'w>);

impl Walk<'_> {
    fn object(
        &self,
        tree: &ArmTree,
        desired: &Map<String, Value>,
        there: There<'_>,
        path: &Path<'_>,
        take: Take<'_>,
    ) {
        let around = Around {
            desired,
            observed: there.here.and_then(Value::as_object),
        };
        let folded = there.folded();
        for (name, value) in desired.iter().filter(|(_, value)| !value.is_null()) {
            let below = path.member(name);
            let known = tree.member(name);
            let at = match known {
                Some(_) => there.at.member(name),
                None => there.at.item(),
            };
            let found = at.find(around, self.0);
            let there = There {
                is_idle: there.is_idle || found.is_idle,
                sames: &found.sames,
                ..there.member(&folded, name, at, found.elsewhere.as_ref())
            };
            match known {
                // A value and its twin from a Secret share a path; the more secretive one decides.
                Some(tree) if tree.fields.iter().any(|field| is_unseen(field)) => {
                    take(unseen(&below, value, there.here));
                }
                Some(ArmTree { fields, .. }) if !fields.is_empty() => {
                    self.value(fields[0].ty, fields[0], value, there, &below, take);
                }
                Some(tree) if tree.discriminator => {
                    take(there.leaf(&below, Rule::AnyCase, Cow::Borrowed(value)));
                }
                Some(tree) => {
                    if let Value::Object(value) = value {
                        self.object(tree, value, there, &below, take);
                    }
                }
                None => match tree.further.map(|field| (field, field.ty)) {
                    Some((field, _)) if is_unseen(field) => {
                        take(unseen(&below, value, there.here));
                    }
                    Some((field, Type::Map(map))) => {
                        self.value(map.value, field, value, there, &path.key(name), take);
                    }
                    _ => take(Leaf {
                        // The schema does not have the name.
                        schema_path: path.key(name).schema_path(),
                        hidden: true,
                        ..there.leaf(&below, Rule::Json, Cow::Borrowed(value))
                    }),
                },
            }
        }
    }

    fn value(
        &self,
        ty: Type,
        field: &'static Field,
        desired: &Value,
        there: There<'_>,
        path: &Path<'_>,
        take: Take<'_>,
    ) {
        match (ty, desired) {
            (Type::Struct(shape), Value::Object(members))
                if matches!(shape.semantic, Semantic::Plain | Semantic::ArmIdKeyed) =>
            {
                self.object(&ArmTree::of(shape, members), members, there, path, take);
            }
            (Type::List(list), Value::Object(ids)) if is_arm_id_keyed(list.item) => {
                let keys = |value: &Value| value.as_object().map(keys_of);
                take(Leaf {
                    observed: there.here.and_then(keys).map(Cow::Owned),
                    ..there.leaf(path, Rule::ArmId, Cow::Owned(keys_of(ids)))
                });
            }
            (Type::List(list), Value::Array(items))
                if is_object(list.item) && !items.is_empty() =>
            {
                self.items(list.item, field, items, there, path, take);
            }
            (Type::Map(map), Value::Object(members)) if !members.is_empty() => {
                let around = Around {
                    desired: members,
                    observed: there.here.and_then(Value::as_object),
                };
                let found = there.at.item().find(around, self.0);
                let folded = there.folded();
                for (key, value) in members {
                    let there = There {
                        is_idle: there.is_idle || found.is_idle,
                        sames: &found.sames,
                        ..there.entry(&folded, key)
                    };
                    self.value(map.value, field, value, there, &path.key(key), take);
                }
            }
            // No entry is named: those that Azure fills in, and that a policy or somebody else adds, are not looked at, as beside
            // those of a map that has some.
            (Type::Map(_), Value::Object(_)) => {
                take(Leaf {
                    is_idle: true,
                    ..there.leaf(path, Rule::Plain, Cow::Borrowed(desired))
                });
            }
            _ => {
                let innermost = match ty {
                    Type::List(list) => list.item,
                    ty => ty,
                };
                take(there.leaf(path, rule(innermost, field), Cow::Borrowed(desired)));
            }
        }
    }

    /// Lists of objects: items with the same identity are counterparts, else items in the same place, unless
    /// desired and observed are the same items in another order.
    fn items(
        &self,
        item: Type,
        field: &'static Field,
        desired: &[Value],
        there: There<'_>,
        path: &Path<'_>,
        take: Take<'_>,
    ) {
        let observed = there.value().and_then(Value::as_array);
        let observed = observed.map_or(&[][..], Vec::as_slice);
        let Some(identifiers) = identifiers(field, desired, observed) else {
            let order = self.matching(item, field, desired, there);
            for (index, value) in desired.iter().enumerate() {
                let found = match &order {
                    Some(order) => observed.get(order[index]),
                    None => observed.get(index),
                };
                self.value(
                    item,
                    field,
                    value,
                    there.item(found),
                    &path.item(index),
                    take,
                );
            }
            for index in desired.len()..observed.len() {
                take(superfluous(&path.item(index), there));
            }
            return;
        };
        let pairs = Pairs::of(desired, observed, identifiers, there.at.item());
        for (value, found) in desired.iter().zip(&pairs.found) {
            let label = identity(value, identifiers).unwrap_or_default();
            let path = path.key(&label);
            let found = found.map(|found| &observed[found]);
            // Counterparts have the same identity; its casing is the service's choice.
            let is_identity = |leaf: &Leaf<'_>| {
                let below = identifiers.iter().map(|name| path.member(name).to_string());
                found.is_some() && below.into_iter().any(|path| path == leaf.path)
            };
            self.value(item, field, value, there.item(found), &path, &mut |leaf| {
                if !is_identity(&leaf) {
                    take(leaf);
                }
            });
        }
        for found in pairs.superfluous(observed.len()) {
            let label = identity(&observed[found], identifiers).unwrap_or_default();
            take(superfluous(&path.key(&label), there));
        }
    }

    /// For each desired item the place of an observed item that has what it asks for; `None` unless all have one of
    /// their own.
    fn matching(
        &self,
        item: Type,
        field: &'static Field,
        desired: &[Value],
        there: There<'_>,
    ) -> Option<Vec<usize>> {
        let observed = there.value().and_then(Value::as_array);
        let observed = observed.filter(|observed| desired.len() == observed.len())?;
        let fits = |wanted: usize, place: usize| {
            let there = There {
                here: Some(&observed[place]),
                ..there.item(None)
            };
            self.fits(item, field, &desired[wanted], there)
        };
        let says = |value: &Value| says_as((item, field), value, there.at.item());
        matching::matched((desired, observed), &fits, &says)
    }

    fn fits(&self, item: Type, field: &'static Field, desired: &Value, there: There<'_>) -> bool {
        let mut same = true;
        self.value(item, field, desired, there, &Path::Root(""), &mut |leaf| {
            same &= leaf.unseen || leaf.is_same();
        });
        same
    }
}

/// Whether an item of Azure's has what a desired one asks for; `at` are the rules of the list.
pub(super) fn fits(
    (item, field): (Type, &'static Field),
    (desired, observed): (&Value, &Value),
    at: At<'_>,
    roots: Roots<'_>,
) -> bool {
    let there = There {
        here: Some(observed),
        at: at.item(),
        ..There::default()
    };
    Walk(roots).fits(item, field, desired, there)
}

fn unseen<'a>(path: &Path<'_>, desired: &'a Value, observed: Option<&'a Value>) -> Leaf<'a> {
    let there = There {
        here: observed,
        ..There::default()
    };
    Leaf {
        hidden: true,
        unseen: true,
        ..there.leaf(path, Rule::Plain, Cow::Borrowed(desired))
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

pub(super) fn is_object(item: Type) -> bool {
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

/// An item that Azure has and desired has not. Its content was never ours, so only its place is told.
fn superfluous(path: &Path<'_>, list: There<'_>) -> Leaf<'static> {
    // Of another form of the list only the items that are missing count.
    let is_here = list.here.is_some();
    Leaf {
        path: path.to_string(),
        schema_path: path.schema_path(),
        rule: Rule::Plain,
        desired: None,
        observed: is_here.then(|| Cow::Owned(Value::from("an item more"))),
        elsewhere: None,
        sames: &[],
        is_idle: list.is_idle,
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
    identities(field).find(|names| unique(desired, names) && unique(observed, names))
}

/// Names of members that may tell an item of a list from its neighbours, the best ones first.
pub(super) fn identities(field: &'static Field) -> impl Iterator<Item = &'static [&'static str]> {
    let own = Some(field.identifiers).filter(|names| !names.is_empty());
    let usual = USUAL_IDENTIFIERS.iter().map(std::slice::from_ref);
    let usual = usual.filter(move |names| own != Some(*names));
    own.into_iter().chain(usual)
}

/// What an item of a list says, value by value: paths within it, and values as texts that are the same for all that mean the same.
pub(super) fn says(items: (Type, &'static Field), value: &Value) -> Vec<(String, String)> {
    says_as(items, value, At::default())
}

/// The same in the words of rules.
fn says_as(
    (item, field): (Type, &'static Field),
    value: &Value,
    at: At<'_>,
) -> Vec<(String, String)> {
    let walk = Walk(Roots {
        desired: &Value::Null,
        observed: &Value::Null,
    });
    let mut said = Vec::new();
    let root = Path::Root("");
    let there = There {
        at,
        ..There::default()
    };
    walk.value(item, field, value, there, &root, &mut |leaf| {
        // Members that the schema does not have are Azure's.
        let is_said = !leaf.unseen && !leaf.hidden && !leaf.is_idle && !leaf.says_nothing();
        match leaf.desired.as_deref().filter(|_| is_said) {
            None => {}
            Some(value) if leaf.rule == Rule::Json => {
                json_says(value, &Path::Root(&leaf.path), &mut said);
            }
            Some(value) => {
                let text = leaf.sames.iter().find_map(|same| same.text(value));
                let text = text.unwrap_or_else(|| normal(leaf.rule, value));
                said.push((leaf.path, text.to_lowercase()));
            }
        }
    });
    said.sort();
    said
}

/// Of free JSON each value by itself: services add members.
fn json_says(value: &Value, path: &Path<'_>, said: &mut Vec<(String, String)>) {
    match value {
        value if is_nothing(value) => {}
        Value::Object(members) => {
            for (name, value) in members {
                json_says(value, &path.member(name), said);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                json_says(value, &path.item(at), said);
            }
        }
        value => said.push((path.to_string(), normal(Rule::Json, value).to_lowercase())),
    }
}

/// Whether an item of a list says nothing that Azure shows.
pub(super) fn says_nothing(items: (Type, &'static Field), value: &Value) -> bool {
    says(items, value).is_empty()
}

/// An item's identity as text; identifiers may lead into the item with `/` (`properties/name`).
pub(crate) fn identity(item: &Value, names: &[&str]) -> Option<String> {
    identity_of(item, names, &|name, value| {
        normal(rule_of_identifier(name), value)
    })
}

/// How an identifier is compared: Azure writes the name of a region as `West Europe` where it was sent as `westeurope`.
fn rule_of_identifier(name: &str) -> Rule {
    match name == LOCATION_NAME {
        true => Rule::Location,
        false => Rule::AnyCase,
    }
}

fn identity_of(
    item: &Value,
    names: &[&str],
    text: &dyn Fn(&str, &Value) -> String,
) -> Option<String> {
    let texts: Option<Vec<_>> = names
        .iter()
        .map(|path| {
            let mut value = item;
            for name in path.split('/') {
                value = member(value.as_object()?, name)?;
            }
            let scalar = value.is_string() || value.is_number();
            scalar.then(|| text(path, value))
        })
        .collect();
    texts.map(|texts| texts.join("/"))
}

/// Which observed item each desired one is, by their identities.
pub(super) struct Pairs {
    pub found: Vec<Option<usize>>,
}

impl Pairs {
    pub fn of(desired: &[Value], observed: &[Value], identifiers: &[&str], at: At<'_>) -> Self {
        let of_all = |items: &[Value], at: At<'_>| -> Vec<Option<String>> {
            let items = items.iter();
            items.map(|item| spelt(item, identifiers, at)).collect()
        };
        let by = |at: At<'_>| -> Vec<Option<usize>> {
            let there = of_all(observed, at).into_iter().enumerate().rev();
            let places: HashMap<_, _> = there.map(|(place, identity)| (identity, place)).collect();
            let place = |wanted: Option<String>| places.get(&wanted).copied();
            of_all(desired, at).into_iter().map(place).collect()
        };
        let mut found = by(At::default());
        if at.has_rules() {
            let in_other_words = by(at);
            for (found, other) in found.iter_mut().zip(in_other_words) {
                *found = found.or(other);
            }
        }
        Self { found }
    }

    /// Places of the observed items, of so many, that nobody desires.
    pub fn superfluous(&self, count: usize) -> impl Iterator<Item = usize> {
        let found: HashSet<usize> = self.found.iter().flatten().copied().collect();
        (0..count).filter(move |place| !found.contains(place))
    }
}

/// An item's identity in the words of rules.
fn spelt(item: &Value, names: &[&str], at: At<'_>) -> Option<String> {
    identity_of(item, names, &|name, value| {
        let mut at = at;
        for name in name.split('/') {
            at = at.member(name);
        }
        at.text(value)
            .unwrap_or_else(|| normal(rule_of_identifier(name), value))
    })
}

//! Values through a [`Plan`]: from a version's names and places to the hub's, and back.
//!
//! Towards the hub nothing is lost, because the hub is the union of all versions. Away from it, what the
//! version has no place for is left out; [`super::stash`] carries that.

use serde_json::{Map, Value};

use crate::kind::{Plan, Step};
use crate::shape::{StructShape, Type};

/// One struct on both sides.
#[derive(Clone, Copy)]
pub(super) struct Level {
    pub version: &'static StructShape,
    pub hub: &'static StructShape,
    pub plan: &'static Plan,
}

/// Where the hub's field is in the version.
enum Place {
    /// Under one name.
    Name(&'static str),
    /// Further down.
    Path(&'static [&'static str]),
}

impl Level {
    fn nested(&self, version_name: &str) -> &'static Plan {
        let mut nested = self.plan.nested.iter();
        nested
            .find(|(name, _)| *name == version_name)
            .map_or(&Plan::SAME, |(_, plan)| plan)
    }

    /// The hub's name of a version's field, unless a step moves it further down or up.
    fn hub_name<'a>(&self, version_name: &'a str) -> &'a str
    where
        'static: 'a,
    {
        for step in self.plan.steps {
            match step {
                Step::Rename { version, hub } | Step::Retype { version, hub }
                    if *version == version_name =>
                {
                    return hub;
                }
                Step::Move {
                    version: [version],
                    hub,
                } if *version == version_name => return hub,
                _ => {}
            }
        }
        version_name
    }

    /// The version's place for a hub's field; `None` when it has none.
    fn place(&self, hub_name: &str) -> Option<Place> {
        for step in self.plan.steps {
            match step {
                Step::Rename { version, hub } | Step::Retype { version, hub }
                    if *hub == hub_name =>
                {
                    return Some(Place::Name(version));
                }
                Step::Move { version, hub } if *hub == hub_name => {
                    return Some(Place::Path(version));
                }
                _ => {}
            }
        }
        let field = self.version.field(hub_name)?;
        (self.hub_name(field.name) == field.name).then_some(Place::Name(field.name))
    }

    fn version_type(&self, path: &[&str]) -> Option<Type> {
        let (last, above) = path.split_last()?;
        let mut shape = self.version;
        for name in above {
            match shape.field(name)?.ty {
                Type::Struct(below) => shape = below,
                _ => return None,
            }
        }
        shape.field(last).map(|field| field.ty)
    }

    fn hub_type(&self, name: &str) -> Option<Type> {
        self.hub.field(name).map(|field| field.ty)
    }

    /// The plan of what lies at a version's path: nested plans of this level speak of one name only.
    fn plan_at(&self, path: &[&'static str]) -> &'static Plan {
        match path {
            [name] => self.nested(name),
            _ => &Plan::SAME,
        }
    }

    /// The version's object in the hub's words.
    pub fn to_hub(self, members: &Map<String, Value>) -> Map<String, Value> {
        if self.plan.steps.is_empty() && self.plan.nested.is_empty() {
            return members.clone();
        }
        let mut out = Map::new();
        for (name, value) in members {
            let mut rest = None;
            for step in self.plan.steps {
                if let Step::Move {
                    version: [first, below @ ..],
                    hub,
                } = step
                    && first == name
                    && !below.is_empty()
                {
                    let rest = rest.get_or_insert_with(|| value.clone());
                    if let Some(moved) = take(rest, below) {
                        out.insert((*hub).to_owned(), moved);
                    }
                }
            }
            let moved_all = matches!(&rest, Some(Value::Object(left)) if left.is_empty());
            if moved_all && value.as_object().is_some_and(|before| !before.is_empty()) {
                continue;
            }
            let hub_name = self.hub_name(name);
            let types = (self.version_type(&[name]), self.hub_type(hub_name));
            let value = rest.as_ref().unwrap_or(value);
            let value = convert(types, self.nested(name), value, Self::to_hub);
            out.insert(hub_name.to_owned(), value);
        }
        out
    }

    /// The hub's object in the version's words, without what the version has no place for: the API server
    /// would drop it without a word.
    pub fn to_version(self, members: &Map<String, Value>) -> Map<String, Value> {
        let mut out = Map::new();
        for (name, value) in members {
            match self.place(name) {
                None => {}
                Some(Place::Name(version)) => {
                    let types = (self.version_type(&[version]), self.hub_type(name));
                    let plan = self.nested(version);
                    let value = convert(types, plan, value, Self::to_version);
                    merge(&mut out, version, value);
                }
                Some(Place::Path(path)) => {
                    let types = (self.version_type(path), self.hub_type(name));
                    let plan = self.plan_at(path);
                    put(
                        &mut out,
                        path,
                        convert(types, plan, value, Self::to_version),
                    );
                }
            }
        }
        out
    }

    /// Whether the version has a place for the value that lies at this path of hub names. List items and map
    /// keys are left out of the path.
    pub fn expresses(self, hub_path: &[&str], value: &Value) -> bool {
        let Some((name, below)) = hub_path.split_first() else {
            return true;
        };
        if below.is_empty() && self.hides_emptiness(name, value) {
            return false;
        }
        let (version, plan) = match self.place(name) {
            None => return false,
            Some(Place::Name(version)) => (self.version_type(&[version]), self.nested(version)),
            Some(Place::Path(path)) => (self.version_type(path), self.plan_at(path)),
        };
        let types = (
            version.and_then(innermost),
            self.hub_type(name).and_then(innermost),
        );
        match types {
            (Some(version), Some(hub)) => Self { version, hub, plan }.expresses(below, value),
            _ => true,
        }
    }
}

impl Level {
    /// Whether an empty object cannot be told from an absent one: when the version keeps in it what the hub
    /// has elsewhere, it is there in the version either way.
    fn hides_emptiness(&self, hub_name: &str, value: &Value) -> bool {
        let Some(Place::Name(name)) = self.place(hub_name) else {
            return false;
        };
        let mut steps = self.plan.steps.iter();
        value.as_object().is_some_and(Map::is_empty)
            && steps.any(
                |step| matches!(step, Step::Move { version: [first, _, ..], .. } if *first == name),
            )
    }
}

/// The struct inside lists and maps.
pub(super) fn innermost(ty: Type) -> Option<&'static StructShape> {
    match ty {
        Type::Struct(shape) => Some(shape),
        Type::List(shape) => innermost(shape.item),
        Type::Map(shape) => innermost(shape.value),
        _ => None,
    }
}

/// Converts the structs inside a value of these (version's, hub's) types; everything else is kept.
fn convert(
    types: (Option<Type>, Option<Type>),
    plan: &'static Plan,
    value: &Value,
    object: fn(Level, &Map<String, Value>) -> Map<String, Value>,
) -> Value {
    match (types, value) {
        ((Some(Type::Struct(version)), Some(Type::Struct(hub))), Value::Object(members)) => {
            Value::Object(object(Level { version, hub, plan }, members))
        }
        ((Some(Type::List(version)), Some(Type::List(hub))), Value::Array(items)) => {
            let types = (Some(version.item), Some(hub.item));
            let items = items.iter();
            items
                .map(|item| convert(types, plan, item, object))
                .collect()
        }
        ((Some(Type::Map(version)), Some(Type::Map(hub))), Value::Object(members)) => {
            let types = (Some(version.value), Some(hub.value));
            let members = members.iter();
            Value::Object(
                members
                    .map(|(key, member)| (key.clone(), convert(types, plan, member, object)))
                    .collect(),
            )
        }
        _ => value.clone(),
    }
}

/// Takes what lies at a path out of a value, and the objects that become empty by it.
fn take(value: &mut Value, path: &[&str]) -> Option<Value> {
    let members = value.as_object_mut()?;
    match path {
        [] => None,
        [last] => members.shift_remove(*last),
        [first, rest @ ..] => {
            let below = members.get_mut(*first)?;
            let taken = take(below, rest)?;
            if below.as_object().is_some_and(Map::is_empty) {
                members.shift_remove(*first);
            }
            Some(taken)
        }
    }
}

/// Puts a value at a path, making the objects above it.
fn put(members: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [last] => merge(members, last, value),
        [first, rest @ ..] => {
            let below = members
                .entry((*first).to_owned())
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(below) = below {
                put(below, rest, value);
            }
        }
    }
}

/// Sets a member; when it is there already because something moved into it, both stay.
fn merge(members: &mut Map<String, Value>, name: &str, value: Value) {
    match (members.get_mut(name), value) {
        (Some(Value::Object(there)), Value::Object(more)) => {
            for (name, value) in more {
                merge(there, &name, value);
            }
        }
        (_, value) => {
            members.insert(name.to_owned(), value);
        }
    }
}

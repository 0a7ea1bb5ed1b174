//! Values through a [`Plan`]: from a version's names to the hub's, and back.
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

impl Level {
    pub(super) fn nested(&self, version_name: &str) -> &'static Plan {
        let mut nested = self.plan.nested.iter();
        nested
            .find(|(name, _)| *name == version_name)
            .map_or(&Plan::SAME, |(_, plan)| plan)
    }

    /// The hub's name of a version's field.
    pub(super) fn hub_name<'a>(&self, version_name: &'a str) -> &'a str {
        self.other_name(version_name).unwrap_or(version_name)
    }

    /// The hub's name of a version's field that has another one there.
    fn other_name(&self, version_name: &str) -> Option<&'static str> {
        let mut steps = self.plan.steps.iter();
        steps.find_map(|step| {
            let (Step::Rename { version, hub } | Step::Retype { version, hub }) = step;
            (*version == version_name).then_some(*hub)
        })
    }

    /// The version's name of a hub's field; `None` when it has none.
    pub(super) fn version_name(&self, hub_name: &str) -> Option<&'static str> {
        let mut steps = self.plan.steps.iter();
        let renamed = steps.find_map(|step| {
            let (Step::Rename { version, hub } | Step::Retype { version, hub }) = step;
            (*hub == hub_name).then_some(*version)
        });
        renamed.or_else(|| {
            let field = self.version.field(hub_name)?;
            (self.hub_name(field.name) == field.name).then_some(field.name)
        })
    }

    pub(super) fn version_type(&self, name: &str) -> Option<Type> {
        self.version.field(name).map(|field| field.ty)
    }

    pub(super) fn hub_type(&self, name: &str) -> Option<Type> {
        self.hub.field(name).map(|field| field.ty)
    }

    /// The version's object in the hub's words.
    pub fn to_hub(self, members: &mut Map<String, Value>) {
        if !self.plan.steps.is_empty() || !self.plan.nested.is_empty() {
            self.each_of_version(members, Self::to_hub);
        }
    }

    /// Members of the version's object under the hub's names, `object` applied to the structs in them.
    pub(super) fn each_of_version(
        self,
        members: &mut Map<String, Value>,
        object: fn(Level, &mut Map<String, Value>),
    ) {
        for (name, value) in members.iter_mut() {
            let types = (self.version_type(name), self.hub_type(self.hub_name(name)));
            convert(types, self.nested(name), value, object);
        }
        if !self.plan.steps.is_empty() {
            rename(members, |name| self.other_name(name));
        }
    }

    /// The hub's object in the version's words, without what the version has no place for: the API server
    /// would drop it without a word.
    pub fn to_version(self, members: &mut Map<String, Value>) {
        members.retain(|name, value| {
            let Some(version) = self.version_name(name) else {
                return false;
            };
            let types = (self.version_type(version), self.hub_type(name));
            convert(types, self.nested(version), value, Self::to_version);
            true
        });
        if !self.plan.steps.is_empty() {
            rename(members, |name| self.version_name(name));
        }
    }

    /// Whether the version has a place for all members of the hub's object, and for what they hold.
    pub fn expresses_all(self, members: &Map<String, Value>) -> bool {
        members.iter().all(|(name, value)| {
            self.version_name(name).is_some_and(|version| {
                let types = (self.version_type(version), self.hub_type(name));
                fits(types, self.nested(version), value)
            })
        })
    }

    /// Whether the version has a place for the value that lies at this path of hub names. List items and map
    /// keys are left out of the path.
    pub fn expresses(self, hub_path: &[&str]) -> bool {
        let Some((name, below)) = hub_path.split_first() else {
            return true;
        };
        let Some(version) = self.version_name(name) else {
            return false;
        };
        let types = (
            self.version_type(version).and_then(innermost),
            self.hub_type(name).and_then(innermost),
        );
        let plan = self.nested(version);
        match types {
            (Some(version), Some(hub)) => Self { version, hub, plan }.expresses(below),
            _ => true,
        }
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

/// Gives members other names, in their places.
fn rename(members: &mut Map<String, Value>, renamed: impl Fn(&str) -> Option<&'static str>) {
    *members = std::mem::take(members)
        .into_iter()
        .map(|(name, value)| (renamed(&name).map_or(name, str::to_owned), value))
        .collect();
}

/// Converts the structs inside a value of these (version's, hub's) types; everything else is kept.
pub(super) fn convert(
    types: (Option<Type>, Option<Type>),
    plan: &'static Plan,
    value: &mut Value,
    object: fn(Level, &mut Map<String, Value>),
) {
    match (types, value) {
        ((Some(Type::Struct(version)), Some(Type::Struct(hub))), Value::Object(members)) => {
            object(Level { version, hub, plan }, members);
        }
        ((Some(Type::List(version)), Some(Type::List(hub))), Value::Array(items)) => {
            let types = (Some(version.item), Some(hub.item));
            for item in items {
                convert(types, plan, item, object);
            }
        }
        ((Some(Type::Map(version)), Some(Type::Map(hub))), Value::Object(members)) => {
            let types = (Some(version.value), Some(hub.value));
            for member in members.values_mut() {
                convert(types, plan, member, object);
            }
        }
        _ => {}
    }
}

/// Whether the version has a place for everything in a value of these (version's, hub's) types.
fn fits(types: (Option<Type>, Option<Type>), plan: &'static Plan, value: &Value) -> bool {
    match (types, value) {
        ((Some(Type::Struct(version)), Some(Type::Struct(hub))), Value::Object(members)) => {
            Level { version, hub, plan }.expresses_all(members)
        }
        ((Some(Type::List(version)), Some(Type::List(hub))), Value::Array(items)) => {
            let types = (Some(version.item), Some(hub.item));
            items.iter().all(|item| fits(types, plan, item))
        }
        ((Some(Type::Map(version)), Some(Type::Map(hub))), Value::Object(members)) => {
            let types = (Some(version.value), Some(hub.value));
            members.values().all(|member| fits(types, plan, member))
        }
        _ => true,
    }
}

//! What differs between a version and the hub.

use std::collections::BTreeSet;

use super::classes::Classes;
use super::merge::Merged;
use crate::model::{TypeDef, TypeName, Version};

/// Differences between a version's type and the hub's: `runtime::kind::Plan` as data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Steps at this level.
    pub steps: Vec<Step>,
    /// Plans below, by the version's property.
    pub nested: Vec<(String, Plan)>,
}

impl Plan {
    /// Nothing differs but the presence of properties.
    pub fn is_same(&self) -> bool {
        self.steps.is_empty() && self.nested.is_empty()
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The version's property has another name in the hub.
    Rename {
        /// Property of the version.
        version: String,
        /// Property of the hub.
        hub: String,
    },
    /// The version's property travels under another hub property, because the types differ.
    Retype {
        /// Property of the version.
        version: String,
        /// Property of the hub.
        hub: String,
    },
}

/// The plan of a type and all below it.
pub(super) fn plan(
    index: usize,
    version: &Version,
    root: &TypeName,
    classes: &Classes,
    merged: &Merged,
) -> Plan {
    let mut open = BTreeSet::new();
    walk(index, version, root, classes, merged, &mut open)
}

fn walk(
    index: usize,
    version: &Version,
    name: &TypeName,
    classes: &Classes,
    merged: &Merged,
    open: &mut BTreeSet<TypeName>,
) -> Plan {
    let mut plan = Plan::default();
    let Some(TypeDef::Object(object)) = version.types.get(name) else {
        return plan;
    };
    if !open.insert(name.clone()) {
        return plan;
    }
    let class = classes.of_type(index, name);
    for property in &object.properties {
        let key = (class, index, property.name.clone());
        plan.steps.extend(merged.steps.get(&key).cloned());
        if let Some(below) = property.ty.named() {
            let nested = walk(index, version, below, classes, merged, open);
            if !nested.is_same() {
                plan.nested.push((property.name.clone(), nested));
            }
        }
    }
    open.remove(name);
    plan
}

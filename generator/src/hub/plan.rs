//! What differs between a version and the hub.

use std::collections::BTreeSet;

use super::classes::Classes;
use super::merge::Merged;
use super::step::Plan;
use crate::model::{TypeDef, TypeName, Version};

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
    let Some(class) = classes.of_type(index, name) else {
        return plan;
    };
    if !open.insert(name.clone()) {
        return plan;
    }
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

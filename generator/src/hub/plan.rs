//! What differs between a version and the hub.

use std::collections::BTreeSet;

use super::classes::Classes;
use super::merge::Merged;
use super::step::Plan;
use crate::model::{MissingType, TypeDef, TypeId};

/// The plan of a type and all below it.
pub(super) fn plan(
    version: usize,
    root: &TypeId,
    classes: &Classes<'_>,
    merged: &Merged,
) -> Result<Plan, MissingType> {
    let mut open = BTreeSet::new();
    walk(version, root, classes, merged, &mut open)
}

fn walk(
    version: usize,
    ty: &TypeId,
    classes: &Classes<'_>,
    merged: &Merged,
    open: &mut BTreeSet<TypeId>,
) -> Result<Plan, MissingType> {
    let mut plan = Plan::default();
    let hub = classes.hub_type(version, ty)?;
    let Some(TypeDef::Object(object)) = classes.definition(version, ty) else {
        return Ok(plan);
    };
    if !open.insert(ty.clone()) {
        return Ok(plan);
    }
    for property in &object.properties {
        let key = (hub.clone(), version, property.name.clone());
        plan.steps.extend(merged.steps.get(&key).cloned());
        if let Some(below) = property.ty.named() {
            let nested = walk(version, below, classes, merged, open)?;
            if !nested.is_same() {
                plan.nested.push((property.name.clone(), nested));
            }
        }
    }
    open.remove(ty);
    Ok(plan)
}

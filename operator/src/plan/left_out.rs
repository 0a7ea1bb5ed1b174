//! What a PUT leaves out of what Azure has, which of it is what Azure would set by itself, and what is left to Azure.

use armature_runtime::engine::compare;
use armature_runtime::kind::KindInfo;
use armature_runtime::reconcile::driver::foresight::Foresight;
use armature_runtime::reconcile::driver::{Fate, Item};
use serde_json::Value;

use super::look::Look;
use super::resource::{LeftAlone, LeftOut, Property};
use crate::descriptions::Descriptions;
use crate::descriptions::defaults::is_default;

/// What the PUT of a look leaves out.
pub fn left_out(kind: &'static KindInfo, look: &Look) -> Vec<LeftOut> {
    let Ok(Foresight {
        left_out, version, ..
    }) = &look.foresight
    else {
        return Vec::new();
    };
    let version = version.and_then(|version| kind.version(version));
    let (Some(version), false) = (version, left_out.is_empty()) else {
        return Vec::new();
    };
    let descriptions = Descriptions::shared(kind.group);
    let defaults = descriptions.defaults(kind.kind, version.name);
    let marked = left_out.iter().map(|one| {
        let default = defaults.at_arm(version.spec, &one.schema_path);
        marked(one, default)
    });
    marked.collect()
}

/// What the manifest says otherwise and Azure keeps.
pub fn left_alone(look: &Look) -> Vec<LeftAlone> {
    let Ok(Foresight { left_alone, .. }) = &look.foresight else {
        return Vec::new();
    };
    let told = left_alone.iter().map(|moved| LeftAlone {
        path: moved.path.clone(),
        manifest: moved.desired.clone(),
        azure: moved.observed.clone(),
        rule: moved.rule.clone(),
        may_be_edit: moved.may_be_edit,
    });
    told.collect()
}

/// What becomes of items that are resources of their own and that the manifest drops.
pub fn items(look: &Look) -> Vec<String> {
    let Ok(Foresight { items, .. }) = &look.foresight else {
        return Vec::new();
    };
    let told = items.iter().filter_map(|Item { path, fate }| {
        Some(match fate {
            Fate::Moved(object) => {
                format!("{path}, which the manifest drops, has moved to {object} and stays")
            }
            Fate::Left => format!(
                "{path}, which the manifest drops, stays: an object stood for it within the last hour"
            ),
            Fate::Waits(_) => format!(
                "{path}, which the manifest drops, is removed two minutes later, unless an object stands for it by then"
            ),
            Fate::Unknown(why) => format!(
                "{path}, which the manifest drops, stays until it is known whether an object stands for it: {why}"
            ),
            // That is a change.
            Fate::Goes => return None,
        })
    });
    told.collect()
}

fn marked(one: &compare::LeftOut, default: Option<&Value>) -> LeftOut {
    let value = one.value.as_ref();
    LeftOut {
        path: one.path.clone(),
        value: value.cloned(),
        hidden: value.is_none(),
        is_default: matches!((value, default), (Some(value), Some(default)) if is_default(value, default)),
    }
}

/// Without what is told already as a change: what was taken out of the manifest, and items that it lacks.
pub fn beside_the_told(left_out: Vec<LeftOut>, told: &[Property]) -> Vec<LeftOut> {
    let is_told = |one: &LeftOut| {
        let mut told = told.iter();
        told.any(|property| {
            let rest = one.path.strip_prefix(property.path.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    };
    left_out.into_iter().filter(|one| !is_told(one)).collect()
}

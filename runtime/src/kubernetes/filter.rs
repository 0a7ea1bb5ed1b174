//! What a change of an object means for the queue: pure decisions on the object before and after.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::names::{CREDENTIAL_FROM, POLICY_SKIP, RECONCILE_POLICY, RESOURCE_ID};
use crate::resource::Object;

type Annotations = BTreeMap<String, String>;

/// Whether the object itself must be reconciled (ASO behaviour §1.1): it is new to us, its generation
/// changed, its deletion began, its policy moved to or from `skip`, or it uses another credential. Other
/// changes of annotations, labels and status are mostly our own writes.
pub fn needs_reconcile(before: Option<&Object>, after: &Object) -> bool {
    let Some(before) = before else {
        return true;
    };
    let (old, new) = (&before.metadata, &after.metadata);
    old.generation != new.generation
        || old.uid != new.uid
        || old.deletion_timestamp.is_some() != new.deletion_timestamp.is_some()
        || policy_moved(old.annotations.as_ref(), new.annotations.as_ref())
        || annotation(before, CREDENTIAL_FROM) != annotation(after, CREDENTIAL_FROM)
}

/// Whether objects that wait for this one can go on: it became ready, or it has its ARM id now.
pub fn releases_dependents(before: Option<&Object>, after: &Object) -> bool {
    let became_ready = || is_ready(after) && !before.is_some_and(is_ready);
    let id = annotation(after, RESOURCE_ID);
    (id.is_some() && before.and_then(|before| annotation(before, RESOURCE_ID)) != id)
        || became_ready()
}

/// Whether a policy moved to or from `skip`; other policies do not change what a reconcile does at once.
pub fn policy_moved(before: Option<&Annotations>, after: Option<&Annotations>) -> bool {
    let skips = |annotations: Option<&Annotations>| {
        annotations
            .and_then(|annotations| annotations.get(RECONCILE_POLICY))
            .is_some_and(|policy| policy == POLICY_SKIP)
    };
    skips(before) != skips(after)
}

/// Whether the stored status says `Ready=True`.
pub fn is_ready(object: &Object) -> bool {
    #[derive(Deserialize)]
    struct Status {
        #[serde(default)]
        conditions: Vec<Condition>,
    }
    #[derive(Deserialize)]
    struct Condition {
        #[serde(default, rename = "type")]
        condition_type: String,
        #[serde(default)]
        status: String,
    }
    object
        .status
        .as_ref()
        .and_then(|text| serde_json::from_str::<Status>(text.get()).ok())
        .is_some_and(|status| {
            status
                .conditions
                .iter()
                .any(|condition| condition.condition_type == "Ready" && condition.status == "True")
        })
}

fn annotation<'a>(object: &'a Object, name: &str) -> Option<&'a String> {
    object.metadata.annotations.as_ref()?.get(name)
}

//! What a claim says: that the operator put its finalizer on an object, and its ARM id beside it.
//!
//! Annotations without the finalizer are nobody's word: they come along when somebody copies a manifest. That those beside it
//! are the operator's own, their signature tells ([`crate::signature`]).

use armature_engine::compare::Record;
use armature_shapes::names;
use armature_shapes::resource::Object;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What the operator writes into an object that it has claimed. On an object that is claimed anew it is of another
/// object, or of another place in Azure.
pub const OF_A_CLAIM: [&str; 10] = [
    names::POLLER_RESUME_ID,
    names::POLLER_RESUME_TOKEN,
    names::LATEST_RECONCILED_GENERATION,
    names::CHILD_RESOURCE_ID_OVERRIDE,
    names::BASELINE,
    names::HELD_SINCE,
    names::UNANSWERED_PUT,
    names::FAILED_OPERATIONS,
    names::ADOPTION,
    names::CLAIMED_WITH,
];

/// Whether the object has our finalizer.
pub fn is_claimed(object: &Object) -> bool {
    let mut finalizers = object.metadata.finalizers.iter().flatten();
    finalizers.any(|name| name == names::FINALIZER)
}

/// The ARM id of a claimed object.
pub fn resource_id(object: &Object) -> Option<&str> {
    of_claim(object, names::RESOURCE_ID)
}

/// The ARM id that children of a claimed object build on.
pub fn id_for_children(object: &Object) -> Option<&str> {
    of_claim(object, names::CHILD_RESOURCE_ID_OVERRIDE).or_else(|| resource_id(object))
}

fn of_claim<'o>(object: &'o Object, name: &str) -> Option<&'o str> {
    let annotations = object.metadata.annotations.as_ref()?;
    let value = annotations.get(name).filter(|_| is_claimed(object))?;
    Some(value)
}

/// Whether the status vouches for what the claim foretold: the object was `Ready` in the generation that was claimed, and
/// no other record was written since.
pub fn came_true(object: &Object) -> bool {
    let Some(annotations) = &object.metadata.annotations else {
        return false;
    };
    let is_recorded = [names::BASELINE, names::LATEST_RECONCILED_GENERATION]
        .iter()
        .any(|name| annotations.contains_key(*name));
    let claimed = annotations.get(names::CLAIMED_SPEC);
    let claimed = claimed.filter(|_| !is_recorded && is_claimed(object));
    let Some(generation) = claimed.and_then(|text| Record::foretold_generation(text)) else {
        return false;
    };
    let status = object.status.as_deref().map(RawValue::get);
    let status = status.and_then(|text| serde_json::from_str::<Status>(text).ok());
    let vouches = |condition: &Vouching| {
        condition.r#type == "Ready"
            && condition.status == "True"
            && condition.observed_generation == Some(generation)
    };
    status.is_some_and(|status| status.conditions.iter().any(vouches))
}

/// Of a status, as much as tells that.
#[derive(Deserialize)]
struct Status {
    #[serde(default)]
    conditions: Vec<Vouching>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Vouching {
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    status: String,
    observed_generation: Option<i64>,
}

/// Whether an object says that it has written its resource.
pub fn says_written(object: &Object) -> bool {
    let annotations = object.metadata.annotations.as_ref();
    let is_recorded = annotations.is_some_and(|entries| entries.contains_key(names::BASELINE));
    is_recorded || came_true(object)
}

/// Who of several objects for one ARM id comes first: whoever has written it, else the oldest. Notes that do not
/// count, because somebody else may have written them, do not tell that.
pub fn rank(object: &Object, notes_count: bool) -> impl Ord + use<> {
    let metadata = &object.metadata;
    let has_written = notes_count && says_written(object);
    let created = metadata.creation_timestamp.as_ref();
    (
        !has_written,
        created.map(|created| created.0),
        metadata.uid.clone(),
    )
}

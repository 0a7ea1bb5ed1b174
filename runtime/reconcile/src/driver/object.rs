//! What is read from an object by itself, outside of any pass: its JSON, its annotations, and what they ask for.

use std::collections::BTreeMap;

use armature_shapes::kind::NameRule;
use armature_shapes::names;
use armature_shapes::resource::Object;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::annotations::{Annotations, Directives, Mistake};
use crate::claim;
use crate::condition;
use crate::policy::Policy;
use crate::side_condition;
use crate::urgency::Urgency;

/// Member of a spec with the key of a ConfigMap that has the name in Azure.
pub(super) const NAME_FROM_CONFIG: &str = "azureNameFromConfig";

/// Member of a spec with the name in Azure.
pub(super) const AZURE_NAME: &str = "azureName";

/// Where the user names nothing, the resource has the object's name, or the UUID that it was claimed under: whoever reads the
/// spec finds it there.
pub(super) fn name_in_azure(object: &Object, spec: &mut Value) {
    let is_set = |name: &Value| name.as_str().is_some_and(|name| !name.is_empty());
    if object.kind.0.hub.spec.field(AZURE_NAME).is_none()
        || spec.get(AZURE_NAME).is_some_and(is_set)
        || !spec.get(NAME_FROM_CONFIG).is_none_or(Value::is_null)
    {
        return;
    }
    let name = match object.kind.0.name {
        NameRule::Uuid { .. } => {
            claim::resource_id(object).and_then(|id| id.rsplit('/').next().map(str::to_owned))
        }
        _ => object.metadata.name.clone(),
    };
    if let (Value::Object(members), Some(name)) = (spec, name) {
        members.insert(AZURE_NAME.to_owned(), Value::from(name));
    }
}

/// Whether somebody waits for this pass: not when it looks at an object that is ready and unchanged.
pub(super) fn urgency(object: &Object, status: &Value, namespace: &Annotations) -> Urgency {
    let conditions = status.get("conditions").unwrap_or(&Value::Null);
    let is_ready = condition::ready(conditions).is_some_and(|(status, _)| status == "True");
    let observed = status.get("observedGeneration").and_then(Value::as_i64);
    let is_unchanged = observed.is_some() && observed == object.metadata.generation;
    let is_busy = annotation(object, names::POLLER_RESUME_ID).is_some()
        || object.metadata.deletion_timestamp.is_some()
        || is_requested(object, conditions, namespace);
    if is_ready && is_unchanged && !is_busy {
        Urgency::Background
    } else {
        Urgency::Foreground
    }
}

pub(super) fn annotation<'o>(object: &'o Object, name: &str) -> Option<&'o str> {
    let annotations = object.metadata.annotations.as_ref()?;
    annotations.get(name).map(String::as_str)
}

pub(super) fn parse(text: Option<&RawValue>, field: &str) -> Result<Value, String> {
    match text {
        None => Ok(Value::Null),
        Some(text) => serde_json::from_str(text.get())
            .map_err(|error| format!("{field} cannot be read: {error}")),
    }
}

/// JSON as text. Serialising a value that was parsed cannot fail; if it does, the field is left out.
pub(super) fn raw(value: &Value) -> Option<Box<RawValue>> {
    (!value.is_null())
        .then(|| to_raw_value(value).ok())
        .flatten()
}

/// Whether object or namespace ask for a pass that has not been.
pub fn is_requested(object: &Object, conditions: &Value, namespace: &Annotations) -> bool {
    let asks = |annotations: &Annotations| annotations.contains_key(names::RECONCILE_NOW);
    let asked = asks(namespace) || annotation(object, names::RECONCILE_NOW).is_some();
    asked
        && read(object, namespace, Policy::default())
            .is_ok_and(|directives| side_condition::is_requested(conditions, &directives))
}

/// What holds for an object, with the annotations of its namespace and the operator's policy.
pub(super) fn read(
    object: &Object,
    namespace: &Annotations,
    default: Policy,
) -> Result<Directives, Vec<Mistake>> {
    let none = BTreeMap::new();
    let own = object.metadata.annotations.as_ref().unwrap_or(&none);
    let name = object.metadata.namespace.as_deref().unwrap_or_default();
    Directives::read(own, (name, namespace), default)
}

//! Which other objects, Secrets and ConfigMaps an object refers to, read from its stored spec.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::engine::collect::{ReferenceTarget, inputs};
use crate::engine::conversion::stored_to_hub;
use crate::kind::OwnerRule;
use crate::reconcile::names::CREDENTIAL_FROM;
use crate::reconcile::port::DataKind;
use crate::resource::Object;

/// What is referred to, in the object's own namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// Another custom resource. Group and kind are as the user wrote them.
    Object {
        /// API group.
        group: String,
        /// Kind.
        kind: String,
        /// Name.
        name: String,
    },
    /// A Secret or ConfigMap.
    Data {
        /// Which of the two.
        kind: DataKind,
        /// Name.
        name: String,
    },
}

impl Target {
    /// A Secret or ConfigMap.
    pub fn data(kind: DataKind, name: &str) -> Self {
        Self::Data {
            kind,
            name: name.to_owned(),
        }
    }
}

/// Everything the object refers to: owner, references at any depth, Secrets, ConfigMaps and its credential.
pub fn targets(object: &Object) -> BTreeSet<Target> {
    let annotations = object.metadata.annotations.as_ref();
    let mut found: BTreeSet<Target> = annotations
        .and_then(|annotations| annotations.get(CREDENTIAL_FROM))
        .map(|name| Target::data(DataKind::Secret, name))
        .into_iter()
        .collect();
    // What cannot be read is the reconciler's to report.
    let Some(spec) = hub_spec(object) else {
        return found;
    };
    found.extend(owner(object, &spec));
    let inputs = inputs(object.kind.hub.spec, &spec);
    let named = |target| match target {
        ReferenceTarget::Named { group, kind, name } => Some(Target::Object { group, kind, name }),
        ReferenceTarget::ArmId(_) | ReferenceTarget::WellKnown(_) => None,
    };
    let data = |kind| move |name| Target::data(kind, name);
    found.extend(
        inputs
            .secret_names()
            .into_iter()
            .map(data(DataKind::Secret)),
    );
    found.extend(
        inputs
            .config_map_names()
            .into_iter()
            .map(data(DataKind::ConfigMap)),
    );
    found.extend(
        inputs
            .references
            .into_iter()
            .filter_map(|used| named(used.target)),
    );
    found
}

fn hub_spec(object: &Object) -> Option<Value> {
    let stored = json!({ "spec": object.spec.as_ref()? });
    stored_to_hub(object.kind.0, stored)
        .ok()?
        .get_mut("spec")
        .map(Value::take)
}

fn owner(object: &Object, spec: &Value) -> Option<Target> {
    let owner = spec.get("owner")?;
    let text = |name| owner.get(name).and_then(Value::as_str);
    let (group, kind) = match object.kind.owner {
        OwnerRule::None => return None,
        OwnerRule::Kind { group, kind } => (group, kind),
        OwnerRule::Any => (text("group")?, text("kind")?),
    };
    Some(Target::Object {
        group: group.to_owned(),
        kind: kind.to_owned(),
        name: text("name")?.to_owned(),
    })
}

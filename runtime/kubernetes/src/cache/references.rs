//! Which other objects, Secrets and ConfigMaps an object refers to, read from its stored spec.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use armature_engine::collect::{ReferenceTarget, inputs};
use armature_reconcile::port::DataKind;
use armature_shapes::conversion::stored_to_hub;
use armature_shapes::kind::OwnerRule;
use armature_shapes::names::CREDENTIAL_FROM;
use armature_shapes::resource::Object;

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
    /// Another custom resource, as the owner.
    Owner {
        /// API group.
        group: String,
        /// Kind.
        kind: String,
        /// Name.
        name: String,
    },
    /// What only Azure knows, or an object in another namespace, as the owner.
    OwnerId {
        /// The ARM id, in lower case.
        id: String,
    },
    /// A Secret or ConfigMap.
    Data {
        /// Which of the two.
        kind: DataKind,
        /// Name.
        name: String,
    },
    /// A Secret or ConfigMap that the object wants written.
    Export {
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

    /// The owner with this ARM id.
    pub fn owner_id(id: &str) -> Self {
        Self::OwnerId {
            id: id.trim_end_matches('/').to_lowercase(),
        }
    }
}

/// Everything the object refers to: owner, references at any depth, Secrets and ConfigMaps that it reads or wants written,
/// and its credential.
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
    found.extend(exported_keys(&spec).map(|written| Target::Export {
        kind: written.kind,
        name: written.name.to_owned(),
    }));
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

/// One thing that an object wants written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportedKey<'s> {
    /// Secret or ConfigMap.
    pub kind: DataKind,
    /// Its name.
    pub name: &'s str,
    /// Key in it; none where an expression gives the keys.
    pub key: Option<&'s str>,
}

/// What a spec, in the form of the hub or stored, wants written to Secrets and ConfigMaps.
pub fn exported_keys(spec: &Value) -> impl Iterator<Item = ExportedKey<'_>> {
    let lists = [
        ("secrets", DataKind::Secret),
        ("secretExpressions", DataKind::Secret),
        ("configMaps", DataKind::ConfigMap),
        ("configMapExpressions", DataKind::ConfigMap),
    ];
    let members = move |(list, kind): (&str, DataKind)| {
        let list = &spec["operatorSpec"][list];
        let named = list.as_object().into_iter().flat_map(Map::values);
        let listed = list.as_array().into_iter().flatten();
        named
            .chain(listed)
            .filter_map(move |destination| exported_key(kind, destination))
    };
    lists.into_iter().flat_map(members)
}

fn exported_key(kind: DataKind, destination: &Value) -> Option<ExportedKey<'_>> {
    let text = |field: &str| {
        let text = destination.get(field).and_then(Value::as_str);
        text.filter(|text| !text.is_empty())
    };
    Some(ExportedKey {
        kind,
        name: text("name")?,
        key: text("key"),
    })
}

/// The spec in the form of the hub, where it can be read.
pub(super) fn hub_spec(object: &Object) -> Option<Value> {
    // A spec of any depth is stored, and none deeper than serde_json reads is of any kind.
    let spec: Value = serde_json::from_str(object.spec.as_ref()?.get()).ok()?;
    let stored = json!({ "spec": spec });
    stored_to_hub(object.kind.0, stored)
        .ok()?
        .get_mut("spec")
        .map(Value::take)
}

fn owner(object: &Object, spec: &Value) -> Option<Target> {
    let owner = spec.get("owner")?;
    let text = |name| owner.get(name).and_then(Value::as_str);
    if let Some(id) = text("armId").filter(|id| !id.is_empty()) {
        return Some(Target::owner_id(id));
    }
    let (group, kind) = match object.kind.owner {
        OwnerRule::None => return None,
        OwnerRule::Kind { group, kind } => (group, kind),
        OwnerRule::Any => (text("group")?, text("kind")?),
    };
    Some(Target::Owner {
        group: group.to_owned(),
        kind: kind.to_owned(),
        name: text("name")?.to_owned(),
    })
}

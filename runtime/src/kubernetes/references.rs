//! Which other objects, Secrets and ConfigMaps an object refers to, read from its stored spec by shape.

use std::collections::BTreeSet;

use serde_json::Value;

use super::names::CREDENTIAL_FROM;
use crate::kind::OwnerRule;
use crate::reconcile::port::DataKind;
use crate::resource::Object;
use crate::shape::{Semantic, StructShape, Type};

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

/// Everything the object refers to: owner, references at any depth, Secrets, ConfigMaps and its credential.
pub fn targets(object: &Object) -> BTreeSet<Target> {
    let mut found = BTreeSet::new();
    if let Some(name) = object
        .metadata
        .annotations
        .as_ref()
        .and_then(|annotations| annotations.get(CREDENTIAL_FROM))
    {
        found.insert(data(DataKind::Secret, name));
    }
    let Some(spec) = object
        .spec
        .as_ref()
        .and_then(|text| serde_json::from_str::<Value>(text.get()).ok())
    else {
        return found;
    };
    if let Some(owner) = owner(object, &spec) {
        found.insert(owner);
    }
    visit_struct(object.kind.hub.spec, &spec, &mut found);
    found
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

fn visit_struct(shape: &StructShape, value: &Value, found: &mut BTreeSet<Target>) {
    let Some(members) = value.as_object() else {
        return;
    };
    let text = |name| members.get(name).and_then(Value::as_str);
    match shape.semantic {
        Semantic::Plain | Semantic::ArmIdKeyed => {
            for field in shape.fields {
                if let Some(value) = members.get(field.name) {
                    visit(&field.ty, value, found);
                }
            }
        }
        Semantic::Reference | Semantic::WellKnownReference => {
            if let (Some(group), Some(kind), Some(name)) =
                (text("group"), text("kind"), text("name"))
            {
                found.insert(Target::Object {
                    group: group.to_owned(),
                    kind: kind.to_owned(),
                    name: name.to_owned(),
                });
            }
        }
        Semantic::SecretReference | Semantic::SecretMapReference => {
            found.extend(text("name").map(|name| data(DataKind::Secret, name)));
        }
        Semantic::ConfigMapReference => {
            found.extend(text("name").map(|name| data(DataKind::ConfigMap, name)));
        }
    }
}

fn visit(ty: &Type, value: &Value, found: &mut BTreeSet<Target>) {
    match (ty, value) {
        (Type::Struct(shape), value) => visit_struct(shape, value, found),
        (Type::List(list), Value::Array(items)) => {
            for item in items {
                visit(&list.item, item, found);
            }
        }
        (Type::Map(map), Value::Object(members)) => {
            for member in members.values() {
                visit(&map.value, member, found);
            }
        }
        _ => {}
    }
}

fn data(kind: DataKind, name: &str) -> Target {
    Target::Data {
        kind,
        name: name.to_owned(),
    }
}

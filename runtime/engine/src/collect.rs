//! What a spec refers to: other resources, Secrets and ConfigMaps, found by the meaning of structs.
//!
//! `spec.owner` is not among them: it decides where the resource hangs and is handled before anything else.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use armature_shapes::shape::path::Path;
use armature_shapes::shape::{ArmPlace, Field, Semantic, StructShape, Type};

/// What a reference points at (ASO behaviour §3.3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReferenceTarget {
    /// A literal ARM id.
    ArmId(String),
    /// A resource in the same namespace.
    Named {
        /// API group.
        group: String,
        /// Kind.
        kind: String,
        /// Name of the Kubernetes object.
        name: String,
    },
    /// A name that Azure knows, such as the name of a built-in role.
    WellKnown(String),
}

impl ReferenceTarget {
    /// Reads `{group, kind, name, armId, wellKnownName}`; `None` when no form is complete.
    pub fn parse(reference: &Value) -> Option<Self> {
        let text = |name: &str| {
            let text = reference.get(name)?.as_str()?;
            (!text.is_empty()).then(|| text.to_owned())
        };
        if let Some(id) = text("armId") {
            return Some(Self::ArmId(id));
        }
        if let Some(name) = text("wellKnownName") {
            return Some(Self::WellKnown(name));
        }
        Some(Self::Named {
            group: text("group")?,
            kind: text("kind")?,
            name: text("name")?,
        })
    }
}

impl fmt::Display for ReferenceTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ArmId(id) => formatter.write_str(id),
            Self::WellKnown(name) => write!(formatter, "well-known name `{name}`"),
            Self::Named { group, kind, name } => write!(formatter, "{kind}.{group} `{name}`"),
        }
    }
}

/// A key of a Secret or ConfigMap in the object's namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyReference {
    /// Name of the Secret or ConfigMap.
    pub name: String,
    /// Key in it.
    pub key: String,
}

impl KeyReference {
    /// Reads `{name, key}`; `None` when either is missing or empty.
    pub fn parse(reference: &Value) -> Option<Self> {
        let text = |name: &str| {
            let text = reference.get(name)?.as_str()?;
            (!text.is_empty()).then(|| text.to_owned())
        };
        Some(Self {
            name: text("name")?,
            key: text("key")?,
        })
    }
}

impl fmt::Display for KeyReference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.name, self.key)
    }
}

/// One use of something outside the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use<T> {
    /// Where the spec names it: `spec.networkAcls.virtualNetworkRules[0].reference`.
    pub path: String,
    /// What is named.
    pub target: T,
}

/// Everything a spec refers to, each list in the order of the shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Resources.
    pub references: Vec<Use<ReferenceTarget>>,
    /// Single keys of Secrets.
    pub secrets: Vec<Use<KeyReference>>,
    /// Whole Secrets, by name.
    pub secret_maps: Vec<Use<String>>,
    /// Single keys of ConfigMaps.
    pub config_maps: Vec<Use<KeyReference>>,
    /// ARM ids as plain text, where a reference could stand in the text's place.
    pub plain_ids: Vec<Use<String>>,
    /// Paths of references in no complete form.
    pub incomplete: Vec<String>,
}

impl Inputs {
    /// Names of all Secrets, each once.
    pub fn secret_names(&self) -> BTreeSet<&str> {
        let keys = self.secrets.iter().map(|used| used.target.name.as_str());
        keys.chain(self.secret_maps.iter().map(|used| used.target.as_str()))
            .collect()
    }

    /// Names of all ConfigMaps, each once.
    pub fn config_map_names(&self) -> BTreeSet<&str> {
        let keys = self.config_maps.iter();
        keys.map(|used| used.target.name.as_str()).collect()
    }
}

/// Collects what a spec in Kubernetes form refers to.
///
/// `azureNameFromConfig` is among the config maps; exports (`operatorSpec`) are outputs and are not.
pub fn inputs(shape: &'static StructShape, spec: &Value) -> Inputs {
    let mut found = Inputs::default();
    if let Value::Object(members) = spec {
        for field in shape.fields {
            if field.name == "owner" && field.arm == ArmPlace::Operator {
                continue;
            }
            if let Some(value) = members.get(field.name) {
                let root = Path::Root("spec");
                visit_field(shape, field, value, &root.member(field.name), &mut found);
            }
        }
    }
    found
}

fn visit_field(
    shape: &'static StructShape,
    field: &'static Field,
    value: &Value,
    path: &Path<'_>,
    found: &mut Inputs,
) {
    match value.as_str() {
        Some(text) if is_arm_id(text) && has_reference_twin(shape, field) => {
            let (path, target) = (path.to_string(), text.to_owned());
            found.plain_ids.push(Use { path, target });
        }
        _ => visit(field.ty, value, path, found),
    }
}

fn visit(ty: Type, value: &Value, path: &Path<'_>, found: &mut Inputs) {
    match (ty, value) {
        (Type::Struct(shape), Value::Object(members)) => {
            visit_struct(shape, members, value, path, found);
        }
        (Type::List(shape), Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                visit(shape.item, item, &path.item(index), found);
            }
        }
        (Type::Map(shape), Value::Object(members)) => {
            for (key, member) in members {
                visit(shape.value, member, &path.member(key), found);
            }
        }
        _ => {}
    }
}

fn visit_struct(
    shape: &'static StructShape,
    members: &Map<String, Value>,
    value: &Value,
    path: &Path<'_>,
    found: &mut Inputs,
) {
    match shape.semantic {
        Semantic::Plain | Semantic::ArmIdKeyed => {
            for field in shape.fields {
                if let Some(value) = members.get(field.name) {
                    visit_field(shape, field, value, &path.member(field.name), found);
                }
            }
        }
        Semantic::Reference | Semantic::WellKnownReference => {
            record(ReferenceTarget::parse(value), path, found, |found| {
                &mut found.references
            });
        }
        Semantic::SecretReference => {
            record(KeyReference::parse(value), path, found, |found| {
                &mut found.secrets
            });
        }
        Semantic::ConfigMapReference => {
            record(KeyReference::parse(value), path, found, |found| {
                &mut found.config_maps
            });
        }
        Semantic::SecretMapReference => {
            let name = members.get("name").and_then(Value::as_str);
            let name = name.filter(|name| !name.is_empty()).map(str::to_owned);
            record(name, path, found, |found| &mut found.secret_maps);
        }
    }
}

/// Whether Azure would take the text for an id: some services ignore space around it.
fn is_arm_id(text: &str) -> bool {
    text.trim_start().starts_with('/')
}

/// Whether the same place in the request can be filled by a reference: `fooId` beside `fooReference`.
pub fn has_reference_twin(shape: &StructShape, field: &Field) -> bool {
    let is_reference = |ty: Type| match ty {
        Type::Struct(inner) => inner.semantic == Semantic::Reference,
        _ => false,
    };
    let mut others = shape.fields.iter();
    matches!((field.ty, field.arm), (Type::String, ArmPlace::At(_)))
        && others.any(|other| other.arm == field.arm && is_reference(other.ty))
}

fn record<T>(
    target: Option<T>,
    path: &Path<'_>,
    found: &mut Inputs,
    list: impl Fn(&mut Inputs) -> &mut Vec<Use<T>>,
) {
    let path = path.to_string();
    match target {
        Some(target) => list(found).push(Use { path, target }),
        None => found.incomplete.push(path),
    }
}

#[cfg(test)]
mod tests {
    use armature_shapes::testing::gadget::VERSION;
    use armature_shapes::testing::kinds::STORE;
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_every_input_with_its_path_and_skips_the_owner() {
        let spec = json!({
            "owner": {"name": "rg"},
            "subnetReference": {"armId": "/subscriptions/s"},
            "password": {"name": "creds", "key": "password"},
            "protectedSettings": {"name": "settings"},
            "rules": [
                {"name": "a", "targetReference": {"group": "g.azure.com", "kind": "K", "name": "n"}},
                {"name": "b", "targetReference": {"kind": "K"}},
            ],
            "addressFromConfig": {"name": "net", "key": "address"},
            "identity": {"userAssignedIdentities": [{"reference": {"armId": "/id"}}]},
        });
        let found = inputs(VERSION.spec, &spec);
        let references: Vec<_> = found
            .references
            .iter()
            .map(|used| (used.path.as_str(), used.target.to_string()))
            .collect();
        assert_eq!(
            references,
            [
                (
                    "spec.identity.userAssignedIdentities[0].reference",
                    "/id".to_owned()
                ),
                ("spec.subnetReference", "/subscriptions/s".to_owned()),
                (
                    "spec.rules[0].targetReference",
                    "K.g.azure.com `n`".to_owned()
                ),
            ]
        );
        assert_eq!(found.incomplete, ["spec.rules[1].targetReference"]);
        assert_eq!(found.secrets[0].target.to_string(), "creds/password");
        assert_eq!(found.secret_maps[0].path, "spec.protectedSettings");
        assert_eq!(
            found.config_map_names().into_iter().collect::<Vec<_>>(),
            ["net"]
        );
        assert_eq!(
            found.secret_names().into_iter().collect::<Vec<_>>(),
            ["creds", "settings"]
        );
    }

    #[test]
    fn a_text_that_is_an_id_counts_where_a_reference_could_stand() {
        let plain = |spec: Value| {
            let found = inputs(STORE.versions[0].spec, &spec).plain_ids;
            let found = found.into_iter();
            found
                .map(|used| (used.path, used.target))
                .collect::<Vec<_>>()
        };
        let id = "/subscriptions/s";
        let expected = vec![("spec.peerId".to_owned(), id.to_owned())];
        assert_eq!(plain(json!({"peerId": id, "tier": id})), expected);
        assert_eq!(plain(json!({"peerId": format!(" {id}")})).len(), 1);
        assert_eq!(plain(json!({"peerId": "a name", "location": "w"})), []);
        assert_eq!(plain(json!({"peerReference": {"armId": id}})), []);
    }
}

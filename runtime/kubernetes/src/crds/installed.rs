//! What the operator reads of a CRD: little of it, because the schemas of a whole cluster take megabytes.

use std::borrow::Cow;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::ClusterResourceScope;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use armature_shapes::conversion::is_readable;
use armature_shapes::kind::KindInfo;

use crate::stored::metadata;

/// Annotations of cert-manager's injector, which writes the bundle of authorities of what has one
/// (<https://cert-manager.io/docs/concepts/ca-injector/>).
pub(super) const INJECTIONS: [&str; 3] = [
    "cert-manager.io/inject-ca-from",
    "cert-manager.io/inject-ca-from-secret",
    "cert-manager.io/inject-apiserver-ca",
];

/// A CRD on the server, without schemas.
#[derive(Clone, Debug, Deserialize)]
pub struct InstalledCrd {
    /// Metadata without managedFields; the name is `<plural>.<group>`.
    #[serde(default, deserialize_with = "metadata::without_owners")]
    pub metadata: ObjectMeta,
    /// The part of the spec that is read.
    pub spec: CrdSpec,
    /// The part of the status that is read.
    #[serde(default)]
    pub status: CrdStatus,
}

/// Names and versions of a CRD.
#[derive(Clone, Debug, Deserialize)]
pub struct CrdSpec {
    /// API group.
    pub group: String,
    /// Names of the kind.
    pub names: CrdNames,
    /// Versions.
    pub versions: Vec<CrdVersion>,
    /// How objects are converted, as the server says it; null where the CRD does not say.
    #[serde(default)]
    pub conversion: serde_json::Value,
}

/// Names of a CRD.
#[derive(Clone, Debug, Deserialize)]
pub struct CrdNames {
    /// Kind.
    pub kind: String,
}

/// A version of a CRD.
#[derive(Clone, Debug, Deserialize)]
pub struct CrdVersion {
    /// Name.
    pub name: String,
    /// Whether the API server offers it.
    pub served: bool,
    /// Whether objects are stored at it.
    pub storage: bool,
    /// What its schema has as defaults in the status of objects.
    #[serde(default, rename = "schema", deserialize_with = "status_defaults")]
    pub defaults: StatusDefaults,
}

/// Defaults that a schema has in the status of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusDefaults {
    /// Of the status itself: a new object has one.
    pub status: bool,
    /// Of the conditions in it.
    pub conditions: bool,
}

/// Reads of a schema as much as tells what objects are given in their status.
fn status_defaults<'de, D: Deserializer<'de>>(deserializer: D) -> Result<StatusDefaults, D::Error> {
    /// A schema, of which only one property counts.
    #[derive(Deserialize)]
    struct Schema<P> {
        default: Option<IgnoredAny>,
        properties: Option<P>,
    }
    #[derive(Deserialize)]
    struct Validation {
        #[serde(rename = "openAPIV3Schema")]
        root: Option<Schema<Members>>,
    }
    #[derive(Deserialize)]
    struct Members {
        status: Option<Schema<StatusMembers>>,
    }
    #[derive(Deserialize)]
    struct StatusMembers {
        conditions: Option<Schema<IgnoredAny>>,
    }
    let schema = Option::<Validation>::deserialize(deserializer)?;
    let status = schema.and_then(|it| it.root?.properties?.status);
    Ok(status.map_or_else(StatusDefaults::default, |status| {
        let conditions = status.properties.and_then(|it| it.conditions);
        StatusDefaults {
            status: status.default.is_some(),
            conditions: conditions.is_some_and(|it| it.default.is_some()),
        }
    }))
}

/// Status of a CRD.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CrdStatus {
    /// Conditions; `Established` says whether the kind is served.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub conditions: Vec<CrdCondition>,
    /// Versions in which objects may be stored.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub stored_versions: Vec<String>,
}

/// A condition of a CRD.
#[derive(Clone, Debug, Deserialize)]
pub struct CrdCondition {
    /// Type.
    #[serde(rename = "type")]
    pub condition_type: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// Text for people.
    #[serde(default)]
    pub message: String,
}

/// The server writes `null` for the lists of a CRD that it has just taken in.
fn null_is_empty<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl InstalledCrd {
    /// Whether the API server serves the kind at our storage version.
    pub fn serves(&self, kind: &KindInfo) -> bool {
        let storage = kind.hub.storage_version;
        self.holds("Established")
            && self
                .spec
                .versions
                .iter()
                .any(|version| version.served && version.name == storage)
    }

    /// A version at which the API server shows all of an object, and which this program can read: our storage version, else the
    /// one at which objects are stored now.
    pub fn readable_version(&self, kind: &KindInfo) -> Option<&str> {
        let is_established = self.holds("Established");
        let served = |is_it: &dyn Fn(&CrdVersion) -> bool| {
            let mut served = self.spec.versions.iter().filter(|version| version.served);
            served
                .find(|version| is_it(version))
                .map(|version| version.name.as_str())
        };
        let ours = served(&|version| version.name == kind.hub.storage_version);
        let theirs = || served(&|version| version.storage && is_readable(kind, &version.name));
        ours.or_else(theirs).filter(|_| is_established)
    }

    /// Whether its objects have a status before anybody has written one: the schema of the storage version says which.
    pub fn gives_status(&self) -> bool {
        let mut versions = self.spec.versions.iter();
        versions.any(|version| version.storage && version.defaults.status)
    }

    /// Whether a schema of it has any default in the status of its objects.
    pub fn has_status_default(&self) -> bool {
        let mut versions = self.spec.versions.iter();
        versions.any(|version| version.defaults != StatusDefaults::default())
    }

    /// Whether it is the CRD of this kind.
    pub fn is_of(&self, kind: &KindInfo) -> bool {
        self.spec.group == kind.group && self.spec.names.kind == kind.kind
    }

    /// Whether cert-manager goes on to write its own bundle of authorities into the conversion.
    pub fn is_injected(&self) -> bool {
        let annotations = self.metadata.annotations.as_ref();
        annotations.is_some_and(|known| INJECTIONS.iter().any(|name| known.contains_key(*name)))
    }

    /// Whether a condition is true.
    pub fn holds(&self, condition_type: &str) -> bool {
        self.status.conditions.iter().any(|condition| {
            condition.condition_type == condition_type && condition.status == "True"
        })
    }
}

impl kube::Resource for InstalledCrd {
    type DynamicType = ();
    type Scope = ClusterResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        CustomResourceDefinition::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        CustomResourceDefinition::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        CustomResourceDefinition::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        CustomResourceDefinition::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::InstalledCrd;

    fn crd(schema: Value) -> InstalledCrd {
        let crd = json!({"metadata": {}, "spec": {"group": "g", "names": {"kind": "K"}, "versions": [
            {"name": "v1", "served": true, "storage": false},
            {"name": "v1storage", "served": true, "storage": true, "schema": schema},
        ]}});
        serde_json::from_value(crd).unwrap()
    }

    #[test]
    fn the_default_of_a_status_is_seen() {
        let status = |status: Value| json!({"openAPIV3Schema": {"properties": {"status": status}}});
        let gives = json!({"type": "object", "default": {"conditions": []}});
        assert!(crd(status(gives)).gives_status());
        for none in [
            json!(null),
            json!({}),
            json!({"openAPIV3Schema": {"type": "object"}}),
        ] {
            assert!(!crd(none).gives_status());
        }
        assert!(!crd(status(json!({"type": "object"}))).gives_status());
        let conditions = json!({"properties": {"conditions": {"default": []}}});
        let half = crd(status(conditions));
        assert!(!half.gives_status() && half.has_status_default());
    }

    /// Whether or not a newer release stores objects at another version, those that are there can be read.
    #[test]
    fn objects_are_read_at_a_version_that_shows_all_of_them() {
        let kind = &armature_shapes::testing::kinds::STORE;
        let ours = kind.hub.storage_version;
        for (versions, established, expected) in [
            (
                json!([["v20200101", true, false], [ours, true, true]]),
                true,
                Some(ours),
            ),
            // An earlier release, or what is served without being known.
            (json!([["v20200101", true, true]]), true, Some("v20200101")),
            (
                json!([["v20200101", false, true], [ours, false, false]]),
                true,
                None,
            ),
            (
                json!([["v20200101", true, false], ["v2099storage", true, true]]),
                true,
                None,
            ),
            (json!([[ours, true, true]]), false, None),
        ] {
            let versions = versions.as_array().unwrap().iter();
            let versions =
                versions.map(|it| json!({"name": it[0], "served": it[1], "storage": it[2]}));
            let condition = json!({"type": "Established", "status": if established { "True" } else { "False" }});
            let crd = json!({"metadata": {}, "spec": {"group": "g", "names": {"kind": "K"}, "versions": versions.collect::<Vec<_>>()},
                "status": {"conditions": [condition]}});
            let crd: InstalledCrd = serde_json::from_value(crd).unwrap();
            assert_eq!(crd.readable_version(kind), expected);
        }
    }
}

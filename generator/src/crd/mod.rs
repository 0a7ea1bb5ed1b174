//! What a curated group's CRDs will check, told from the model alone: names, columns and the schema of each served version.
//!
//! The runtime composes CRDs of the tables that `emit` writes, when the operator starts. Whoever tries a line of a curation
//! file must not wait for that to be generated and built, so the same is worked out here; a test of the operator's holds
//! both to each other, for every kind there is. Known values of open lists are in, as `armature crds --known-values` puts them
//! in. Not here: CEL rules, which say nothing about the shape of data, and the
//! storage version, which checks nothing.

mod checks;
mod common;
mod value;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use self::checks::Checks;
use crate::model::{Group, MissingType, Resource, Version};

/// The CRDs of the kinds that are wanted, as `apiextensions.k8s.io/v1` JSON without what this module leaves aside.
///
/// Versions that are served on request are not among them.
///
/// # Errors
/// When a type refers to one that is not there.
pub fn definitions(
    group: &Group,
    is_wanted: impl Fn(&Resource) -> bool,
) -> Result<Vec<Value>, MissingType> {
    let mut kinds = BTreeMap::<&str, (Value, Vec<Value>)>::new();
    for version in group.versions.values() {
        let served = version.resources.iter().filter(|it| !it.is_on_request);
        for resource in served.filter(|it| is_wanted(it)) {
            let schema = schema(version, resource)?;
            let (_, versions) = kinds
                .entry(&resource.kind)
                .or_insert_with(|| (names(group, resource), Vec::new()));
            let served = resource.version_names.iter();
            versions.extend(served.map(|name| {
                json!({
                    "name": name,
                    "storage": false,
                    "schema": {"openAPIV3Schema": schema},
                    "additionalPrinterColumns": columns(),
                })
            }));
        }
    }
    let definition = |(names, versions): (Value, Vec<Value>)| json!({"spec": {"group": group.api_group, "names": names, "versions": versions}});
    Ok(kinds.into_values().map(definition).collect())
}

fn names(group: &Group, resource: &Resource) -> Value {
    let kind = &resource.kind;
    json!({
        "categories": ["azure", group.category()],
        "kind": kind,
        "listKind": format!("{kind}List"),
        "plural": resource.plural,
        "singular": kind.to_lowercase(),
    })
}

fn columns() -> Vec<Value> {
    let members = [
        ("Ready", "status"),
        ("Severity", "severity"),
        ("Reason", "reason"),
        ("Message", "message"),
    ];
    let column = |(name, member)| {
        let path = format!(".status.conditions[?(@.type=='Ready')].{member}");
        json!({"name": name, "type": "string", "jsonPath": path})
    };
    members.into_iter().map(column).collect()
}

fn schema(version: &Version, resource: &Resource) -> Result<Value, MissingType> {
    let spec = value::root(version, &resource.spec, Checks::All)?;
    let mut status = value::root(version, &resource.status, Checks::Types)?;
    if let Some(properties) = status.get_mut("properties").and_then(Value::as_object_mut) {
        let generation = json!({"type": "integer", "format": "int64"});
        properties.insert("observedGeneration".to_owned(), generation);
    }
    let open = |ty: &str| json!({"type": ty});
    let mut properties = Map::new();
    properties.insert("apiVersion".to_owned(), open("string"));
    properties.insert("kind".to_owned(), open("string"));
    properties.insert("metadata".to_owned(), open("object"));
    properties.insert("spec".to_owned(), spec);
    properties.insert("status".to_owned(), status);
    Ok(json!({"type": "object", "properties": properties}))
}

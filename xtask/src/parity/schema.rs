//! CRDs as flat paths: `spec.subnets[].name`, `spec.tags{}`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use serde::Serialize;
use serde_json::Value;

/// What is compared of one path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// JSON type; `None` for any value.
    #[serde(rename = "type")]
    pub value_type: Option<String>,
    /// Allowed values as JSON text, in any order; empty for all.
    #[serde(rename = "enum", skip_serializing_if = "BTreeSet::is_empty")]
    pub allowed: BTreeSet<String>,
    /// Known values of an open list, spelled the same way: other ones are taken, too.
    #[serde(skip)]
    pub known: BTreeSet<String>,
    /// Whether the field must be there when its object is.
    pub required: bool,
    /// Pattern, format, bounds and lengths, by keyword.
    #[serde(flatten)]
    pub limits: BTreeMap<&'static str, Value>,
}

/// Path → facts.
pub type Paths = BTreeMap<String, Facts>;
/// What a CRD says of itself beside its schema: `names.categories`, `printerColumns`.
pub type Definition = BTreeMap<String, Value>;

/// One version of a kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Version {
    /// Names and columns.
    pub definition: Definition,
    /// The schema of spec and status.
    pub paths: Paths,
}

/// Version → what it is.
pub type Versions = BTreeMap<String, Version>;
/// Kind → its versions.
pub type Group = BTreeMap<String, Versions>;
/// Group → its kinds.
pub type Crds = BTreeMap<String, Group>;

/// The keywords that limit values of a type.
const LIMITS: [&str; 8] = [
    "pattern",
    "format",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

/// Reads CRDs: a `List`, an array or one. The storage version is left out: it is for the operator alone.
pub fn parse_crds(text: &str) -> anyhow::Result<Crds> {
    let document: Value = serde_json::from_str(text).context("the CRDs are not JSON")?;
    match (&document["items"], &document) {
        (Value::Array(items), _) | (_, Value::Array(items)) => read_crds(items),
        _ => read_crds(&[document]),
    }
}

/// As [`parse_crds`], of CRDs one by one.
pub fn read_crds(items: &[Value]) -> anyhow::Result<Crds> {
    let mut crds = Crds::new();
    for crd in items {
        let text = |pointer: &str| {
            crd.pointer(pointer)
                .and_then(Value::as_str)
                .with_context(|| format!("a CRD has no {pointer}"))
        };
        let kind = crds
            .entry(text("/spec/group")?.to_owned())
            .or_default()
            .entry(text("/spec/names/kind")?.to_owned())
            .or_default();
        for version in crd["spec"]["versions"].as_array().into_iter().flatten() {
            if version["storage"] == true {
                continue;
            }
            let name = version["name"].as_str().context("a version has no name")?;
            let version = Version {
                definition: definition(&crd["spec"]["names"], &version["additionalPrinterColumns"]),
                paths: paths(version),
            };
            kind.insert(name.to_owned(), version);
        }
    }
    Ok(crds)
}

/// Names, one by one, and columns in their order.
pub fn definition(names: &Value, columns: &Value) -> Definition {
    let names = names.as_object().into_iter().flatten();
    let mut definition: Definition = names
        .map(|(name, value)| (format!("names.{name}"), value.clone()))
        .collect();
    definition.insert("printerColumns".to_owned(), columns.clone());
    definition
}

fn paths(version: &Value) -> Paths {
    let mut paths = Paths::new();
    let properties = &version["schema"]["openAPIV3Schema"]["properties"];
    for side in ["spec", "status"] {
        // Required or not at the top says nothing about the resource; the target leaves it out, too.
        flatten(&properties[side], side, false, &mut paths);
    }
    paths
}

fn flatten(schema: &Value, path: &str, required: bool, paths: &mut Paths) {
    if schema.is_null() {
        return;
    }
    let properties = schema["properties"].as_object();
    let anything = schema["x-kubernetes-preserve-unknown-fields"] == true
        && properties.is_none_or(serde_json::Map::is_empty);
    let value_type = schema["type"].as_str().filter(|_| !anything);
    paths.insert(
        path.to_owned(),
        Facts {
            value_type: value_type.map(str::to_owned),
            allowed: allowed(&schema["enum"]),
            known: allowed(&schema["anyOf"][0]["enum"]),
            required,
            limits: limits(schema),
        },
    );
    let must_have: BTreeSet<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, property) in properties.into_iter().flatten() {
        let required = must_have.contains(name.as_str());
        flatten(property, &format!("{path}.{name}"), required, paths);
    }
    flatten(&schema["items"], &format!("{path}[]"), false, paths);
    let values = &schema["additionalProperties"];
    flatten(values, &format!("{path}{{}}"), false, paths);
}

/// The limits that a schema sets.
pub fn limits(schema: &Value) -> BTreeMap<&'static str, Value> {
    let limit = |keyword: &&'static str| Some((*keyword, schema.get(*keyword)?.clone()));
    LIMITS.iter().filter_map(limit).collect()
}

/// The values of an `enum`, as JSON text so that numbers and strings differ.
pub fn allowed(values: &Value) -> BTreeSet<String> {
    values
        .as_array()
        .into_iter()
        .flatten()
        .map(Value::to_string)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn flattens_every_form_of_schema() {
        let crd = json!({"items": [{"spec": {
            "group": "a.azure.com",
            "names": {"kind": "Thing"},
            "versions": [
                {"name": "v1", "storage": false, "additionalPrinterColumns": [{"name": "Ready"}], "schema": {"openAPIV3Schema": {"required": ["spec"], "properties": {
                    "metadata": {"type": "object"},
                    "spec": {"type": "object", "required": ["mode"], "properties": {
                        "mode": {"type": "string", "enum": ["b", "a"]},
                        "list": {"type": "array", "items": {"type": "object", "required": ["x"],
                            "properties": {"x": {"type": "integer"}}}},
                        "tags": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 9}},
                        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                    }}}}}},
                {"name": "v1storage", "storage": true, "schema": {}},
            ],
        }}]});
        let crds = parse_crds(&crd.to_string()).unwrap();
        let versions = &crds["a.azure.com"]["Thing"];
        assert_eq!(versions.keys().collect::<Vec<_>>(), ["v1"]);
        let definition = &versions["v1"].definition;
        assert_eq!(definition["names.kind"], "Thing");
        assert_eq!(definition["printerColumns"], json!([{"name": "Ready"}]));
        let paths = &versions["v1"].paths;
        assert_eq!(paths["spec.tags{}"].limits["maxLength"], 9);
        let shown: Vec<String> = paths
            .iter()
            .map(|(path, facts)| {
                let kind = facts.value_type.as_deref().unwrap_or("anything");
                format!("{path} {kind} {} {}", facts.required, facts.allowed.len())
            })
            .collect();
        assert_eq!(
            shown,
            [
                "spec object false 0",
                "spec.free anything false 0",
                "spec.list array false 0",
                "spec.list[] object false 0",
                "spec.list[].x integer true 0",
                "spec.mode string true 2",
                "spec.tags object false 0",
                "spec.tags{} string false 0",
            ]
        );
    }
}

//! Prints the schema paths of every kind and version of a group after curation, as JSON: for a quick comparison
//! with schemas from elsewhere. `curated CURATION_FILE SPEC_TREE`.

use std::collections::BTreeMap;
use std::error::Error;

use armature_generator::curate::GroupConfig;
use armature_generator::load::SpecRoot;
use armature_generator::model::{CommonType, Property, TypeDef, TypeName, TypeRef, TypeTable};
use armature_generator::pipeline::curated_group;
use serde_json::{Map, Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("no curation file given")?;
    let specs = SpecRoot::new(arguments.next().ok_or("no spec tree given")?);
    let config = GroupConfig::parse(file.clone(), std::fs::read_to_string(file)?)?;
    let group = curated_group(&specs, &config)?;
    let mut kinds = BTreeMap::<String, Map<String, Value>>::new();
    for version in group.versions.values() {
        for resource in &version.resources {
            let mut paths = Map::new();
            object(&version.types, &resource.spec, "spec", &mut paths);
            object(&version.types, &resource.status, "status", &mut paths);
            for name in &resource.version_names {
                let kind = kinds.entry(resource.kind.clone()).or_default();
                kind.insert(name.clone(), Value::Object(paths.clone()));
            }
        }
    }
    println!("{}", serde_json::to_string(&kinds)?);
    Ok(())
}

fn object(types: &TypeTable, name: &TypeName, at: &str, paths: &mut Map<String, Value>) {
    if let Some(TypeDef::Object(object)) = types.get(name) {
        for property in &object.properties {
            let path = format!("{at}.{}", property.name);
            value(types, &property.ty, &path, Some(property), paths);
        }
    }
}

fn value(
    types: &TypeTable,
    ty: &TypeRef,
    path: &str,
    property: Option<&Property>,
    paths: &mut Map<String, Value>,
) {
    let mut facts = Map::new();
    let word = match ty {
        TypeRef::Bool => "boolean",
        TypeRef::Integer(_) => "integer",
        TypeRef::Number => "number",
        TypeRef::String => "string",
        TypeRef::Json => "any",
        TypeRef::List(_) | TypeRef::ArmIdKeyed => "array",
        TypeRef::Named(name) => match types.get(name) {
            Some(TypeDef::Enum(values)) => {
                facts.insert("enum".to_owned(), json!(values.values));
                "string"
            }
            _ => "object",
        },
        _ => "object",
    };
    facts.insert("type".to_owned(), json!(word));
    if let Some(property) = property {
        if property.required {
            facts.insert("required".to_owned(), json!(true));
        }
        let rules = &property.rules;
        for (name, value) in [
            ("minLength", rules.min_length),
            ("maxLength", rules.max_length),
            ("minItems", rules.min_items),
            ("maxItems", rules.max_items),
        ] {
            if let Some(value) = value {
                facts.insert(name.to_owned(), json!(value));
            }
        }
        if let Some(pattern) = &rules.pattern {
            facts.insert("pattern".to_owned(), json!(pattern));
        }
        for (name, value) in [("minimum", rules.minimum), ("maximum", rules.maximum)] {
            if let Some(value) = value {
                facts.insert(name.to_owned(), json!(value));
            }
        }
    }
    paths.insert(path.to_owned(), Value::Object(facts));
    match ty {
        TypeRef::List(item) => value(types, item, &format!("{path}[]"), None, paths),
        TypeRef::Map(item) => value(types, item, &format!("{path}{{}}"), None, paths),
        TypeRef::Named(name) => object(types, name, path, paths),
        TypeRef::ArmIdKeyed => {
            paths.insert(format!("{path}[]"), json!({"type": "object"}));
            paths.insert(format!("{path}[].reference"), json!({"type": "object"}));
            members(&format!("{path}[].reference"), TypeRef::Reference, paths);
        }
        other => members(path, other.clone(), paths),
    }
}

/// Paths below the operator's own structs.
fn members(path: &str, ty: TypeRef, paths: &mut Map<String, Value>) {
    let destination = ["!key", "!name", "annotations{}", "labels{}"];
    let names: &[&str] = match ty {
        TypeRef::Reference => &["armId", "group", "kind", "name"],
        TypeRef::WellKnownReference => &["armId", "group", "kind", "name", "wellKnownName"],
        TypeRef::Secret | TypeRef::ConfigMap(_) => &["!key", "!name"],
        TypeRef::SecretMap => &["!name"],
        TypeRef::Common(CommonType::KnownResourceReference) => &["armId", "name"],
        TypeRef::Common(CommonType::ArbitraryOwnerReference) => &["armId", "group", "kind", "name"],
        TypeRef::Common(CommonType::Condition) => &[
            "!lastTransitionTime",
            "message",
            "observedGeneration",
            "!reason",
            "severity",
            "!status",
            "!type",
        ],
        TypeRef::Common(CommonType::DestinationExpression) => {
            &["key", "!name", "!value", "annotations{}", "labels{}"]
        }
        TypeRef::Common(CommonType::SecretDestination | CommonType::ConfigMapDestination) => {
            &destination
        }
        _ => &[],
    };
    for name in names {
        let mut facts = Map::new();
        if name.starts_with('!') {
            facts.insert("required".to_owned(), json!(true));
        }
        let name = name.trim_start_matches('!');
        let word = if name == "observedGeneration" {
            "integer"
        } else if name.ends_with("{}") {
            "object"
        } else {
            "string"
        };
        facts.insert("type".to_owned(), json!(word));
        let plain = name.trim_end_matches("{}");
        paths.insert(format!("{path}.{plain}"), Value::Object(facts));
        if plain != name {
            paths.insert(format!("{path}.{name}"), json!({"type": "string"}));
        }
    }
}

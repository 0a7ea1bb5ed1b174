//! What Azure's spec files say to be the default of a property: read from the files themselves, by a walk that shares nothing with the
//! generator, so that a mistake of its does not excuse itself.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::Value;

/// Longest way through references and `allOf`.
const DEEPEST: usize = 24;

/// The spec files, each read once.
#[derive(Debug)]
pub struct SpecDefaults {
    folder: PathBuf,
    files: RefCell<BTreeMap<String, Rc<Value>>>,
}

/// A place in a spec file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    file: String,
    pointer: String,
}

impl SpecDefaults {
    /// Those in the folder of Azure's data.
    pub fn new(data: &Path) -> Self {
        Self {
            folder: data.join("azure-rest-api-specs"),
            files: RefCell::default(),
        }
    }

    /// Whether all these values are the default at a path in the schema of an ARM type, by the spec files of a version.
    pub fn are(&self, path: &str, values: &[Value], arm_type: &str, sources: &[&str]) -> bool {
        let mut places = self.bodies(arm_type, sources);
        for name in path.split('.') {
            let items = name.matches("[]").count();
            let name = name.trim_end_matches("[]");
            places = self.each(&places, |place| self.members(place, name, sources, 0));
            for _ in 0..items {
                places = self.each(&places, |place| self.items(place, 0));
            }
        }
        let defaults: Vec<Value> = places
            .iter()
            .filter_map(|place| self.default(place, 0))
            .collect();
        let is_default = |value: &Value| defaults.iter().any(|default| is_same(value, default));
        !values.is_empty() && values.iter().all(is_default)
    }

    fn each(&self, places: &[Place], step: impl Fn(&Place) -> Vec<Place>) -> Vec<Place> {
        let mut found: Vec<Place> = Vec::new();
        for place in places.iter().flat_map(step) {
            if !found.contains(&place) {
                found.push(place);
            }
        }
        found
    }

    /// The schemas of the bodies of all PUTs of a type.
    fn bodies(&self, arm_type: &str, sources: &[&str]) -> Vec<Place> {
        let mut found = Vec::new();
        for file in sources {
            let document = self.file(file);
            let Some(Value::Object(paths)) = document.get("paths") else {
                continue;
            };
            for (path, operations) in paths {
                let Some(Value::Array(parameters)) = operations.pointer("/put/parameters") else {
                    continue;
                };
                if !type_of(path).is_some_and(|of| of.eq_ignore_ascii_case(arm_type)) {
                    continue;
                }
                let above = format!("/paths/{}/put/parameters", escaped(path));
                for index in 0..parameters.len() {
                    let place = self.target(Place {
                        file: (*file).to_owned(),
                        pointer: format!("{above}/{index}"),
                    });
                    if self.at(&place)["in"] == "body" {
                        found.push(place.below("schema"));
                    }
                }
            }
        }
        found
    }

    /// The schemas of a member: of the schema itself, of what it includes, and else of those that include it.
    fn members(&self, place: &Place, name: &str, sources: &[&str], depth: usize) -> Vec<Place> {
        let found = self.own_members(place, name, depth);
        if !found.is_empty() || depth > DEEPEST {
            return found;
        }
        let place = self.target(place.clone());
        let mut found = Vec::new();
        for file in sources {
            let document = self.file(file);
            let Some(Value::Object(definitions)) = document.get("definitions") else {
                continue;
            };
            for (definition, schema) in definitions {
                let parts = schema["allOf"].as_array().into_iter().flatten();
                let mut targets = parts.filter_map(|part| resolve(file, part["$ref"].as_str()?));
                if targets.any(|target| target == place) {
                    let derived = Place {
                        file: (*file).to_owned(),
                        pointer: format!("/definitions/{}", escaped(definition)),
                    };
                    found.extend(self.members(&derived, name, sources, depth + DEEPEST / 4));
                }
            }
        }
        found
    }

    fn own_members(&self, place: &Place, name: &str, depth: usize) -> Vec<Place> {
        if depth > DEEPEST {
            return Vec::new();
        }
        let place = self.target(place.clone());
        let schema = self.at(&place);
        let mut found = Vec::new();
        for known in schema["properties"].as_object().into_iter().flatten() {
            if known.0.eq_ignore_ascii_case(name) {
                found.push(place.below("properties").below(&escaped(known.0)));
            }
        }
        let parts = schema["allOf"].as_array().map_or(0, Vec::len);
        for index in 0..parts {
            let part = place.below("allOf").below(&index.to_string());
            found.extend(self.own_members(&part, name, depth + 1));
        }
        found
    }

    fn items(&self, place: &Place, depth: usize) -> Vec<Place> {
        let place = self.target(place.clone());
        let schema = self.at(&place);
        let names = ["items", "additionalProperties"].into_iter();
        let names = names.filter(|name| schema[*name].is_object());
        let mut found: Vec<Place> = names.map(|name| place.below(name)).collect();
        if depth <= DEEPEST {
            let parts = schema["allOf"].as_array().map_or(0, Vec::len);
            for index in 0..parts {
                let part = place.below("allOf").below(&index.to_string());
                found.extend(self.items(&part, depth + 1));
            }
        }
        found
    }

    /// The default that a schema, or what it refers to, states.
    fn default(&self, place: &Place, depth: usize) -> Option<Value> {
        let schema = self.at(place);
        if let Some(default) = schema.get("default") {
            return Some(default.clone());
        }
        let parts = schema["allOf"].as_array().into_iter().flatten();
        let mut references = std::iter::once(&schema)
            .chain(parts)
            .filter_map(|schema| resolve(&place.file, schema["$ref"].as_str()?));
        match depth > DEEPEST {
            true => None,
            false => references.find_map(|target| self.default(&target, depth + 1)),
        }
    }

    /// Where references from a place lead in the end.
    fn target(&self, mut place: Place) -> Place {
        for _ in 0..DEEPEST {
            let schema = self.at(&place);
            let reference = schema["$ref"].as_str();
            match reference.and_then(|reference| resolve(&place.file, reference)) {
                Some(target) => place = target,
                None => break,
            }
        }
        place
    }

    fn at(&self, place: &Place) -> Value {
        let document = self.file(&place.file);
        document
            .pointer(&place.pointer)
            .cloned()
            .unwrap_or_default()
    }

    /// A file; null where there is none.
    fn file(&self, path: &str) -> Rc<Value> {
        let mut files = self.files.borrow_mut();
        let file = files.entry(path.to_owned()).or_insert_with(|| {
            let text = std::fs::read_to_string(self.folder.join(path));
            let value = text.ok().and_then(|text| {
                let text = text.trim_start_matches('\u{feff}');
                serde_json::from_str(text).ok()
            });
            Rc::new(value.unwrap_or_default())
        });
        file.clone()
    }
}

impl Place {
    fn below(&self, name: &str) -> Self {
        Self {
            file: self.file.clone(),
            pointer: format!("{}/{name}", self.pointer),
        }
    }
}

/// Whether two values are the same. Azure answers words in a casing of its own.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one.as_str(), other.as_str()) {
        (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
        _ => one == other,
    }
}

/// The place that a reference in a file leads to.
fn resolve(file: &str, reference: &str) -> Option<Place> {
    let (relative, pointer) = reference.split_once('#')?;
    let mut parts: Vec<&str> = file.split('/').collect();
    if !relative.is_empty() {
        parts.pop();
        for part in relative.split('/') {
            match part {
                "." | "" => {}
                ".." => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
    }
    Some(Place {
        file: parts.join("/"),
        pointer: pointer.to_owned(),
    })
}

/// The ARM type of a path: provider and every other segment.
fn type_of(path: &str) -> Option<String> {
    let (_, rest) = path.rsplit_once("/providers/")?;
    let mut segments = rest.trim_end_matches('/').split('/');
    let provider = segments.next()?;
    let types: Vec<&str> = segments.step_by(2).collect();
    Some(format!("{provider}/{}", types.join("/")))
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn defaults_are_read_through_references_and_includes() {
        let folder = tempfile::tempdir().unwrap();
        let specs = folder.path().join("azure-rest-api-specs");
        std::fs::create_dir_all(specs.join("common")).unwrap();
        let write = |name: &str, value: Value| {
            std::fs::write(specs.join(name), value.to_string()).unwrap();
        };
        write(
            "things.json",
            json!({
                "paths": {"/subscriptions/{s}/providers/A.B/things/{t}": {"put": {"parameters": [
                    {"in": "path", "name": "t"},
                    {"in": "body", "schema": {"$ref": "#/definitions/Thing"}},
                ]}}},
                "definitions": {
                    "Thing": {"allOf": [{"$ref": "./common/base.json#/definitions/Base"}], "properties": {
                        "size": {"type": "integer", "default": 3},
                        "rules": {"type": "array", "items": {"$ref": "#/definitions/Rule"}},
                        "source": {"$ref": "#/definitions/Source"},
                    }},
                    "Rule": {"properties": {"action": {"$ref": "#/definitions/Action"}, "note": {}}},
                    "Action": {"type": "string", "enum": ["Allow"], "default": "Allow"},
                    "Source": {"discriminator": "kind"},
                    "Blob": {"allOf": [{"$ref": "#/definitions/Source"}], "properties": {"hot": {"default": true}}},
                },
            }),
        );
        write(
            "common/base.json",
            json!({"definitions": {"Base": {"properties": {"tier": {"default": "Hot"}}}}}),
        );
        let sources = ["things.json", "common/base.json"];
        let defaults = SpecDefaults::new(folder.path());
        for (path, value, expected) in [
            ("size", json!(3), true),
            ("size", json!(4), false),
            ("tier", json!("hot"), true),
            ("rules[].action", json!("Allow"), true),
            ("rules[].note", json!("x"), false),
            ("source.hot", json!(true), true),
            ("nothing", json!(null), false),
        ] {
            let found = defaults.are(path, &[value], "a.b/Things", &sources);
            assert_eq!(found, expected, "{path}");
        }
        assert!(!defaults.are("size", &[json!(3)], "A.B/others", &sources));
        assert!(!defaults.are("size", &[json!(3), Value::Null], "A.B/things", &sources));
    }
}

//! Swagger 2.0 → OpenAPI 3.0, as TypeSpec's emitter would write the same API. For tests only.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// Files by path, relative to the root of a tree.
pub type Files = BTreeMap<String, Value>;

/// Converts a whole tree, so that references between files stay right.
pub fn convert(swagger: &Files) -> Files {
    let bodies = body_parameters(swagger);
    swagger
        .iter()
        .map(|(file, document)| {
            let converter = Converter {
                file,
                bodies: &bodies,
                values: variant_values(document),
            };
            (file.clone(), converter.document(document))
        })
        .collect()
}

/// Places of named parameters that are a body: OpenAPI 3 has another home for these.
fn body_parameters(files: &Files) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for (file, document) in files {
        for (name, parameter) in members(&document["parameters"]) {
            if parameter["in"] == "body" {
                found.insert((file.clone(), format!("/parameters/{}", escape(name))));
            }
        }
    }
    found
}

/// Base → value → variant, for variants whose base is in the same file.
fn variant_values(document: &Value) -> BTreeMap<String, Vec<(String, String)>> {
    let definitions = &document["definitions"];
    let mut found: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (name, definition) in members(definitions) {
        let Some(value) = definition["x-ms-discriminator-value"].as_str() else {
            continue;
        };
        if let Some(base) = base_of(definitions, definition, 0) {
            let values = found.entry(base).or_default();
            values.push((value.to_owned(), name.clone()));
        }
    }
    found
}

/// The nearest definition with a discriminator that `definition` includes.
fn base_of(definitions: &Value, definition: &Value, depth: usize) -> Option<String> {
    let parts = definition["allOf"].as_array()?;
    parts.iter().filter(|_| depth < 20).find_map(|part| {
        let name = part["$ref"].as_str()?.strip_prefix("#/definitions/")?;
        let base = definitions.get(name)?;
        match base.get("discriminator") {
            Some(_) => Some(name.to_owned()),
            None => base_of(definitions, base, depth + 1),
        }
    })
}

struct Converter<'t> {
    file: &'t str,
    bodies: &'t BTreeSet<(String, String)>,
    values: BTreeMap<String, Vec<(String, String)>>,
}

impl Converter<'_> {
    fn document(&self, swagger: &Value) -> Value {
        let mut schemas = Map::new();
        for (name, definition) in members(&swagger["definitions"]) {
            schemas.insert(name.clone(), self.definition(name, definition));
        }
        let mut parameters = Map::new();
        let mut bodies = Map::new();
        for (name, parameter) in members(&swagger["parameters"]) {
            if parameter["in"] == "body" {
                bodies.insert(name.clone(), self.request_body(parameter));
            } else if parameter["in"] != "formData" {
                parameters.insert(name.clone(), self.parameter(parameter));
            }
        }
        let mut paths = Map::new();
        for (template, item) in members(&swagger["paths"]) {
            paths.insert(template.clone(), self.path(item));
        }
        json!({
            "openapi": "3.0.0",
            "info": {"title": "Converted", "version": text(&swagger["info"]["version"])},
            "paths": paths,
            "components": {"schemas": schemas, "parameters": parameters, "requestBodies": bodies},
        })
    }

    /// A named schema; its discriminator value has moved to the base.
    fn definition(&self, name: &str, definition: &Value) -> Value {
        let mut schema = self.schema(definition);
        let values = self.values.values().flatten();
        if values.clone().any(|(_, variant)| variant == name)
            && let Some(members) = schema.as_object_mut()
        {
            members.shift_remove("x-ms-discriminator-value");
        }
        if let Some(values) = self.values.get(name) {
            for (value, variant) in values {
                schema["discriminator"]["mapping"][value] =
                    json!(format!("#/components/schemas/{}", escape(variant)));
            }
        }
        schema
    }

    fn path(&self, item: &Value) -> Value {
        let mut converted = Map::new();
        let shared = items(&item["parameters"]);
        let rest = shared.iter().filter(|it| !self.is_body(it));
        let rest: Vec<Value> = rest.map(|it| self.parameter(it)).collect();
        converted.insert("parameters".to_owned(), json!(rest));
        for verb in ["get", "head", "put", "patch", "delete", "post"] {
            if let Some(operation) = item.get(verb) {
                let operation = self.operation(operation, shared);
                converted.insert(verb.to_owned(), operation);
            }
        }
        Value::Object(converted)
    }

    fn operation(&self, operation: &Value, shared: &[Value]) -> Value {
        let own = items(&operation["parameters"]);
        let rest = own
            .iter()
            .filter(|it| !self.is_body(it) && it["in"] != "formData");
        let rest: Vec<Value> = rest.map(|it| self.parameter(it)).collect();
        let mut responses = Map::new();
        for (code, response) in members(&operation["responses"]) {
            let mut converted = json!({"description": ""});
            if let Some(schema) = response.get("schema") {
                converted["content"] = json!({"application/json": {"schema": self.schema(schema)}});
            }
            responses.insert(code.clone(), converted);
        }
        let mut converted = json!({"parameters": rest, "responses": responses});
        if let Some(body) = own.iter().chain(shared).find(|it| self.is_body(it)) {
            converted["requestBody"] = self.request_body(body);
        }
        for (name, extension) in members(operation).filter(|(name, _)| name.starts_with("x-")) {
            converted[name] = extension.clone();
        }
        converted
    }

    fn is_body(&self, parameter: &Value) -> bool {
        parameter["in"] == "body"
            || parameter["$ref"]
                .as_str()
                .is_some_and(|text| self.bodies.contains(&self.target(text)))
    }

    fn request_body(&self, parameter: &Value) -> Value {
        if let Some(reference) = parameter["$ref"].as_str() {
            return json!({"$ref": self.reference(reference)});
        }
        json!({"content": {"application/json": {"schema": self.schema(&parameter["schema"])}}})
    }

    fn parameter(&self, parameter: &Value) -> Value {
        if let Some(reference) = parameter["$ref"].as_str() {
            return json!({"$ref": self.reference(reference)});
        }
        let mut converted = Map::new();
        let mut schema = Map::new();
        for (name, member) in members(parameter) {
            let beside = ["name", "in", "required", "description"].contains(&name.as_str());
            let into = if beside { &mut converted } else { &mut schema };
            // Some values are strings where JSON has booleans; nobody reads them.
            if name != "collectionFormat" {
                into.insert(name.clone(), member.clone());
            }
        }
        converted.insert("schema".to_owned(), Value::Object(schema));
        Value::Object(converted)
    }

    fn schema(&self, schema: &Value) -> Value {
        let mut converted = Map::new();
        let is_reference = schema.get("$ref").is_some();
        // A reference replaces what stands beside it; only Azure's facts about the place count.
        let counts = |name: &str| {
            let facts = ["$ref", "default", "description", "readOnly"];
            !is_reference || facts.contains(&name) || name.starts_with("x-")
        };
        for (name, member) in members(schema).filter(|(name, _)| counts(name)) {
            let (name, member) = match name.as_str() {
                // Nothing can stand beside a reference.
                "$ref" => {
                    let reference = json!({"$ref": self.reference(&text(member))});
                    if schema.as_object().is_some_and(|all| all.len() == 1) {
                        return reference;
                    }
                    ("allOf", json!([reference]))
                }
                "properties" => {
                    let inner = members(member).map(|(name, it)| (name.clone(), self.schema(it)));
                    ("properties", Value::Object(inner.collect()))
                }
                "allOf" => {
                    let inner = items(member).iter().map(|it| self.schema(it));
                    ("allOf", inner.collect())
                }
                "items" | "additionalProperties" if member.is_object() => {
                    (name.as_str(), self.schema(member))
                }
                "discriminator" => ("discriminator", json!({"propertyName": member})),
                "x-nullable" => ("nullable", member.clone()),
                name => (name, member.clone()),
            };
            converted.insert(name.to_owned(), member);
        }
        Value::Object(converted)
    }

    fn reference(&self, text: &str) -> String {
        let (file, pointer) = text.split_once('#').unwrap_or((text, ""));
        let homes = [
            ("/definitions/", "/components/schemas/"),
            ("/parameters/", "/components/parameters/"),
        ];
        if self.bodies.contains(&self.target(text)) {
            return format!(
                "{file}#{}",
                pointer.replacen("/parameters/", "/components/requestBodies/", 1)
            );
        }
        let home = homes
            .iter()
            .find_map(|(from, to)| Some(format!("{to}{}", pointer.strip_prefix(from)?)));
        format!("{file}#{}", home.as_deref().unwrap_or(pointer))
    }

    /// File and pointer that a reference leads to.
    fn target(&self, text: &str) -> (String, String) {
        let (relative, pointer) = text.split_once('#').unwrap_or((text, ""));
        if relative.is_empty() {
            return (self.file.to_owned(), pointer.to_owned());
        }
        let mut parts: Vec<&str> = self.file.split('/').collect();
        parts.pop();
        for part in relative.split('/') {
            match part {
                "." | "" => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        (parts.join("/"), pointer.to_owned())
    }
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> + Clone {
    value.as_object().into_iter().flatten()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

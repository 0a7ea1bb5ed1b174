//! What fuzzing found in passes 1 to 3, each as the smallest spec that shows it.

use armature_generator::discover::discover;
use armature_generator::load::load;
use armature_generator::model::{ApiVersion, TypeDef, TypeId, Version};
use armature_generator::naming::TypeNames;
use armature_generator::types::build;
use serde_json::{Map, Value, json};

use crate::common::specs;

const FILE: &str = "found/spec.json";

/// A spec with one resource, whose `properties` are of schema `A`, and these definitions.
fn spec(definitions: &Map<String, Value>) -> String {
    spec_at("things/{name}", json!([]), definitions)
}

fn spec_at(tail: &str, parameters: Value, definitions: &Map<String, Value>) -> String {
    let mut definitions = definitions.clone();
    let thing = json!({
        "x-ms-azure-resource": true,
        "properties": {"name": {"type": "string"}, "properties": {"$ref": "#/definitions/A"}}
    });
    definitions.insert("Thing".to_owned(), thing);
    let answer = json!({"200": {"schema": {"$ref": "#/definitions/Thing"}}});
    let body = json!({"in": "body", "name": "body", "schema": {"$ref": "#/definitions/Thing"}});
    let path = format!("/subscriptions/{{subscriptionId}}/providers/Microsoft.Test/{tail}");
    let item = json!({
        "parameters": parameters,
        "get": {"responses": answer},
        "put": {"parameters": [body], "responses": answer}
    });
    json!({
        "swagger": "2.0",
        "info": {"version": "2024-01-01"},
        "paths": {path: item},
        "definitions": definitions
    })
    .to_string()
}

fn definitions(definitions: Value) -> Map<String, Value> {
    match definitions {
        Value::Object(definitions) => definitions,
        _ => Map::new(),
    }
}

/// Definitions `A`, `A1`, …: each made by `schema` from a reference to the next, the last any value.
fn chain(length: usize, schema: impl Fn(&Value) -> Value) -> Map<String, Value> {
    let name = |index: usize| match index {
        0 => "A".to_owned(),
        index => format!("A{index}"),
    };
    let mut made = Map::new();
    for index in 0..length {
        let next = json!({"$ref": format!("#/definitions/{}", name(index + 1))});
        made.insert(name(index), schema(&next));
    }
    made.insert(name(length), json!({}));
    made
}

fn passes(text: &str) -> Result<Version, String> {
    let root = specs().with_text(FILE, text);
    let set = load(&root, &[FILE.to_owned()]).map_err(|error| error.to_string())?;
    let found = discover(&set).map_err(|error| error.to_string())?;
    build(&set, ApiVersion::new("2024-01-01"), &found).map_err(|error| error.to_string())
}

#[track_caller]
fn assert_refused(text: &str, expected: &str) {
    let message = passes(text).map(|version| version.types.len());
    let message = message.expect_err("a fault");
    assert!(message.starts_with("found/spec.json#/"), "{message}");
    assert!(message.contains(expected), "{message}");
    assert!(
        message.len() < 2000,
        "{} bytes: {message:.300}",
        message.len()
    );
}

#[test]
fn long_chains_are_refused_before_they_end_the_stack() {
    let references = chain(20_000, Value::clone);
    assert_refused(&spec(&references), "lead on through more than 64 schemas");
    let parts = chain(20_000, |next| json!({"allOf": [next]}));
    assert_refused(&spec(&parts), "lead on through more than 64 schemas");
    let mut parameters = Map::new();
    for index in 0..3000 {
        let next = json!({"$ref": format!("#/parameters/P{}", index + 1)});
        parameters.insert(format!("P{index}"), next);
    }
    parameters.insert("P3000".to_owned(), json!({"in": "query", "name": "p"}));
    let text = json!({"swagger": "2.0", "parameters": parameters}).to_string();
    assert_refused(&text, "lead on through more than 64 schemas");
}

#[test]
fn chains_of_properties_are_walked_without_the_stack_until_they_are_too_deep() {
    let inside = chain(20_000, |next| json!({"properties": {"next": next}}));
    assert_refused(&spec(&inside), "nested more than 64 deep in resource Thing");
    let lists = chain(20_000, |next| json!({"type": "array", "items": next}));
    assert_refused(&spec(&lists), "nested more than 64 deep in resource Thing");
    let maps = chain(20_000, |next| json!({"additionalProperties": next}));
    assert_refused(&spec(&maps), "nested more than 64 deep in resource Thing");
}

#[test]
fn a_schema_that_doubles_at_each_level_is_refused_at_once() {
    let doubled = chain(20, |next| json!({"allOf": [next, next]}));
    assert_refused(&spec(&doubled), "of more than 1024 others");
}

#[test]
fn variants_that_multiply_are_refused() {
    let mut made = definitions(json!({
        "A": {"discriminator": "kind", "properties": {"kind": {"type": "string"}}}
    }));
    let mut above = vec!["A".to_owned()];
    for level in 0..8 {
        let width = if level == 7 { 200 } else { 2 };
        let parts: Vec<Value> = above
            .iter()
            .map(|name| json!({"$ref": format!("#/definitions/{name}")}))
            .collect();
        above = (0..width).map(|it| format!("V{level}x{it}")).collect();
        for name in &above {
            let variant = json!({"allOf": parts, "discriminator": "kind"});
            made.insert(name.clone(), variant);
        }
    }
    assert_refused(&spec(&made), "resource Thing has more than 10000 objects");
}

#[test]
fn cycles_are_told_by_a_few_of_their_members() {
    let mut made = chain(60, Value::clone);
    made.insert("A60".to_owned(), json!({"$ref": "#/definitions/A"}));
    assert_refused(&spec(&made), "(54 more)");
}

#[test]
fn types_in_place_of_parameters_multiply_to_a_bound() {
    let segments: Vec<String> = (0..9).map(|it| format!("{{t{it}}}/{{n{it}}}")).collect();
    let values: Vec<String> = (0..10).map(|it| format!("value{it}")).collect();
    let parameters: Vec<Value> = (0..9)
        .map(|it| json!({"in": "path", "name": format!("t{it}"), "type": "string", "enum": values}))
        .collect();
    let text = spec_at(
        &segments.join("/"),
        parameters.into(),
        &definitions(json!({"A": {}})),
    );
    assert_refused(&text, "more than 256 resources");
}

#[test]
fn what_the_parser_quotes_is_cut() {
    let text = json!({"swagger": "2.0", "paths": "n".repeat(50_000)}).to_string();
    let message = passes(&text).map(|_| ()).expect_err("a fault");
    assert!(
        message.starts_with("spec file `found/spec.json`, line 1, column"),
        "{message}"
    );
    assert!(message.len() < 600, "{} bytes", message.len());
}

#[test]
fn a_file_that_cannot_be_read_is_told_with_the_reference_to_it() {
    let file = format!("{}.json", "n".repeat(300));
    let reference = json!({"$ref": format!("{file}#/definitions/A")});
    let message = passes(&spec(&definitions(json!({"A": reference}))));
    let message = message.map(|_| ()).expect_err("a fault");
    assert!(
        message.ends_with("(referenced by found/spec.json#/definitions/A)"),
        "{message}"
    );
}

#[test]
fn a_name_that_stands_twice_is_refused() {
    for (text, name) in [
        (
            r#"{"swagger": "2.0", "definitions": {"A": {}, "A": {}}}"#,
            "A",
        ),
        (r#"{"swagger": "2.0", "paths": {"/a": {}, "/a": {}}}"#, "/a"),
        (
            r#"{"swagger": "2.0", "definitions": {"A": {"properties": {"b": {}, "b": {}}}}}"#,
            "b",
        ),
        (
            r##"[{"$type": "DiscriminatedObjectType", "name": "A", "discriminator": "k", "baseProperties": {},
                "elements": {"c": {"$ref": "#/0"}, "c": {"$ref": "#/0"}}}]"##,
            "c",
        ),
    ] {
        let message = passes(text).map(|_| ()).expect_err("a fault");
        assert!(
            message.contains(&format!("`{name}` stands here twice")),
            "{message}"
        );
    }
}

#[test]
fn names_without_a_letter_of_ours_still_name_types() {
    let version = passes(&spec(&definitions(json!({
        "A": {"properties": {"": {"$ref": "#/definitions/日本"}, "-": {"$ref": "#/definitions/*"}}},
        "日本": {"properties": {"a": {"type": "string"}}},
        "*": {"type": "string", "enum": ["x", "y"]}
    }))));
    let version = version.expect("a model");
    for name in TypeNames::of_version(&version).by_name().keys() {
        assert!(
            name.as_str()
                .starts_with(|it: char| it.is_ascii_uppercase()),
            "`{name}`"
        );
    }
    let kinds = passes(&spec_at(
        "日本/{name}",
        json!([]),
        &definitions(json!({"A": {}})),
    ));
    let kinds: Vec<String> = kinds
        .expect("a model")
        .resources
        .into_iter()
        .map(|it| it.kind)
        .collect();
    assert_eq!(kinds, ["Resource"]);
}

#[test]
fn variants_have_names_of_their_own() {
    let variant = |value: &str| {
        json!({"allOf": [{"$ref": "#/definitions/A"}], "x-ms-discriminator-value": value,
            "properties": {"a": {"type": "string"}}})
    };
    let base = json!({"discriminator": "kind", "properties": {"kind": {"type": "string"}}});
    let alike = definitions(json!({"A": base, "V": variant("hard"), "W": variant("Hard")}));
    let version = passes(&spec(&alike)).expect("a model");
    let TypeDef::Object(object) = &version.types[&TypeId::of_schema("A")] else {
        panic!("an object");
    };
    let names: Vec<&str> = object
        .properties
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(names, ["hard", "hard2"]);
    let equal = definitions(json!({"A": base, "V": variant("hard"), "W": variant("hard")}));
    assert_refused(&spec(&equal), "`hard` also means");
}

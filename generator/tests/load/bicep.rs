//! The Bicep front end through passes 1 to 3, on small files of our own.

use std::collections::BTreeMap;

use armature_generator::discover::discover;
use armature_generator::load::load;
use armature_generator::model::{ApiVersion, DecidedBy, TypeDef, Version};
use armature_generator::types::build;

use crate::common::{inherited, load_specs, outline as render, specs};

const VERSION: &str = "2024-01-01";

/// The notes, with what these versions of OpenAPI add.
fn notes(openapi: &[&str]) -> Version {
    let set = load_specs(&["bicep/notes/types.json"]).expect("loads");
    let openapi = openapi.iter().map(|version| {
        let set = load_specs(&["bicep/openapi/notes.json"]).expect("loads");
        (ApiVersion::new(*version), set)
    });
    inherited(&set, &ApiVersion::new(VERSION), &openapi.collect())
}

#[test]
fn every_kind_of_type_and_flag() {
    let set = load_specs(&["bicep/notes/types.json"]).expect("loads");
    let versions: Vec<_> = set.listed().map(|it| it.api_version.clone()).collect();
    assert_eq!(versions, [Some("2024-01-01".to_owned())]);
    let found = discover(&set).expect("resources");
    let version = build(&set, ApiVersion::new("2024-01-01"), &found).expect("types");
    let paths: Vec<&str> = found.iter().map(|it| it.path.as_str()).collect();
    insta::assert_snapshot!(format!(
        "{}\n\n{}",
        paths.join("\n"),
        render::version(&version)
    ));
}

/// Without a word of specs, HEAD tells whether there is one.
#[test]
fn a_type_that_is_written_alone_is_a_resource() {
    let file = "bicep/notes/types.json";
    let text = std::fs::read_to_string(specs().place(file)).expect("file");
    let text = text.replace("\"readableScopes\": 8", "\"readableScopes\": 0");
    let set = load(&specs().with_text(file, text), &[file.to_owned()]).expect("loads");
    let found = discover(&set).expect("resources");
    let verbs: Vec<_> = found
        .iter()
        .map(|it| (it.verbs.get, it.verbs.head))
        .collect();
    assert!(verbs.contains(&(false, true)), "{verbs:?}");
    let before = load_specs(&[file]).expect("loads");
    assert_eq!(found.len(), discover(&before).expect("resources").len());
}

/// A type that no spec has: its envelope is flattened, and those of its parts, but no object that is called so.
#[test]
fn envelopes_of_types_without_a_spec() {
    let file = "bicep/walls/types.json";
    let text = r##"[
  { "$type": "StringType" },
  { "$type": "ObjectType", "name": "Example.Walls/walls", "properties": {
    "id": { "type": { "$ref": "#/0" }, "flags": 10 },
    "name": { "type": { "$ref": "#/0" }, "flags": 9 },
    "type": { "type": { "$ref": "#/0" }, "flags": 10 },
    "properties": { "type": { "$ref": "#/2" }, "flags": 0 } } },
  { "$type": "ObjectType", "name": "WallProperties", "properties": {
    "gates": { "type": { "$ref": "#/3" }, "flags": 0 },
    "paint": { "type": { "$ref": "#/6" }, "flags": 0 } } },
  { "$type": "ArrayType", "itemType": { "$ref": "#/4" } },
  { "$type": "ObjectType", "name": "Gate", "properties": {
    "name": { "type": { "$ref": "#/0" }, "flags": 0 },
    "properties": { "type": { "$ref": "#/5" }, "flags": 0 } } },
  { "$type": "ObjectType", "name": "GateProperties", "properties": {
    "width": { "type": { "$ref": "#/0" }, "flags": 0 } } },
  { "$type": "ObjectType", "name": "Paint", "properties": {
    "properties": { "type": { "$ref": "#/5" }, "flags": 0 } } },
  { "$type": "ResourceType", "name": "Example.Walls/walls@2024-01-01", "body": { "$ref": "#/1" },
    "readableScopes": 8, "writableScopes": 8 }
]"##;
    let set = load(&specs().with_text(file, text), &[file.to_owned()]).expect("loads");
    let version = inherited(&set, &ApiVersion::new(VERSION), &BTreeMap::new());
    let text = render::version(&version);
    assert!(
        text.contains("gates: [Gate] at [properties/gates]"),
        "{text}"
    );
    assert!(
        text.contains("width: string at [properties/width]"),
        "{text}"
    );
    assert!(text.contains("properties: GateProperties\n"), "{text}");
}

/// Rules may speak of a root by the definition that specs have for it, which Bicep types call by its ARM type.
#[test]
fn a_root_goes_by_the_name_of_its_definition() {
    let definitions = |version: &Version| -> Vec<Option<String>> {
        let book = version.resources.iter().find(|it| it.kind == "Book");
        let book = book.expect("a book");
        let roots = [&book.spec, &book.status].into_iter();
        let definition = |id| match version.types.get(id) {
            Some(TypeDef::Object(object)) => object.definition.clone(),
            _ => None,
        };
        roots.map(definition).collect()
    };
    let alone = Some("Example.Notes/books".to_owned());
    assert_eq!(definitions(&notes(&[])), [alone.clone(), alone]);
    let told = definitions(&notes(&["2023-01-01"]));
    assert_eq!(told, [Some("Book".to_owned()), Some("Book".to_owned())]);
}

#[test]
fn faults_name_their_place() {
    let messages: Vec<String> = ["dangling", "other-file", "unknown", "variant"]
        .iter()
        .map(|name| {
            let file = format!("bicep/faults/{name}.json");
            load_specs(&[&file]).expect_err("a fault").to_string()
        })
        .collect();
    insta::assert_snapshot!(messages.join("\n"));
}

/// Lines that inheritance takes away and adds.
#[test]
fn openapi_adds_what_bicep_does_not_say() {
    let set = load_specs(&["bicep/notes/types.json"]).expect("loads");
    let found = discover(&set).expect("resources");
    let version = build(&set, ApiVersion::new(VERSION), &found).expect("types");
    let before = render::version(&version);
    let after = render::version(&notes(&["2023-01-01"]));
    let lines_of = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|line| !line.is_empty() && *line != "}")
            .map(str::to_owned)
            .collect()
    };
    let (before, after) = (lines_of(&before), lines_of(&after));
    let gone = before.iter().filter(|line| !after.contains(line));
    let new = after.iter().filter(|line| !before.contains(line));
    let lines: Vec<String> = gone
        .map(|line| format!("- {line}"))
        .chain(new.map(|line| format!("+ {line}")))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// What each property of a book has from OpenAPI, as explanations tell it.
#[test]
fn properties_tell_what_they_inherited() {
    let version = notes(&["2023-01-01"]);
    let book = version.resources.iter().find(|it| it.kind == "Book");
    let book = book.and_then(|it| version.types.get(&it.spec));
    let Some(TypeDef::Object(book)) = book else {
        panic!("no book");
    };
    let mut lines = Vec::new();
    for property in &book.properties {
        let decisions = property.origin.decisions.iter();
        let told = decisions.filter(|decision| decision.by == DecidedBy::Inherited);
        lines.extend(told.map(|decision| format!("{}: {}", property.name, decision.what)));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn without_an_openapi_version_only_the_envelope_is_flattened() {
    let text = render::version(&notes(&[]));
    assert!(
        text.contains("paper: BookPropertiesPaper at [properties/paper] required"),
        "{text}"
    );
    assert!(!text.contains("(long)"), "{text}");
}

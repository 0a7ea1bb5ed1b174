//! The Bicep front end through passes 1 to 3, on small files of our own.

use std::collections::BTreeMap;

use armature_generator::discover::discover;
use armature_generator::inherit::inherit;
use armature_generator::load::SpecSet;
use armature_generator::model::{ApiVersion, DecidedBy, TypeDef};
use armature_generator::types::build;

use crate::common::{load_specs, outline as render};

const VERSION: &str = "2024-01-01";

fn rendered(set: &SpecSet) -> String {
    let found = discover(set).expect("resources");
    let version = build(set, ApiVersion::new(VERSION), &found).expect("types");
    render::version(&version)
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
    let openapi = load_specs(&["bicep/openapi/notes.json"]).expect("loads");
    let openapi = BTreeMap::from([(ApiVersion::new("2023-01-01"), vec![&openapi])]);
    let inherited = inherit(&set, &ApiVersion::new(VERSION), &openapi).expect("resources");
    let (before, after) = (rendered(&set), rendered(&inherited));
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
    let set = load_specs(&["bicep/notes/types.json"]).expect("loads");
    let openapi = load_specs(&["bicep/openapi/notes.json"]).expect("loads");
    let openapi = BTreeMap::from([(ApiVersion::new("2023-01-01"), vec![&openapi])]);
    let inherited = inherit(&set, &ApiVersion::new(VERSION), &openapi).expect("resources");
    let found = discover(&inherited).expect("resources");
    let version = build(&inherited, ApiVersion::new(VERSION), &found).expect("types");
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
    let set = load_specs(&["bicep/notes/types.json"]).expect("loads");
    let inherited = inherit(&set, &ApiVersion::new(VERSION), &BTreeMap::new()).expect("resources");
    let text = rendered(&inherited);
    assert!(
        text.contains("paper: BookPropertiesPaper at [properties/paper] required"),
        "{text}"
    );
    assert!(!text.contains("(long)"), "{text}");
}

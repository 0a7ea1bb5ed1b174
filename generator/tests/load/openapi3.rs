//! The OpenAPI 3.0 front end, on small files of our own: as TypeSpec's emitter writes them, and with faults.

use armature_generator::discover::discover;
use armature_generator::load::{LoadError, SpecRoot, SpecSet, load};
use armature_generator::model::ApiVersion;
use armature_generator::types::build;

use crate::common::{load_specs, outline as render};

#[test]
fn every_kind_of_schema_and_place() {
    let set = load_specs(&["openapi3/gadgets.json"]).expect("loads");
    let versions: Vec<_> = set.listed().map(|it| it.api_version.clone()).collect();
    assert_eq!(versions, [Some("2024-01-01".to_owned())]);
    let found = discover(&set).expect("resources");
    let version = build(&set, ApiVersion::new("2024-01-01"), &found).expect("types");
    insta::assert_snapshot!(render::version(&version));
}

#[test]
fn faults_name_their_place() {
    let names = [
        "31",
        "3-no-paths",
        "3-schema",
        "3-extension",
        "3-variant",
        "3-mapping",
        "3-path",
    ];
    let messages: Vec<String> = names
        .iter()
        .map(|name| {
            let file = format!("faults/openapi{name}.json");
            load_specs(&[&file]).expect_err("a fault").to_string()
        })
        .collect();
    insta::assert_snapshot!(messages.join("\n"));
}

/// A file with one schema, `depth` lists around `core`.
fn nested(depth: usize, core: &str) -> Result<SpecSet, LoadError> {
    let schema = format!(
        "{}{core}{}",
        r#"{"type":"array","items":"#.repeat(depth),
        "}".repeat(depth)
    );
    let text = format!(
        r#"{{"openapi":"3.0.0","info":{{"title":"x","version":"v"}},"paths":{{}},"components":{{"schemas":{{"A":{schema}}}}}}}"#
    );
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.json"), text).expect("a file");
    let root = SpecRoot::new(folder.path().to_string_lossy().into_owned());
    load(&root, &["a.json".to_owned()])
}

/// The parser needs much stack for each level, and twice the time where the innermost is wrong.
#[test]
fn nesting_has_an_end_that_no_real_spec_reaches() {
    assert!(nested(35, r#"{"type":"string"}"#).is_ok());
    let wrong = nested(35, r#"{"type":17}"#).expect_err("no type");
    assert!(wrong.to_string().contains("invalid type"), "{wrong}");
    let deep = nested(50, r#"{"type":"string"}"#).expect_err("too deep");
    assert!(deep.to_string().contains("nested too deep"), "{deep}");
}

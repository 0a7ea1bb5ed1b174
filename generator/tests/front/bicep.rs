//! The Bicep front end through passes 1 to 3, on small files of our own.

use armature_generator::discover::discover;
use armature_generator::model::ApiVersion;
use armature_generator::types::build;

use crate::{load_specs, render};

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

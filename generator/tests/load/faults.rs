//! Every fault is an error that names its place.

use armature_generator::discover::{DiscoverError, discover};
use armature_generator::load::LoadError;
use armature_generator::model::ApiVersion;
use armature_generator::types::{TypesError, build};

use crate::common::load_specs;

fn load_error(name: &str) -> LoadError {
    load_specs(&[&format!("faults/{name}.json")]).expect_err("a fault")
}

fn types_error(name: &str) -> TypesError {
    let set = load_specs(&[&format!("faults/{name}.json")]).expect("loads");
    let found = discover(&set).expect("resources");
    build(&set, ApiVersion::new("2024-01-01"), &found).expect_err("a fault")
}

fn discover_error(name: &str) -> DiscoverError {
    let set = load_specs(&[&format!("faults/{name}.json")]).expect("loads");
    discover(&set).expect_err("a fault")
}

/// The message without the folder of the specs, which differs from machine to machine.
fn text(error: &dyn std::error::Error) -> String {
    error.to_string().replace(env!("CARGO_MANIFEST_DIR"), "…")
}

/// One message a line, each behind the name of its spec.
fn messages<E: std::error::Error>(names: &[&str], error: impl Fn(&str) -> E) -> String {
    let lines: Vec<String> = names
        .iter()
        .map(|name| format!("{name}: {}", text(&error(name))))
        .collect();
    lines.join("\n")
}

#[test]
fn files() {
    insta::assert_snapshot!(messages(
        &[
            "nowhere",
            "missing-file",
            "broken",
            "wrong-shape",
            "no-spec"
        ],
        load_error
    ));
}

#[test]
fn references() {
    insta::assert_snapshot!(messages(
        &[
            "dangling",
            "leaves-tree",
            "alias-cycle",
            "allof-cycle",
            "parameter-cycle"
        ],
        load_error
    ));
}

#[test]
fn resources() {
    insta::assert_snapshot!(messages(
        &["duplicate-path", "duplicate-kind"],
        discover_error
    ));
}

#[test]
fn types() {
    insta::assert_snapshot!(messages(
        &["unknown-type", "file-type", "not-an-object"],
        types_error
    ));
}

//! JSON that is nested too deeply is refused, or kept as text; it never exhausts the stack.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests do"
)]

use armature_conformance::properties::{types, versions};
use armature_runtime::conversion::{STASH_ANNOTATION, from_hub, to_hub};
use armature_runtime::engine::status::status_from_arm;
use armature_runtime::shape::{Type, UnknownFields};
use serde_json::{Value, json};

/// Levels that no parser of JSON should follow by recursion.
const ABYSS: usize = 200_000;
/// Levels that the parser still takes, below those of an object.
const DEEP: usize = 120;

fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

fn object(kind: &str, api_version: &str, spec: &Value, stash: &str) -> Value {
    json!({
        "apiVersion": api_version, "kind": kind,
        "metadata": {"name": "n", "annotations": {STASH_ANNOTATION: stash}},
        "spec": spec,
    })
}

#[test]
fn text_that_is_too_deep_is_an_error() {
    let error = serde_json::from_str::<Value>(&nested(ABYSS)).unwrap_err();
    assert!(
        error.to_string().starts_with("recursion limit exceeded"),
        "{error}"
    );
}

#[test]
fn a_stash_and_a_property_bag_that_are_too_deep_stay_out() {
    for (kind, version) in versions() {
        let stash = format!(
            "{{\"spec\":[{{\"p\":[\"novel\"],\"v\":{}}}]}}",
            nested(ABYSS)
        );
        let served = object(
            kind.kind,
            &format!("{}/{}", kind.group, version.name),
            &json!({}),
            &stash,
        );
        let stored = to_hub(kind, version.name, served.clone()).unwrap();
        assert_eq!(stored["spec"], json!({"originalVersion": version.name}));

        // As deep as fits into annotations.
        let deep = nested(ABYSS / 4);
        let bag = json!({"$propertyBag": {"Novel": deep, "Owner": deep}});
        let mut stored = served;
        stored["spec"] = bag.clone();
        let there = from_hub(kind, version.name, stored.clone()).unwrap();
        let back = to_hub(kind, version.name, there.clone()).unwrap();
        assert_eq!(back["spec"]["$propertyBag"], bag["$propertyBag"]);
    }
}

#[test]
fn what_the_parser_takes_fits_the_stack() {
    let deep: Value = serde_json::from_str(&nested(DEEP)).unwrap();
    let types = types();
    for (kind, version) in versions() {
        let spec = json!({"owner": {"novel": deep}, "tags": deep, "properties": deep});
        let served = object(
            kind.kind,
            &format!("{}/{}", kind.group, version.name),
            &spec,
            &format!(
                "{{\"spec\":[{{\"p\":[\"owner\",\"other\"],\"v\":{}}}]}}",
                nested(DEEP)
            ),
        );
        let stored = to_hub(kind, version.name, served.clone()).unwrap();
        let there = from_hub(kind, version.name, stored.clone()).unwrap();
        assert_eq!(to_hub(kind, version.name, there.clone()).unwrap(), stored);
        // A field of another type is a plain error, whatever lies in it.
        let tags = version.spec.field("tags").map(|tags| tags.ty);
        if matches!(tags, Some(Type::Map(_))) {
            let recoded = types.recode(version.spec, &spec, UnknownFields::Ignore);
            let error = recoded.unwrap_err();
            assert!(
                error
                    .to_string()
                    .ends_with("expected an object, found a list"),
                "{error}"
            );
        }
        let answer = json!({"id": deep, "tags": {"a": deep}, "properties": deep, "name": "n"});
        let status = status_from_arm(version, &answer);
        assert_eq!(status.get("id"), None);
    }
}

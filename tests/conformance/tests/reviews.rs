//! Whatever a ConversionReview holds, the API server's own checks let the answer pass.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests do"
)]

use armature_conformance::properties::{for_all, versions};
use armature_e2e::Choices;
use armature_generated::KINDS;
use armature_runtime::kind::{KindInfo, VersionInfo};
use armature_runtime::kubernetes::testing::{answer, check, check_review};
use armature_runtime::testing::arbitrary::Arbitrary;
use serde_json::{Map, Value, json};

/// Reviews per version.
const CASES: u32 = 6;
/// Reviews whose text is spoiled, per kind.
const SPOILED: u32 = 8;

/// What is said of an object whose annotations have no room left.
const FULL: &str = "more than fit into its annotations";

/// A copy as structured merging prunes it: members taken out, and null where all that was in them is taken out.
fn pruned(value: Value, choices: &mut Choices) -> Value {
    match (choices.below(10), value) {
        (0, _) => Value::Null,
        (_, Value::Object(members)) => {
            let mut kept = Map::new();
            for (name, value) in members {
                if choices.below(4) > 0 {
                    kept.insert(name, pruned(value, choices));
                }
            }
            Value::Object(kept)
        }
        (_, Value::Array(items)) => {
            let items = items.into_iter();
            Value::Array(items.map(|item| pruned(item, choices)).collect())
        }
        (_, value) => value,
    }
}

/// Metadata in the forms in which reviews have it; `None` for none at all.
fn metadata(choices: &mut Choices) -> Option<Value> {
    let annotations = match choices.below(6) {
        5 => Some(json!({"mine": null})),
        0 => None,
        1 => Some(Value::Null),
        2 => Some(json!({})),
        3 => Some(json!({"mine": "x".repeat(choices.below(256 << 10))})),
        _ => Some(json!({
            "mine": "1",
            "armature.azure.com/conversion-stash": r#"{"spec":[{"p":["notes"],"v":1}]}"#,
        })),
    };
    match choices.below(4) {
        0 => None,
        1 => Some(Value::Null),
        2 => Some(json!({})),
        _ => {
            let mut metadata = json!({
                "name": "n", "namespace": "ns", "uid": "u", "resourceVersion": "7",
                "managedFields": [{"fieldsV1": {"f:spec": {}}}],
            });
            match choices.below(3) {
                0 => {}
                1 => metadata["labels"] = json!({"a": "b"}),
                _ => metadata["labels"] = json!({"a": null}),
            }
            if let Some(annotations) = annotations {
                metadata["annotations"] = annotations;
            }
            Some(metadata)
        }
    }
}

/// An object of the version, as much of it as an API server may send.
fn object(kind: &KindInfo, version: &VersionInfo, seed: u64, size: usize) -> Value {
    let mut values = Arbitrary::loose(seed, size);
    let mut choices = Choices::new(seed);
    let mut object = json!({
        "apiVersion": format!("{}/{}", kind.group, version.name),
        "kind": kind.kind,
    });
    for (name, shape) in [("spec", version.spec), ("status", version.status)] {
        let whole = values.object(shape);
        match choices.below(4) {
            0 => {}
            1 => object[name] = whole,
            _ => object[name] = pruned(whole, &mut choices),
        }
    }
    if let Some(metadata) = metadata(&mut choices) {
        object["metadata"] = metadata;
    }
    object
}

fn review(kind: &KindInfo, version: &str, objects: &[Value]) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": {
            "uid": "r",
            "desiredAPIVersion": format!("{}/{version}", kind.group),
            "objects": objects,
        },
    })
}

/// The objects that the answer holds, after the API server's checks.
fn converted(review: &Value) -> Result<Vec<Value>, String> {
    let body = answer(review.to_string().as_bytes(), KINDS)?;
    let answer: Value = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
    match check(review, &answer)? {
        true => Ok(answer["response"]["convertedObjects"]
            .as_array()
            .cloned()
            .unwrap_or_default()),
        false => Err(answer["response"]["result"]["message"].to_string()),
    }
}

/// Whether the object's own annotations leave little room for what a version cannot express.
fn is_full(object: &Value) -> bool {
    let mine = object.pointer("/metadata/annotations/mine");
    mine.and_then(Value::as_str)
        .is_some_and(|text| text.len() > 128 << 10)
}

#[test]
fn whatever_is_left_of_an_object_is_converted_and_passes_the_api_servers_checks() {
    for (kind, version) in versions() {
        let what = format!("{} {}", kind.kind, version.name);
        for_all(&what, CASES, |seed, size| {
            let mut choices = Choices::new(!seed);
            let objects: Vec<_> = (0..1 + choices.below(3))
                .map(|at| object(kind, version, seed.wrapping_add(at as u64), size))
                .collect();
            // To the storage version, from there to another one, and from there to a third.
            let mut names = vec![kind.hub.storage_version];
            for _ in 0..2 {
                names.push(kind.versions[choices.below(kind.versions.len())].name);
            }
            let mut objects = objects;
            for name in names {
                objects = match converted(&review(kind, name, &objects)) {
                    Ok(objects) => objects,
                    // What has no place in the version has none in annotations that are full.
                    Err(why) if why.contains(FULL) && objects.iter().any(is_full) => return Ok(()),
                    Err(why) => return Err(why),
                };
            }
            Ok(())
        });
    }
}

#[test]
fn a_review_of_any_text_is_answered_or_refused() {
    for kind in KINDS {
        let version = kind.versions.last().unwrap();
        for_all(kind.kind, SPOILED, |seed, size| {
            let mut choices = Choices::new(seed);
            let objects = [object(kind, version, seed, size)];
            let review = review(kind, kind.hub.storage_version, &objects);
            let mut text = review.to_string().into_bytes();
            for _ in 0..1 + choices.below(4) {
                let at = choices.below(text.len());
                match choices.below(4) {
                    0 => text.truncate(at.max(1)),
                    1 => drop(text.remove(at)),
                    2 => text.insert(at, b"{}[]\":,0n"[choices.below(9)]),
                    _ => text[at] = b"{}[]\":,0n"[choices.below(9)],
                }
                if text.is_empty() {
                    break;
                }
            }
            check_review(&text, KINDS).map(drop)
        });
    }
}

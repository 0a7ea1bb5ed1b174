//! For tests of this and other crates: a review answered without a server, what the API server checks of the answer, and what
//! must hold of objects as it sends them ([`check_stored`]).

#[cfg(test)]
pub(crate) mod mock;
mod stored;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value};

use armature_shapes::kind::KindInfo;

use crate::serving::review::{Answer, Kinds};

pub use stored::check_stored;

/// Bytes of all keys and values of an object's annotations (apimachinery's `ValidateAnnotations`).
const ANNOTATIONS_LIMIT: usize = 256 << 10;

/// The whole answer to a review, as the webhook gives it for these kinds. `Err` is what the webhook says of a body that is
/// no review.
pub fn answer(body: &[u8], kinds: &[&'static KindInfo]) -> Result<Vec<u8>, String> {
    let kinds: Kinds = kinds
        .iter()
        .map(|kind| ((kind.group, kind.kind), *kind))
        .collect();
    let body = Bytes::copy_from_slice(body);
    let mut answer = Answer::to(&body, Arc::new(kinds)).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    loop {
        match answer.piece() {
            Ok(Some(piece)) => text.extend(piece),
            Ok(None) => return Ok(text),
            // As the webhook does it after the first piece.
            Err(error) => text.extend(answer.broken(&error)),
        }
    }
}

/// Answers a review of these kinds and holds the answer to [`check`]. Says whether the webhook converted: a body that is no
/// review and a conversion that fails are told to the API server, which is right, too.
///
/// # Errors
/// What the API server would say of the answer.
pub fn check_review(body: &[u8], kinds: &[&'static KindInfo]) -> Result<bool, String> {
    let Ok(text) = answer(body, kinds) else {
        return Ok(false);
    };
    let answer: Value =
        serde_json::from_slice(&text).map_err(|error| format!("the answer is no JSON: {error}"))?;
    match serde_json::from_slice(body) {
        Ok(review) => check(&review, &answer),
        // Deeper than this crate reads: the objects passed as text.
        Err(_) => Ok(false),
    }
}

/// What the API server checks of an answer to a review (apiextensions-apiserver's `webhook_converter.go`, Kubernetes 1.34).
/// Says whether the answer is a success.
///
/// # Errors
/// What the API server would say.
pub fn check(review: &Value, answer: &Value) -> Result<bool, String> {
    let request = &review["request"];
    let response = &answer["response"];
    expect(
        "apiVersion",
        &answer["apiVersion"],
        "apiextensions.k8s.io/v1",
    )?;
    expect("kind", &answer["kind"], "ConversionReview")?;
    if response["uid"] != request["uid"] {
        return Err(format!("another uid: {}", response["uid"]));
    }
    if response["result"]["status"] != "Success" {
        let message = response["result"]["message"].as_str();
        return match message.filter(|message| !message.is_empty()) {
            Some(_) => Ok(false),
            None => Err("a failure without a message".to_owned()),
        };
    }
    let objects = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let before = objects(&request["objects"]);
    let after = objects(&response["convertedObjects"]);
    if before.len() != after.len() {
        return Err(format!("{} objects for {}", after.len(), before.len()));
    }
    for (index, (before, after)) in before.iter().zip(&after).enumerate() {
        check_object(before, after, &request["desiredAPIVersion"])
            .map_err(|problem| format!("object {index}: {problem}"))?;
    }
    Ok(true)
}

fn expect(what: &str, found: &Value, expected: &str) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what} is {found}, not {expected}"))
}

/// `validateConvertedObject` and `restoreObjectMeta`; resourceVersion is restored by the API server and checked here all
/// the same.
fn check_object(before: &Value, after: &Value, desired: &Value) -> Result<(), String> {
    if after["apiVersion"] != *desired {
        return Err(format!("apiVersion is {}", after["apiVersion"]));
    }
    if after["kind"] != before["kind"] {
        return Err(format!("kind is {}", after["kind"]));
    }
    let metadata = after.get("metadata").ok_or("no metadata")?;
    let metadata = metadata.as_object().ok_or("metadata is no object")?;
    for name in ["name", "namespace", "uid", "resourceVersion"] {
        let (before, after) = (before["metadata"].get(name), metadata.get(name));
        if before != after {
            return Err(format!("metadata.{name} was {before:?} and is {after:?}"));
        }
    }
    let labels = &before["metadata"]["labels"];
    if are_texts(labels) && as_texts(labels) != metadata.get("labels").map_or(Value::Null, as_texts)
    {
        return Err(format!(
            "metadata.labels was {labels} and is {:?}",
            metadata.get("labels")
        ));
    }
    let annotations = match metadata.get("annotations") {
        None | Some(Value::Null) => return Ok(()),
        Some(annotations) => annotations.as_object(),
    };
    let annotations = annotations.ok_or("metadata.annotations is no object")?;
    match &before["metadata"]["annotations"] {
        // The API server would not have sent these.
        before if !are_texts(before) => Ok(()),
        _ => check_annotations(annotations),
    }
}

/// Whether labels or annotations are what an API server lets through: texts, or null, which it reads as an empty one.
fn are_texts(map: &Value) -> bool {
    let is_text = |value: &Value| value.is_string() || value.is_null();
    map.is_null() || map.as_object().is_some_and(|map| map.values().all(is_text))
}

/// Labels or annotations as the API server reads them from a client.
fn as_texts(map: &Value) -> Value {
    let mut map = map.clone();
    for value in map.as_object_mut().into_iter().flat_map(Map::values_mut) {
        if value.is_null() {
            *value = Value::from("");
        }
    }
    map
}

fn check_annotations(annotations: &Map<String, Value>) -> Result<(), String> {
    let mut bytes = 0;
    for (key, value) in annotations {
        let value = value
            .as_str()
            .ok_or(format!("annotation {key} is no text"))?;
        bytes += key.len() + value.len();
    }
    if bytes > ANNOTATIONS_LIMIT {
        return Err(format!("annotations have {bytes} bytes"));
    }
    Ok(())
}

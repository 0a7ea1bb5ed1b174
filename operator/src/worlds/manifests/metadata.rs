//! What an API server says about the metadata of a manifest, of whatever kind.

use armature_runtime::shape::Path;
use serde_json::Value;

use super::mistakes::{no_such_field, no_text, no_value};
use super::problem::Wrong;

/// Members of metadata (apimachinery's `ObjectMeta`).
const MEMBERS: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Longest name of an object.
const LONGEST: usize = 253;

/// Everything that is wrong with the metadata. All of it may be null, as if it were not there, but for items of lists.
pub fn problems(manifest: &Value) -> Vec<Wrong> {
    let metadata = &manifest["metadata"];
    let path = Path::Root("metadata");
    let mut found = Vec::new();
    for name in metadata
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name)
    {
        if !MEMBERS.contains(&name.as_str()) {
            found.push((path.member(name).to_string(), no_such_field(name, &MEMBERS)));
        }
    }
    if let Some(name) = metadata["name"].as_str().filter(|name| !is_name(name)) {
        let message = format!(
            "'{name}' is no name in Kubernetes; expected at most {LONGEST} lower-case letters, digits, '-' and '.', with a letter \
             or digit first and last"
        );
        found.push(("metadata.name".to_owned(), message));
    }
    for name in ["labels", "annotations"] {
        let path = path.member(name);
        for (key, value) in metadata[name].as_object().into_iter().flatten() {
            if !value.is_string() && !value.is_null() {
                found.push((path.member(key).to_string(), no_text(value)));
            }
        }
    }
    for name in ["finalizers", "ownerReferences"] {
        let path = path.member(name);
        let items = metadata[name].as_array().into_iter().flatten();
        let nulls = items.enumerate().filter(|(_, item)| item.is_null());
        found.extend(nulls.map(|(index, _)| no_value(path.item(index).to_string())));
    }
    found
}

/// Whether a text can be the name of an object: labels of DNS with dots between them (RFC 1123).
fn is_name(text: &str) -> bool {
    text.len() <= LONGEST && text.split('.').all(is_label)
}

/// Whether a text can be the name of a namespace.
pub fn is_namespace(text: &str) -> bool {
    text.len() <= 63 && is_label(text)
}

fn is_label(text: &str) -> bool {
    let is_alone = |end: u8| end.is_ascii_lowercase() || end.is_ascii_digit();
    let bytes = text.as_bytes();
    let has_ends = [bytes.first(), bytes.last()]
        .iter()
        .all(|end| end.is_some_and(|end| is_alone(*end)));
    has_ends && bytes.iter().all(|byte| is_alone(*byte) || *byte == b'-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_api_server_refuses_is_told_by_its_path() {
        for (metadata, expected) in [
            (
                json!({"name": "a", "labels": {"x/y": "1", "b": null}, "uid": null}),
                vec![],
            ),
            (json!({"name": "a.b-1"}), vec![]),
            (
                json!({"name": "My_Group"}),
                vec!["metadata.name: 'My_Group' is no name in Kubernetes"],
            ),
            (
                json!({"name": "dots.."}),
                vec!["metadata.name: 'dots..' is no name"],
            ),
            (
                json!({"name": "a", "nmespace": "x"}),
                vec!["metadata.nmespace: no such field, did you mean `namespace`?"],
            ),
            (
                json!({"name": "a", "labels": {"b": true, "c/d": 1}, "annotations": {"e": {}}}),
                vec![
                    "metadata.labels.b: expected a string, found a boolean; write it in quotes",
                    "metadata.labels[\"c/d\"]: expected a string, found an integer; write it in quotes",
                    "metadata.annotations.e: expected a string, found an object",
                ],
            ),
            (
                json!({"name": "a", "finalizers": ["x", null]}),
                vec!["metadata.finalizers[1]: has no value"],
            ),
        ] {
            let found = problems(&json!({"metadata": metadata})).into_iter();
            let found: Vec<_> = found
                .map(|(path, message)| format!("{path}: {message}"))
                .collect();
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.starts_with(expected), "{found}");
            }
        }
    }
}

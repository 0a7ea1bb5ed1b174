//! A manifest over the object that runs, as an API server would have it after `kubectl apply`.

use armature_runtime::resource::Object;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value};

/// Field with the name in Azure: the operator writes one that it has made up.
const AZURE_NAME: &str = "azureName";
/// Fields that say something of the manifest and not of the resource.
const OF_MANIFEST: &str = "originalVersion";

/// The object with the manifest applied: the whole spec is the manifest's, labels and annotations come on top of those that
/// are there. Its generation grows where the spec is another one.
pub fn applied(manifest: &Object, live: &Object) -> Object {
    let mut object = live.clone();
    let (own, new) = (&mut object.metadata, &manifest.metadata);
    for (into, from) in [
        (&mut own.annotations, &new.annotations),
        (&mut own.labels, &new.labels),
    ] {
        let entries = from.clone().into_iter().flatten();
        into.get_or_insert_default().extend(entries);
    }
    let (before, mut after) = (members(live), members(manifest));
    if let (false, Some(name)) = (after.contains_key(AZURE_NAME), before.get(AZURE_NAME)) {
        after.insert(AZURE_NAME.to_owned(), name.clone());
    }
    if is_another(&before, &after) {
        own.generation = own.generation.map(|generation| generation + 1);
    }
    object.spec = to_raw_value(&after).ok();
    object
}

fn members(object: &Object) -> Map<String, Value> {
    let text = object.spec.as_ref().map_or("{}", |spec| spec.get());
    serde_json::from_str(text).unwrap_or_default()
}

fn is_another(before: &Map<String, Value>, after: &Map<String, Value>) -> bool {
    let names = before.keys().chain(after.keys());
    let mut told = names.filter(|name| *name != OF_MANIFEST);
    told.any(|name| before.get(name) != after.get(name))
}

#[cfg(test)]
mod tests {
    use armature_runtime::resource::Kind;
    use armature_runtime::testing::kinds::GROUP;
    use kube::core::ObjectMeta;
    use serde_json::json;

    use super::*;

    fn object(spec: Value, annotations: &[(&str, &str)]) -> Object {
        let entry = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        Object {
            kind: Kind(&GROUP),
            metadata: ObjectMeta {
                annotations: Some(annotations.iter().map(entry).collect()),
                generation: Some(3),
                ..ObjectMeta::default()
            },
            spec: to_raw_value(&spec).ok(),
            status: to_raw_value(&json!({"kept": true})).ok(),
        }
    }

    #[test]
    fn the_spec_is_the_manifests_and_notes_of_the_operator_stay() {
        let live = object(
            json!({"location": "a", "tags": {"x": "y"}, "azureName": "made-up"}),
            &[("note", "1"), ("both", "old")],
        );
        let manifest = object(json!({"location": "b"}), &[("both", "new")]);
        let merged = applied(&manifest, &live);
        let spec = merged.spec.as_ref().map(|spec| spec.get());
        assert_eq!(spec, Some(r#"{"location":"b","azureName":"made-up"}"#));
        let annotations = merged.metadata.annotations.unwrap();
        assert_eq!(annotations["note"], "1");
        assert_eq!(annotations["both"], "new");
        assert_eq!(merged.metadata.generation, Some(4));
        assert!(merged.status.is_some());
    }

    #[test]
    fn the_same_spec_written_in_another_version_is_no_edit() {
        let live = object(json!({"location": "a", "originalVersion": "v1"}), &[]);
        let manifest = object(json!({"originalVersion": "v2", "location": "a"}), &[]);
        assert_eq!(applied(&manifest, &live).metadata.generation, Some(3));
    }
}

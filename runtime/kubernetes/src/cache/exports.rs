//! When an object has to write a Secret or ConfigMap again: its target is gone, or no longer what was written.
//!
//! Our own writes must wake nobody, so a change counts only where the object says that all is well, and only if it took
//! away what the object needs: its ownership, or a key. Both are in the metadata, which is all that is watched.

use std::collections::{BTreeSet, HashSet};

use armature_reconcile::port::DataKind;
use armature_shapes::resource::{Object, ObjectKey};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::filter::is_ready;
use super::objects::ObjectCache;
use super::references::{exported_keys, hub_spec};
use crate::names::FIELD_MANAGER;

/// The targets that a list of Secrets or ConfigMaps shows.
#[derive(Default)]
pub(crate) struct ListedTargets(HashSet<(String, String)>);

impl ListedTargets {
    /// Forgets the list before.
    pub fn begin(&mut self) {
        self.0.clear();
    }

    /// Takes in one that the list has. Those that nobody writes are not kept.
    pub fn add(&mut self, cache: &ObjectCache, kind: DataKind, metadata: &ObjectMeta) {
        let (namespace, name) = place(metadata);
        if !cache.writers_of_data(kind, namespace, name).is_empty() {
            self.0.insert((namespace.to_owned(), name.to_owned()));
        }
    }

    /// Objects whose targets the list, of one namespace or of all, does not have.
    pub fn end(
        &mut self,
        cache: &ObjectCache,
        kind: DataKind,
        scope: Option<&str>,
    ) -> Vec<ObjectKey> {
        let listed = std::mem::take(&mut self.0);
        let written = cache.written_data(kind).into_iter();
        let gone = written
            .filter(|(namespace, _)| scope.is_none_or(|scope| scope == namespace))
            .filter(|at| !listed.contains(at));
        gone.flat_map(|(namespace, name)| cache.writers_of_data(kind, &namespace, &name))
            .map(|writer| writer.key())
            .collect()
    }
}

/// Objects that have to write this target, which is gone.
pub(crate) fn writers(cache: &ObjectCache, kind: DataKind, target: &ObjectMeta) -> Vec<ObjectKey> {
    let (namespace, name) = place(target);
    let writers = cache.writers_of_data(kind, namespace, name);
    writers.iter().map(|writer| writer.key()).collect()
}

/// Objects that have to write this target, which was changed.
pub(crate) fn robbed(cache: &ObjectCache, kind: DataKind, target: &ObjectMeta) -> Vec<ObjectKey> {
    let (namespace, name) = place(target);
    let writers = cache.writers_of_data(kind, namespace, name);
    writers
        .iter()
        .filter(|writer| is_robbed(writer, kind, target))
        .map(|writer| writer.key())
        .collect()
}

fn place(metadata: &ObjectMeta) -> (&str, &str) {
    (
        metadata.namespace.as_deref().unwrap_or_default(),
        metadata.name.as_deref().unwrap_or_default(),
    )
}

fn is_robbed(writer: &Object, kind: DataKind, target: &ObjectMeta) -> bool {
    if !is_ready(writer) {
        return false;
    }
    let mut owners = target.owner_references.iter().flatten();
    if !owners.any(|owner| Some(&owner.uid) == writer.metadata.uid.as_ref()) {
        return true;
    }
    // Where all was as it should be, nothing was written, and nothing can be told.
    let Some(kept) = own_keys(target) else {
        return false;
    };
    let spec = hub_spec(writer).unwrap_or_default();
    let name = target.name.as_deref();
    let mut wanted = exported_keys(&spec).filter(|key| key.kind == kind && Some(key.name) == name);
    wanted.any(|wanted| match wanted.key {
        Some(key) => !kept.contains(key),
        None => kept.is_empty(),
    })
}

/// Keys of a Secret or ConfigMap whose values are still those that we wrote; nothing where we wrote none.
pub(crate) fn own_keys(target: &ObjectMeta) -> Option<BTreeSet<String>> {
    let mut entries = target.managed_fields.iter().flatten();
    let ours = entries.find(|entry| {
        entry.manager.as_deref() == Some(FIELD_MANAGER)
            && entry.operation.as_deref() == Some("Apply")
    })?;
    let fields = ours.fields_v1.as_ref().map(|fields| &fields.0);
    let data = fields.and_then(|fields| fields.get("f:data")?.as_object());
    let names = data.into_iter().flat_map(|data| data.keys());
    Some(
        names
            .filter_map(|name| name.strip_prefix("f:"))
            .map(str::to_owned)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use armature_shapes::resource::Kind;
    use armature_shapes::testing::kinds::STORE;
    use serde_json::{Value, json};

    use super::*;
    use crate::StoredObject;

    const SECRET: DataKind = DataKind::Secret;

    /// A store that wants a Secret `keys` with a key `primary`, and a Secret `map` with keys that an expression gives.
    fn store(ready: &str) -> Object {
        let json = json!({
            "metadata": {"name": "s", "namespace": "ns", "uid": "uid-s", "resourceVersion": "1"},
            "spec": {"originalVersion": "v20200101", "operatorSpec": {
                "secrets": {"primary": {"name": "keys", "key": "primary"}},
                "secretExpressions": [{"name": "map", "value": "self.spec.tags"}],
            }},
            "status": {"conditions": [{"type": "Ready", "status": ready}]},
        });
        serde_json::from_str::<StoredObject>(&json.to_string())
            .unwrap()
            .into_object(Kind(&STORE))
    }

    fn target(name: &str, change: impl FnOnce(&mut Value)) -> ObjectMeta {
        let mut json = json!({
            "name": name,
            "namespace": "ns",
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Store", "name": "s", "uid": "uid-s"},
            ],
            "managedFields": [
                {"manager": "kubectl", "operation": "Update", "fieldsType": "FieldsV1",
                 "fieldsV1": {"f:data": {"f:theirs": {}}}},
                {"manager": "armature", "operation": "Apply", "fieldsType": "FieldsV1",
                 "fieldsV1": {"f:data": {"f:primary": {}}, "f:metadata": {}}},
            ],
        });
        change(&mut json);
        serde_json::from_value(json).unwrap()
    }

    /// The key that we wrote is another's now.
    fn without_key(json: &mut Value) {
        json["managedFields"][1]["fieldsV1"] = json!({"f:metadata": {}});
    }

    #[test]
    fn a_change_counts_that_took_away_what_the_object_needs() {
        for (case, ready, name, change, expected) in [
            (
                "our own write",
                "True",
                "keys",
                (|_| {}) as fn(&mut Value),
                false,
            ),
            ("a lost key", "True", "keys", without_key, true),
            (
                "all keys of an expression",
                "True",
                "map",
                without_key,
                true,
            ),
            ("keys of an expression", "True", "map", |_| {}, false),
            (
                "lost ownership",
                "True",
                "keys",
                |json| json["ownerReferences"] = json!([]),
                true,
            ),
            (
                "what is tried again anyway",
                "False",
                "keys",
                without_key,
                false,
            ),
            (
                "what we never wrote",
                "True",
                "keys",
                |json| json["managedFields"] = json!([]),
                false,
            ),
            ("one that nobody wants", "True", "other", without_key, false),
        ] {
            let cache = ObjectCache::default();
            cache.apply(store(ready));
            let found = robbed(&cache, SECRET, &target(name, change));
            assert_eq!(!found.is_empty(), expected, "{case}");
        }
    }

    #[test]
    fn a_target_that_goes_wakes_its_writers_ready_or_not() {
        let cache = ObjectCache::default();
        cache.apply(store("False"));
        assert_eq!(writers(&cache, SECRET, &target("keys", |_| {})).len(), 1);
        let map = DataKind::ConfigMap;
        assert!(writers(&cache, map, &target("keys", |_| {})).is_empty());
        assert!(cache.users_of_data(SECRET, "ns", "keys").is_empty());
    }

    #[test]
    fn targets_that_went_while_the_watch_was_interrupted_are_missed_in_the_list() {
        let cache = ObjectCache::default();
        cache.apply(store("True"));
        let mut listed = ListedTargets::default();
        listed.begin();
        for name in ["keys", "map", "other"] {
            listed.add(&cache, SECRET, &target(name, |_| {}));
        }
        assert!(listed.end(&cache, SECRET, None).is_empty());
        listed.begin();
        listed.add(&cache, SECRET, &target("keys", |_| {}));
        assert!(listed.end(&cache, SECRET, Some("elsewhere")).is_empty());
        listed.begin();
        listed.add(&cache, SECRET, &target("keys", |_| {}));
        assert_eq!(listed.end(&cache, SECRET, Some("ns")).len(), 1);
    }
}

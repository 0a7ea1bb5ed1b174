//! The cache: what wakes whom, and what is known.

use armature_shapes::id::ResourceId;
use armature_shapes::kind::KindInfo;
use armature_shapes::names::{FINALIZER, RECONCILE_POLICY, RESOURCE_ID};
use armature_shapes::testing::gadget::MODEL;
use armature_shapes::testing::kinds;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;
use crate::StoredObject;

const KIND: Kind = Kind(&MODEL);

fn object(name: &str, version: u64, change: impl FnOnce(&mut Value)) -> Object {
    let mut json = json!({
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": name,
            "generation": 1,
            "resourceVersion": version.to_string(),
        },
        "spec": {},
    });
    change(&mut json);
    serde_json::from_str::<StoredObject>(&json.to_string())
        .unwrap()
        .into_object(KIND)
}

fn names(keys: Vec<ObjectKey>) -> Vec<String> {
    let mut names: Vec<String> = keys.into_iter().map(|key| key.name).collect();
    names.sort();
    names
}

/// An object that refers to the object `target`.
fn referring(name: &str, target: &str) -> Object {
    object(name, 1, |json| {
        json["spec"]["subnetReference"] =
            json!({"group": "toys.azure.com", "kind": "Gadget", "name": target});
    })
}

#[test]
fn old_states_are_ignored() {
    let cache = ObjectCache::default();
    let newer = |json: &mut Value| json["metadata"]["generation"] = 2.into();
    assert_eq!(names(cache.apply(object("a", 9, newer))), ["a"]);
    assert!(cache.apply(object("a", 8, |_| {})).is_empty());
    assert!(cache.apply(object("a", 9, newer)).is_empty());
    let known = cache.get(&object("a", 1, |_| {}).key()).unwrap();
    assert_eq!(known.metadata.generation, Some(2));
}

/// A claimed object with this ARM id.
fn claimed(name: &str, version: u64, id: &str) -> Object {
    object(name, version, |json| {
        json["metadata"]["finalizers"] = json!([FINALIZER]);
        json["metadata"]["annotations"] = json!({ RESOURCE_ID: id });
    })
}

#[test]
fn objects_for_one_arm_id_know_of_each_other_and_take_over() {
    let cache = ObjectCache::default();
    let id = RemoteId::Arm(ResourceId::parse("/subscriptions/s/resourceGroups/g").unwrap());
    let sharing = |name: &str| {
        let key = object(name, 1, |_| {}).key();
        let others = cache.sharing(&id, &key).ok()?;
        Some(names(others.iter().map(|other| other.key()).collect()))
    };
    cache.apply(claimed("a", 1, id.as_str()));
    cache.apply(claimed(
        "b",
        1,
        &id.as_str()
            .to_uppercase()
            .replace("/SUBSCRIPTIONS", "/subscriptions"),
    ));
    cache.apply(claimed("c", 1, "/subscriptions/s/resourceGroups/other"));
    assert_eq!(sharing("a"), None, "not all are listed");
    cache.mark_awaited(KIND, &[None]);
    cache.mark_listed(KIND, None);
    assert_eq!(sharing("a").unwrap(), ["b"]);
    assert_eq!(sharing("c").unwrap(), ["a", "b"]);
    // Without the finalizer the annotation is nobody's word.
    cache.apply(object("b", 2, |json| {
        json["metadata"]["annotations"] = json!({ RESOURCE_ID: id.as_str() });
    }));
    assert_eq!(sharing("a").unwrap(), Vec::<String>::new());
    cache.apply(claimed("b", 3, id.as_str()));
    let skipped = object("a", 4, |json| {
        json["metadata"]["finalizers"] = json!([FINALIZER]);
        json["metadata"]["annotations"] =
            json!({ RESOURCE_ID: id.as_str(), RECONCILE_POLICY: "skip" });
    });
    let woken = names(cache.apply(skipped));
    assert!(woken.contains(&"b".to_owned()), "{woken:?}");
    assert_eq!(names(cache.remove(&object("a", 1, |_| {}).key())), ["b"]);
    assert_eq!(sharing("b").unwrap(), Vec::<String>::new());
}

#[test]
fn waiting_objects_wake_when_the_one_they_wait_for_has_its_id() {
    let cache = ObjectCache::default();
    cache.apply(referring("waiting", "target"));
    let mut ready = referring("content", "target");
    ready.status = serde_json::value::RawValue::from_string(
        r#"{"conditions":[{"type":"Ready","status":"True"}]}"#.into(),
    )
    .ok();
    cache.apply(ready);
    cache.apply(object("target", 1, |_| {}));
    let claimed = object("target", 2, |json| {
        json["metadata"]["annotations"] = json!({ RESOURCE_ID: "/x" });
    });
    assert_eq!(names(cache.apply_written(&claimed)), ["waiting"]);
}

/// Until its owner is ready, a look at a child is of no use.
#[test]
fn children_wake_when_their_owner_is_ready() {
    let cache = ObjectCache::default();
    let of = |kind: &'static KindInfo, version: u64, change: &dyn Fn(&mut Object)| {
        let mut object = object("g", version, |_| {});
        object.kind = Kind(kind);
        change(&mut object);
        object
    };
    let child = of(&kinds::STORE, 1, &|child| {
        child.metadata.name = Some("child".to_owned());
        child.spec = RawValue::from_string(r#"{"owner":{"name":"g"}}"#.to_owned()).ok();
    });
    cache.apply(child);
    cache.apply(of(&kinds::GROUP, 1, &|_| {}));
    let claim = |group: &mut Object| {
        let id = (RESOURCE_ID.to_owned(), "/x".to_owned());
        group.metadata.annotations = Some([id].into());
    };
    let claimed = of(&kinds::GROUP, 2, &claim);
    assert_eq!(names(cache.apply_written(&claimed)), Vec::<String>::new());
    let ready = of(&kinds::GROUP, 3, &|group| {
        claim(group);
        let text = r#"{"conditions":[{"type":"Ready","status":"True"}]}"#;
        group.status = RawValue::from_string(text.to_owned()).ok();
    });
    assert_eq!(names(cache.apply_written(&ready)), ["child"]);
}

/// What Azure cannot delete is looked at once an hour; its owner's end is when it goes.
#[test]
fn what_is_being_deleted_wakes_when_its_owner_is_gone() {
    let cache = ObjectCache::default();
    cache.apply(referring("stays", "target"));
    let mut going = referring("going", "target");
    going.metadata.deletion_timestamp = Some(Time(jiff::Timestamp::UNIX_EPOCH));
    cache.apply(going);
    cache.apply(object("target", 1, |_| {}));
    let target = object("target", 1, |_| {}).key();
    assert_eq!(names(cache.remove(&target)), ["going"]);
}

#[test]
fn what_an_object_no_longer_refers_to_does_not_wake_it() {
    let cache = ObjectCache::default();
    let secret = |name: &'static str| {
        move |json: &mut Value| json["spec"]["password"] = json!({"name": name, "key": "k"})
    };
    cache.apply(object("a", 1, secret("old")));
    cache.apply(object("a", 2, secret("new")));
    assert!(
        cache
            .users_of_data(DataKind::Secret, "ns", "old")
            .is_empty()
    );
    assert!(
        cache
            .users_of_data(DataKind::Secret, "other", "new")
            .is_empty()
    );
    assert!(
        cache
            .users_of_data(DataKind::ConfigMap, "ns", "new")
            .is_empty()
    );
    assert_eq!(
        names(cache.users_of_data(DataKind::Secret, "ns", "new")),
        ["a"]
    );
}

#[test]
fn a_finished_deletion_removes_the_object_for_good() {
    let cache = ObjectCache::default();
    cache.apply(object("a", 1, |_| {}));
    let last = object("a", 2, |json| {
        json["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    });
    cache.apply_written(&last);
    assert!(cache.get(&last.key()).is_none());
    cache.apply_written(&last);
    assert!(cache.get(&last.key()).is_none());
}

#[test]
fn a_list_removes_what_is_not_in_it() {
    let cache = ObjectCache::default();
    cache.apply(object("kept", 1, |_| {}));
    cache.apply(object("gone", 1, |_| {}));
    let listed = HashSet::from([object("kept", 1, |_| {}).key()]);
    cache.finish_list(KIND, Some("elsewhere"), &listed);
    assert_eq!(cache.counts()["Gadget"], 2);
    cache.finish_list(KIND, None, &listed);
    assert_eq!(cache.counts()["Gadget"], 1);
}

#[test]
fn what_is_missing_in_a_list_is_gone_and_wakes_whom_its_end_concerns() {
    let cache = ObjectCache::default();
    let id = "/subscriptions/s/resourceGroups/g";
    cache.apply(claimed("gone", 1, id));
    cache.apply(claimed("heir", 1, id));
    let mut child = referring("child", "gone");
    child.metadata.deletion_timestamp = Some(Time(jiff::Timestamp::UNIX_EPOCH));
    cache.apply(child);
    let listed = ["heir", "child"].map(|name| object(name, 1, |_| {}).key());
    let woken = cache.finish_list(KIND, Some("ns"), &listed.into_iter().collect());
    assert_eq!(names(woken), ["child", "gone", "heir"]);
    assert!(cache.get(&object("gone", 1, |_| {}).key()).is_none());
    let listed = ["heir", "child"].map(|name| object(name, 1, |_| {}).key());
    let woken = cache.finish_list(KIND, Some("ns"), &listed.into_iter().collect());
    assert_eq!(names(woken), Vec::<String>::new());
}

/// States of one object that come from a watch and from our own writes at the same time, and others beside it.
#[test]
fn the_newest_state_stays_whoever_brings_it_first() {
    let cache = ObjectCache::default();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let cache = &cache;
            scope.spawn(move || {
                for version in 0..200 {
                    let version = version * 4 + thread + 1;
                    cache.apply(claimed("one", version, "/subscriptions/s"));
                    cache.apply(object(&format!("other{thread}"), version, |_| {}));
                }
            });
        }
    });
    let known = cache.get(&object("one", 1, |_| {}).key()).unwrap();
    assert_eq!(known.metadata.resource_version.as_deref(), Some("800"));
    cache.mark_awaited(KIND, &[None]);
    cache.mark_listed(KIND, None);
    let id = RemoteId::Arm(ResourceId::parse("/subscriptions/s").unwrap());
    let sharing = cache.sharing(&id, &object("none", 1, |_| {}).key());
    assert_eq!(sharing.unwrap().len(), 1);
}

/// By name, and by the ARM id of a claimed one; of its namespace.
#[test]
fn who_names_an_object_as_its_owner_is_known_also_by_its_id() {
    const ID: &str = "/subscriptions/s/resourceGroups/g";
    let cache = ObjectCache::default();
    let group = object("g", 1, |json| {
        json["metadata"]["annotations"] = json!({ RESOURCE_ID: ID });
        json["metadata"]["finalizers"] = json!([FINALIZER]);
    });
    let group = Object {
        kind: Kind(&kinds::GROUP),
        ..group
    };
    let store = |name: &str, namespace: &str, owner: Value| {
        let store = object(name, 1, |json| {
            json["metadata"]["namespace"] = json!(namespace);
            json["spec"] = json!({ "owner": owner });
        });
        cache.apply(Object {
            kind: Kind(&kinds::STORE),
            ..store
        });
    };
    let key = group.key();
    cache.apply(group);
    store("by-name", "ns", json!({"name": "g"}));
    store("by-id", "ns", json!({"armId": ID.to_uppercase()}));
    store("of-another", "ns", json!({"armId": format!("{ID}2")}));
    store("elsewhere", "theirs", json!({ "armId": ID }));
    let mut owned: Vec<String> = cache.owned_by(&key).into_iter().map(|it| it.name).collect();
    owned.sort();
    assert_eq!(owned, ["by-id", "by-name"]);
}

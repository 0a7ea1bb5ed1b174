use serde_json::json;

use super::*;
use crate::testing::gadget::MODEL;

const OLD: &str = "v1api20200101";
const NEW: &str = "v20210101";

fn served(version: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("toys.azure.com/{version}"), "kind": "Gadget",
        "metadata": {"name": "g"}, "spec": spec,
    })
}

fn old_spec() -> Value {
    json!({
        "owner": {"name": "rg"}, "tier": "Hot", "capacity": "many",
        "network": {"address": "10.0.0.1", "mask": 8},
        "rules": [{"name": "a", "weight": 1}, {"name": "b"}],
        "legacy": {"uri": "u"},
    })
}

#[test]
fn steps_lead_to_the_hub_and_the_stored_form_is_asos() {
    let stored = to_hub(&MODEL, OLD, served(OLD, &old_spec())).unwrap();
    assert_eq!(stored["apiVersion"], "toys.azure.com/v20210101storage");
    assert_eq!(
        stored["spec"],
        json!({
            "originalVersion": OLD, "owner": {"name": "rg"}, "accessTier": "Hot",
            "rules": [{"name": "a", "priority": 1}, {"name": "b"}],
            "$propertyBag": {
                "Capacity": "\"many\"",
                "Network": "{\"address\":\"10.0.0.1\",\"mask\":8}",
                "Legacy": "{\"uri\":\"u\"}",
            },
        })
    );
    let hub = stored_to_hub(&MODEL, stored.clone()).unwrap();
    assert_eq!(hub["spec"]["network"], old_spec()["network"]);
    assert_eq!(hub_to_stored(&MODEL, hub.clone()).unwrap(), stored);
    assert_eq!(
        from_hub(&MODEL, OLD, stored.clone()).unwrap(),
        served(OLD, &old_spec())
    );
}

#[test]
fn a_property_bag_entry_that_nobody_knows_stays_where_it_is() {
    let stored = served(
        "v20210101storage",
        &json!({"originalVersion": NEW, "$propertyBag": {"Novel": "1", "Legacy": "not json"}}),
    );
    let hub = stored_to_hub(&MODEL, stored.clone()).unwrap();
    assert_eq!(hub_to_stored(&MODEL, hub.clone()).unwrap(), stored);
    let there = from_hub(&MODEL, NEW, stored.clone()).unwrap();
    assert_eq!(to_hub(&MODEL, NEW, there.clone()).unwrap(), stored);
}

#[test]
fn a_member_that_no_version_has_travels_in_the_annotation_from_every_level() {
    let stored = served(
        "v20210101storage",
        &json!({
            "originalVersion": OLD, "owner": {"name": "rg", "novel": {"a": null}},
            "$propertyBag": {"Legacy": "{\"novel\":[],\"uri\":\"u\"}"},
        }),
    );
    let there = from_hub(&MODEL, OLD, stored.clone()).unwrap();
    // The API server would drop what the schema does not have.
    assert_eq!(
        there["spec"],
        json!({"owner": {"name": "rg"}, "legacy": {"uri": "u"}})
    );
    assert_eq!(to_hub(&MODEL, OLD, there.clone()).unwrap(), stored);
}

fn new_spec() -> Value {
    json!({
        "owner": {"name": "rg"}, "accessTier": "Cool", "capacity": 3, "tags": {"a": "b"},
        "rules": [
            {"name": "a", "priority": 1, "prefixes": ["x"]},
            {"name": "b", "targetReference": {"armId": "/t"}},
        ],
        "source": {"blob": {"uri": "u"}},
    })
}

/// The new spec, written through the new version, read through the old one.
fn seen_as_old() -> Value {
    let stored = to_hub(&MODEL, NEW, served(NEW, &new_spec())).unwrap();
    from_hub(&MODEL, OLD, stored.clone()).unwrap()
}

fn written_back(old: &Value) -> Value {
    let stored = to_hub(&MODEL, OLD, old.clone()).unwrap();
    let mut back = from_hub(&MODEL, NEW, stored.clone()).unwrap();
    back["spec"].take()
}

#[test]
fn what_a_version_cannot_express_travels_in_the_annotation() {
    let old = seen_as_old();
    assert_eq!(
        old["spec"],
        json!({"owner": {"name": "rg"}, "tier": "Cool", "rules": [{"name": "a", "weight": 1}, {"name": "b"}]})
    );
    let annotations = old["metadata"]["annotations"].as_object().unwrap();
    assert!(annotations.keys().all(|key| is_stash_annotation(key)));
    let keys: Vec<_> = annotations.keys().collect();
    // Each value of an object that the version lacks is one, as each has owners of its own.
    for name in ["capacity", "tags.a", "source.blob.uri"] {
        let key = format!("{STASH_ANNOTATION}.{name}");
        assert!(keys.contains(&&key), "{keys:?}");
    }
    assert_eq!(written_back(&old), new_spec());
    let stored = to_hub(&MODEL, OLD, old.clone()).unwrap();
    assert_eq!(stored["metadata"], json!({"name": "g"}));
    assert_eq!(stored["spec"][ORIGINAL_VERSION], OLD);
}

#[test]
fn list_items_are_found_by_name_after_reordering_and_dropped_when_gone() {
    let mut old = seen_as_old();
    old["spec"]["rules"] = json!([{"name": "new"}, {"name": "b", "weight": 9}]);
    assert_eq!(
        written_back(&old)["rules"],
        json!([{"name": "new"}, {"name": "b", "priority": 9, "targetReference": {"armId": "/t"}}])
    );
}

#[test]
fn without_a_name_an_item_must_be_unchanged_and_in_its_place() {
    let mut spec = new_spec();
    spec["rules"] = json!([{"priority": 1, "prefixes": ["x"]}, {"priority": 2, "prefixes": ["y"]}]);
    let stored = to_hub(&MODEL, NEW, served(NEW, &spec)).unwrap();
    let old = from_hub(&MODEL, OLD, stored.clone()).unwrap();
    assert_eq!(written_back(&old), spec);
    let mut edited = old.clone();
    edited["spec"]["rules"][1]["weight"] = json!(3);
    assert_eq!(
        written_back(&edited)["rules"],
        json!([{"priority": 1, "prefixes": ["x"]}, {"priority": 3}])
    );
    let mut shorter = old;
    shorter["spec"]["rules"].as_array_mut().unwrap().remove(0);
    assert_eq!(written_back(&shorter)["rules"], json!([{"priority": 2}]));
}

#[test]
fn a_version_that_has_the_field_decides_and_not_the_stash() {
    let mut old = seen_as_old();
    old["apiVersion"] = json!("toys.azure.com/v20210101");
    old["spec"] = json!({"owner": {"name": "rg"}});
    let stored = convert(&MODEL, old.clone(), "v20210101storage").unwrap();
    assert_eq!(
        stored["spec"],
        json!({"owner": {"name": "rg"}, "originalVersion": NEW})
    );
}

#[test]
fn a_broken_stash_is_dropped() {
    let mut old = seen_as_old();
    let annotations = old["metadata"]["annotations"].as_object_mut().unwrap();
    for text in annotations.values_mut() {
        *text = json!("{broken");
    }
    let spec = written_back(&old);
    assert_eq!(spec.get("tags"), None);
    assert_eq!(spec["accessTier"], "Cool");
    for entry in [
        json!({"p": ["tags"], "v": 1, "n": usize::MAX}),
        json!({"p": ["tags"], "v": 1, "n": 7}),
        json!({"p": [], "v": 1}),
    ] {
        let stash = json!({ format!("{STASH_ANNOTATION}.tags"): entry.to_string() });
        old["metadata"]["annotations"] = stash;
        assert_eq!(written_back(&old).get("tags"), None, "{entry}");
    }
}

#[test]
fn a_stash_of_an_earlier_release_is_one_annotation() {
    let mut old = seen_as_old();
    let annotations = old["metadata"]["annotations"].as_object_mut().unwrap();
    let entries = annotations.values().map(|text| text.as_str().unwrap());
    let stash = format!(r#"{{"spec":[{}]}}"#, entries.collect::<Vec<_>>().join(","));
    annotations.clear();
    annotations.insert(STASH_ANNOTATION.to_owned(), json!(stash));
    assert_eq!(written_back(&old), new_spec());
}

#[test]
fn more_than_annotations_hold_can_be_read_and_is_not_lost_by_a_write() {
    let mut new = new_spec();
    new["tags"] = json!({"a": "x".repeat(300 << 10)});
    let stored = to_hub(&MODEL, NEW, served(NEW, &new)).unwrap();
    let old = from_hub(&MODEL, OLD, stored.clone()).unwrap();
    let error = to_hub(&MODEL, OLD, old.clone()).unwrap_err();
    let expected = "Gadget.toys.azure.com cannot be written at v1api20200101: this object has 30";
    assert!(error.to_string().starts_with(expected), "{error}");
    assert!(
        error.to_string().ends_with("write it at v20210101"),
        "{error}"
    );
}

#[test]
fn what_was_left_out_is_not_lost_by_a_write() {
    let stored = to_hub(&MODEL, NEW, served(NEW, &new_spec())).unwrap();
    for version in [OLD, NEW] {
        let mut read = from_hub(&MODEL, version, stored.clone()).unwrap();
        note_depth(&mut read, 500);
        let error = to_hub(&MODEL, version, read).unwrap_err();
        let expected = format!(
            "Gadget.toys.azure.com cannot be written at {version}: 500 bytes of this object are nested too deeply to be read, and \
             they would be lost; delete it at v20210101storage, or have somebody who may write it there take them out"
        );
        assert_eq!(error.to_string(), expected);
    }
    assert!(is_stored(&MODEL, "v20210101storage"));
    assert!(is_stored(&MODEL, "v1api20200101storage"));
    assert!(!is_stored(&MODEL, NEW));
}

#[test]
fn what_server_side_apply_takes_out_of_the_stash_goes_and_the_rest_stays() {
    let mut new = new_spec();
    new["tags"] = json!({"a": "1", "b": "2"});
    let stored = to_hub(&MODEL, NEW, served(NEW, &new)).unwrap();
    let mut old = from_hub(&MODEL, OLD, stored.clone()).unwrap();
    let annotations = old["metadata"]["annotations"].as_object_mut().unwrap();
    annotations.shift_remove(&format!("{STASH_ANNOTATION}.tags.a"));
    annotations.shift_remove(&format!("{STASH_ANNOTATION}.source.blob.uri"));
    new["tags"] = json!({"b": "2"});
    new.as_object_mut().unwrap().shift_remove("source");
    assert_eq!(written_back(&old), new);
}

#[test]
fn status_is_converted_beside_the_spec() {
    let mut object = served(NEW, &new_spec());
    object["status"] = json!({"id": "/x", "novel": 1});
    let stored = to_hub(&MODEL, NEW, object.clone()).unwrap();
    assert_eq!(stored["status"], object["status"]);
    let old = from_hub(&MODEL, OLD, stored.clone()).unwrap();
    assert_eq!(old["status"], json!({"id": "/x"}));
    let back = to_hub(&MODEL, OLD, old.clone()).unwrap();
    assert_eq!(back["status"], object["status"]);
}

#[test]
fn twins_and_the_storage_version_convert_into_each_other() {
    let object = served("v1api20210101", &new_spec());
    let twin = convert(&MODEL, object.clone(), NEW).unwrap();
    assert_eq!(twin, served(NEW, &new_spec()));
    let stored = convert(&MODEL, object.clone(), "v20210101storage").unwrap();
    assert_eq!(
        convert(&MODEL, stored.clone(), "v20210101storage").unwrap(),
        stored
    );
    assert_eq!(
        convert(&MODEL, object.clone(), "v1api20210101").unwrap(),
        object
    );
}

#[test]
fn the_version_that_was_written_is_found_by_old_names_and_never_guessed() {
    let name = |text: &str| {
        original_version(&MODEL, &json!({"originalVersion": text}))
            .unwrap()
            .name
    };
    assert_eq!(name("v1api20200101"), OLD);
    assert_eq!(name("v1beta20200101"), OLD);
    assert_eq!(name("v1alpha1api20200101storage"), OLD);
    assert_eq!(name("v1beta20190101"), NEW, "no longer served");
    assert_eq!(name(""), NEW);
    let unknown = original_version(&MODEL, &json!({"originalVersion": "v20991231"}));
    let expected = "Gadget.toys.azure.com has no version `v20991231`; it has v1api20200101, ";
    let unknown = unknown.unwrap_err().to_string();
    assert!(unknown.starts_with(expected), "{unknown}");
    assert_eq!(original_version(&MODEL, &json!({})).unwrap().name, NEW);
}

#[test]
fn errors_name_versions_and_places() {
    let object = served(OLD, &json!([]));
    assert_eq!(
        to_hub(&MODEL, OLD, object.clone()).unwrap_err().to_string(),
        "spec: expected an object"
    );
    let error = to_hub(&MODEL, "v9", object.clone())
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "Gadget.toys.azure.com has no version `v9`; it has v1api20200101, v1api20210101, v20210101, v20210101storage"
    );
    let other = json!({"apiVersion": "other/v1"});
    assert!(matches!(
        convert(&MODEL, other.clone(), NEW),
        Err(ConversionError::WrongVersion { .. })
    ));
}

#[test]
fn the_generation_that_kstatus_reads_is_in_every_version() {
    let mut stored = to_hub(&MODEL, NEW, served(NEW, &new_spec())).unwrap();
    stored["status"] = json!({"observedGeneration": 4});
    for version in [OLD, NEW] {
        let object = from_hub(&MODEL, version, stored.clone()).unwrap();
        assert_eq!(object["status"]["observedGeneration"], 4, "{version}");
        let back = to_hub(&MODEL, version, object.clone()).unwrap();
        assert_eq!(back["status"]["observedGeneration"], 4, "{version}");
    }
}

mod properties {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::arbitrary::Arbitrary;

    fn document(
        version: &str,
        shape: &'static crate::shape::StructShape,
        seed: u64,
        size: usize,
    ) -> Value {
        let mut values = Arbitrary::typed(seed, size);
        let mut object = served(version, &values.object(shape));
        object["status"] = values.object(MODEL.hub.status);
        object
    }

    proptest! {
        #[test]
        fn nothing_is_lost_between_a_version_and_the_hub(seed: u64, size in 0..80_usize) {
            for version in MODEL.versions {
                let object = document(version.name, version.spec, seed, size);
                let stored = to_hub(&MODEL, version.name, object.clone()).unwrap();
                prop_assert_eq!(&from_hub(&MODEL, version.name, stored.clone()).unwrap(), &object);
                for other in MODEL.versions {
                    let detour = convert(&MODEL, object.clone(), other.name).unwrap();
                    prop_assert_eq!(&convert(&MODEL, detour.clone(), version.name).unwrap(), &object);
                }
            }
        }

        #[test]
        fn nothing_is_lost_between_the_hub_and_a_version(seed: u64, size in 0..80_usize) {
            for version in MODEL.versions {
                let hub = document("v20210101storage", MODEL.hub.spec, seed, size);
                let mut stored = hub_to_stored(&MODEL, hub.clone()).unwrap();
                prop_assert_eq!(&stored_to_hub(&MODEL, stored.clone()).unwrap(), &hub);
                let served = from_hub(&MODEL, version.name, stored.clone()).unwrap();
                stored["spec"]["originalVersion"] = json!(version.name);
                prop_assert_eq!(&to_hub(&MODEL, version.name, served.clone()).unwrap(), &stored);
            }
        }
    }
}

#[test]
fn what_an_earlier_release_stored_is_read_and_written() {
    const EARLIER: &str = "v1api20200101storage";
    let mut earlier = served(EARLIER, &old_spec());
    earlier["spec"]["originalVersion"] = json!(OLD);
    // The older version has no zones, and capacity of another type.
    earlier["spec"]["$propertyBag"] = json!({"Novel": "1", "Zones": "[\"1\"]", "Capacity": "7"});
    let mut expected = to_hub(&MODEL, OLD, served(OLD, &old_spec())).unwrap();
    expected["spec"]["zones"] = json!(["1"]);
    expected["spec"]["capacity"] = json!(7);
    expected["spec"]["$propertyBag"]["Novel"] = json!("1");
    let stored = convert(&MODEL, earlier.clone(), "v20210101storage").unwrap();
    assert_eq!(stored, expected);
    let read = convert(&MODEL, earlier.clone(), NEW).unwrap();
    assert_eq!(read["spec"]["zones"], json!(["1"]));
    assert_eq!(convert(&MODEL, stored.clone(), EARLIER).unwrap(), earlier);
    assert!(is_readable(&MODEL, "v1beta20200101storage"));
    assert!(!is_readable(&MODEL, "v20300101storage"));
}

//! The forms are those that the whole object has when it is converted, and each is made once.

use armature_shapes::resource::Kind;
use armature_shapes::testing::arbitrary::Arbitrary;
use armature_shapes::testing::gadget::{MODEL, VERSION};
use armature_shapes::testing::kinds;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn object(kind: &'static KindInfo, spec: &Value, status: &Value) -> Object {
    Object {
        kind: Kind(kind),
        metadata: ObjectMeta {
            name: Some("g".to_owned()),
            ..ObjectMeta::default()
        },
        spec: raw(spec),
        status: raw(status),
    }
}

/// A gadget as the cluster has it, written in this version, with a status.
fn stored(version: &VersionInfo, seed: u64, size: usize) -> Value {
    let mut values = Arbitrary::typed(seed, size);
    let served = json!({
        "metadata": {"name": "g"},
        "spec": values.object(version.spec),
        "status": values.object(version.status),
    });
    let mut stored = conversion::to_hub(&MODEL, version.name, served).unwrap();
    stored["status"]["conditions"] = json!([{"type": "Ready", "status": "True"}]);
    stored["status"]["observedGeneration"] = json!(3);
    stored
}

fn forms_of(stored: &Value) -> Forms {
    let forms = Forms::of(&object(&MODEL, &stored["spec"], &stored["status"]));
    forms.unwrap()
}

proptest! {
    #[test]
    fn forms_of_a_part_are_those_of_the_whole_object(seed: u64, size in 0..60_usize) {
        for version in MODEL.versions {
            let mut stored = stored(version, seed, size);
            let forms = forms_of(&stored);
            // With the name that the resource has.
            stored["spec"] = forms.spec().clone();
            let hub = conversion::stored_to_hub(&MODEL, stored.clone()).unwrap();
            prop_assert_eq!(forms.hub_status(), &hub["status"]);
            let mut whole = conversion::from_hub(&MODEL, version.name, stored).unwrap();
            let metadata = whole["metadata"].clone();
            let served = forms.served(metadata).unwrap();
            whole["kind"] = json!("Gadget");
            prop_assert_eq!(&served["apiVersion"], &whole["apiVersion"]);
            prop_assert_eq!(served, whole);
        }
    }

    #[test]
    fn what_is_shown_is_stored_as_with_the_whole_object(seed: u64, size in 0..60_usize) {
        for version in MODEL.versions {
            let stored = stored(version, seed, size);
            let body = json!({"id": "/x", "properties": {"capacity": 5, "accessTier": "Cool"}});
            let mut forms = forms_of(&stored);
            forms.show(&body).unwrap();

            let mut served = conversion::from_hub(&MODEL, version.name, stored.clone()).unwrap();
            served["status"] = status_from_arm(version, &body);
            for name in OWN_MEMBERS {
                served["status"][name] = stored["status"][name].clone();
            }
            let shown = conversion::to_hub(&MODEL, version.name, served).unwrap();
            prop_assert_eq!(forms.status(), &shown["status"]);
        }
    }
}

#[test]
fn each_form_is_made_once() {
    let forms = forms_of(&stored(&VERSION, 1, 30));
    let (first, second) = (forms.served_spec(), forms.served_spec());
    assert!(std::ptr::eq(first.unwrap(), second.unwrap()));
    assert!(std::ptr::eq(forms.hub_status(), forms.hub_status()));
    let status = || forms.status.served(&MODEL, &VERSION).unwrap();
    assert!(std::ptr::eq(status(), status()));
}

#[test]
fn another_status_has_other_forms_and_leaves_the_spec() {
    let mut forms = forms_of(&stored(&VERSION, 1, 30));
    let before = (forms.hub_status().clone(), forms.status_text());
    let spec = forms.served_spec().unwrap().clone();
    forms.show(&json!({"id": "/another"})).unwrap();
    assert_eq!(forms.hub_status()["id"], "/another");
    assert_ne!(forms.hub_status(), &before.0);
    let text = forms.status_text().unwrap();
    assert_ne!(Some(text.get()), before.1.as_deref().map(RawValue::get));
    assert_eq!(forms.served(json!({})).unwrap()["status"]["id"], "/another");
    assert_eq!(forms.served_spec().unwrap(), &spec);
}

#[test]
fn conditions_are_no_word_of_the_remote() {
    let group = |status: Value| {
        let object = object(&kinds::GROUP, &json!({"location": "westus"}), &status);
        Forms::of(&object).unwrap()
    };
    for (status, expected) in [
        (Value::Null, false),
        (json!({"conditions": [], "observedGeneration": 1}), false),
        (json!({"conditions": [], "id": "/x"}), true),
    ] {
        assert_eq!(group(status.clone()).was_shown(), expected, "{status}");
    }
    let mut forms = group(json!({"conditions": [{"type": "Ready"}], "id": "/x"}));
    forms.show(&json!({"location": "eastus"})).unwrap();
    assert_eq!(
        forms.status(),
        &json!({"location": "eastus", "conditions": [{"type": "Ready"}]})
    );
}

/// Nobody has set a status yet: there is none in any form.
#[test]
fn no_status_is_none_in_all_forms() {
    let object = object(&kinds::GROUP, &json!({"location": "westus"}), &Value::Null);
    let forms = Forms::of(&object).unwrap();
    assert_eq!(forms.hub_status(), &Value::Null);
    assert!(forms.status_text().is_none());
    let served = forms.served(json!({"name": "g"})).unwrap();
    assert_eq!(served.get("status"), None);
    // Where the user names nothing, the resource has the object's name.
    assert_eq!(served["spec"]["azureName"], "g");
}

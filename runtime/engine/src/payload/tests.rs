use armature_shapes::resource::UserAssignedIdentityDetails;
use armature_shapes::shape::Shaped;
use armature_shapes::shaped;
use armature_shapes::testing::gadget::{OPEN, VERSION};
use serde_json::json;

use super::*;

fn body(spec: &Value) -> Result<Value, PayloadError> {
    let named = ReferenceTarget::Named {
        group: "g.azure.com".to_owned(),
        kind: "K".to_owned(),
        name: "n".to_owned(),
    };
    let key = |name: &str, key: &str| KeyReference {
        name: name.to_owned(),
        key: key.to_owned(),
    };
    let resolved = Resolved {
        references: [(named, "/resolved/n".to_owned())].into(),
        secrets: [(key("creds", "password"), "hunter2".to_owned())].into(),
        secret_maps: [(
            "settings".to_owned(),
            [("a".to_owned(), "b".to_owned())].into(),
        )]
        .into(),
        config_maps: [(key("net", "address"), "10.0.0.1".to_owned())].into(),
    };
    arm_body(&VERSION, "gadget1", spec, &resolved)
}

#[test]
fn values_go_to_their_arm_paths_and_the_envelope_comes_back() {
    let spec = json!({
        "azureName": "other", "owner": {"name": "rg"},
        "location": "westus", "accessTier": "hot", "capacity": 3.0, "zones": ["1"],
    });
    assert_eq!(
        body(&spec).unwrap(),
        json!({
            "name": "gadget1", "location": "westus", "tags": null, "zones": ["1"],
            "properties": {"accessTier": "Hot", "capacity": 3},
        })
    );
}

#[test]
fn absent_collections_are_told_of_as_their_fields_say() {
    shaped! {
        /// One field of each way.
        Collections {
            /// Left out.
            left: Vec<String> = "left".at(&["left"]);
            /// As null.
            null: Vec<String> = "null".at(&["null"]).explicit();
            /// As an empty list.
            list: Vec<String> = "list".at(&["list"]).explicit_empty();
            /// As an empty map.
            map: BTreeMap<String, String> = "map".at(&["map"]).explicit_empty();
            /// As an object without ids.
            keyed: Vec<UserAssignedIdentityDetails> = "keyed".at(&["keyed"]).explicit_empty();
            /// Not there, so nothing is said in it.
            inner: Vec<String> = "inner".at(&["properties", "inner"]).explicit_empty();
        }
    }
    let sent = |spec: Value| {
        let (path, resolved, mut body) = (Path::Root("spec"), Resolved::default(), Map::new());
        let members = spec.as_object().unwrap();
        write_struct(Collections::SHAPE, members, &path, &resolved, &mut body).unwrap();
        Value::Object(body)
    };
    let absent = json!({"null": null, "list": [], "map": {}, "keyed": {}});
    assert_eq!(sent(json!({})), absent);
    let empty = json!({"left": [], "null": [], "list": [], "map": {}, "keyed": []});
    assert_eq!(
        sent(empty),
        json!({"null": [], "list": [], "map": {}, "keyed": {}})
    );
}

#[test]
fn references_secrets_and_config_maps_become_their_values() {
    let spec = json!({
        "tags": {},
        "identity": {"type": "UserAssigned", "userAssignedIdentities": [{"reference": {"armId": "/id/a"}}]},
        "subnetReference": {"armId": "/subnets/1"},
        "password": {"name": "creds", "key": "password"},
        "protectedSettings": {"name": "settings"},
        "addressFromConfig": {"name": "net", "key": "address"},
        "rules": [{"name": "a", "targetReference": {"group": "g.azure.com", "kind": "K", "name": "n"}}],
    });
    assert_eq!(
        body(&spec).unwrap(),
        json!({
            "name": "gadget1", "tags": {},
            "identity": {"type": "UserAssigned", "userAssignedIdentities": {"/id/a": {}}},
            "properties": {
                "subnet": {"id": "/subnets/1"},
                "password": "hunter2",
                "protectedSettings": {"a": "b"},
                "network": {"address": "10.0.0.1"},
                "rules": [{"name": "a", "properties": {"targetId": "/resolved/n", "prefixes": null}}],
            },
        })
    );
}

#[test]
fn empty_collections_are_left_out_and_empty_objects_are_not() {
    let spec = json!({"zones": [], "rules": [{"name": "a"}], "identity": {}});
    assert_eq!(
        body(&spec).unwrap(),
        json!({
            "name": "gadget1", "tags": null, "identity": {},
            "properties": {"rules": [{"name": "a"}]},
        })
    );
}

#[test]
fn variants_are_put_into_the_object_with_their_discriminator() {
    let spec = json!({"source": {"queue": {"queue": "q"}}});
    assert_eq!(
        body(&spec).unwrap()["properties"]["source"],
        json!({"kind": "Queue", "properties": {"queue": "q"}})
    );
    let error = body(&json!({"source": {"queue": {}, "blob": {}}})).unwrap_err();
    assert_eq!(
        error.to_string(),
        "spec.source: set exactly one of blob, queue, found 2"
    );
    assert!(body(&json!({"source": {}})).is_err());
}

#[test]
fn errors_name_the_place_and_never_a_value() {
    let cases = [
        (json!([]), "spec: expected an object"),
        (
            json!({"capacity": "many"}),
            "spec.capacity: expected an integer",
        ),
        (
            json!({"subnetReference": {"kind": "K"}}),
            "spec.subnetReference: set either armId, or group, kind and name",
        ),
        (
            json!({"password": {"name": "creds", "key": "other"}}),
            "spec.password: secret creds/other is not resolved",
        ),
        (
            json!({"protectedSettings": {"name": "none"}}),
            "spec.protectedSettings: secret none is not resolved",
        ),
        (
            json!({"addressFromConfig": {"name": "net", "key": "x"}}),
            "spec.addressFromConfig: config map net/x is not resolved",
        ),
        (
            json!({"subnetReference": {"group": "g", "kind": "K", "name": "x"}}),
            "spec.subnetReference: K.g `x` is not resolved",
        ),
    ];
    for (spec, message) in cases {
        assert_eq!(body(&spec).unwrap_err().to_string(), message);
    }
}

#[test]
fn debug_output_of_resolved_values_shows_no_secret() {
    let resolved = Resolved {
        secret_maps: [(
            "s".to_owned(),
            [("k".to_owned(), "hunter2".to_owned())].into(),
        )]
        .into(),
        secrets: [(
            KeyReference {
                name: "n".to_owned(),
                key: "k".to_owned(),
            },
            "hunter2".to_owned(),
        )]
        .into(),
        ..Resolved::default()
    };
    assert!(!format!("{resolved:?}").contains("hunter2"));
}

#[test]
fn further_members_stand_beside_the_known_ones() {
    let open = |spec: &Value| arm_body(&OPEN, "o", spec, &Resolved::default());
    let spec = json!({"metric": {
        "size": 1, "unit": "u", "additionalProperties": {"a.b/c": 2, "": 3},
        "properties_additionalProperties": {"x": "y"},
    }});
    assert_eq!(
        open(&spec).unwrap(),
        json!({
            "name": "o", "odata.type": "Metric", "size": 1, "a.b/c": 2, "": 3,
            "properties": {"unit": "u", "x": "y"},
        })
    );
    for (field, name) in [
        ("additionalProperties", "Size"),
        ("additionalProperties", "odata.type"),
        ("additionalProperties", "properties"),
    ] {
        let error = open(&json!({"metric": {field: {name: 1}}}))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("spec.metric.additionalProperties"),
            "{error}"
        );
        assert!(
            error.ends_with("expected the name of a member that has no field of its own"),
            "{error}"
        );
    }
    assert_eq!(
        open(&json!({"metric": {"additionalProperties": {"x": "y"}}}))
            .unwrap_err()
            .to_string(),
        "spec.metric.additionalProperties.x: expected an integer"
    );
}

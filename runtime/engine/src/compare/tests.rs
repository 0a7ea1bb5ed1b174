use std::collections::BTreeMap;

use armature_shapes::shape::Shaped;
use armature_shapes::shaped;
use armature_shapes::testing::gadget::VERSION;
use serde_json::json;

use super::*;

shaped! {
    /// Two maps.
    Labelled {
        /// To which policies add.
        tags: BTreeMap<String, String> = "tags".at(&["tags"]);
        /// Of the resource.
        labels: BTreeMap<String, String> = "labels".at(&["properties", "labels"]);
    }
}

fn comparison<'a>(desired: &'a Value, observed: &'a Value) -> Comparison<'a> {
    Comparison::new(VERSION.spec, desired, observed)
}

fn differences(desired: &Value, observed: &Value) -> Vec<String> {
    let differences = comparison(desired, observed).differences();
    differences.iter().map(Difference::to_string).collect()
}

fn desired() -> Value {
    json!({
        "name": "g", "location": "West US", "tags": null, "zones": ["1", "2"],
        "identity": {"type": "UserAssigned", "userAssignedIdentities": {"/ID/a": {}}},
        "properties": {
            "accessTier": "Hot", "capacity": 3,
            "subnet": {"id": "/Subnets/1"},
            "password": "hunter2", "protectedSettings": {"a": "hunter2"},
            "network": {"address": "10.0.0.1"},
            "rules": [
                {"name": "a", "properties": {"priority": 1, "prefixes": ["x", "y"]}},
                {"name": "b", "properties": {"priority": 2, "prefixes": null, "targetId": "/t"}},
            ],
            "source": {"kind": "Blob", "properties": {"uri": "u"}},
        },
    })
}

/// What a service makes of it without changing any meaning.
fn normalised() -> Value {
    json!({
        "id": "/x", "name": "other/g", "type": "Microsoft.Toys/gadgets", "etag": "1",
        "location": "westus", "tags": {"policy": "added"}, "zones": ["2", "1"],
        "identity": {"type": "userassigned", "principalId": "p",
            "userAssignedIdentities": {"/id/A": {"clientId": "c"}}},
        "properties": {
            "provisioningState": "Succeeded", "accessTier": "hot", "capacity": 3.0,
            "subnet": {"id": "/subnets/1"},
            "network": {"address": "10.0.0.1", "mask": 8},
            "rules": [
                {"name": "B", "properties": {"priority": 2, "targetId": "/T", "prefixes": []}},
                {"name": "a", "id": "/rules/a", "properties": {"priority": 1, "prefixes": ["y", "x"]}},
            ],
            "source": {"kind": "blob", "properties": {"uri": "u", "size": 1}},
        },
    })
}

/// What Azure fills in, and what a policy or somebody else adds, is not compared beside an empty map, as beside one with entries.
/// What the map had once is to go.
#[test]
fn an_empty_map_names_none() {
    let filled = json!({"a": "theirs", "b": "theirs"});
    let of = |labels: Value| json!({"tags": labels, "properties": {"labels": labels}});
    for observed in [of(filled), of(json!({})), json!({})] {
        for desired in [of(json!({})), of(Value::Null), json!({})] {
            let comparison = Comparison::new(Labelled::SHAPE, &desired, &observed);
            assert_eq!(comparison.differences(), [], "{desired} {observed}");
        }
    }
    let key = DigestKey::random();
    let keyed = key.of("uid");
    let named = of(json!({"a": "ours"}));
    let before = Comparison::new(Labelled::SHAPE, &named, &named);
    let before = former::Former::of(&before, keyed, None);
    let observed = of(json!({"a": "ours", "b": "theirs"}));
    for desired in [of(json!({})), json!({})] {
        let comparison = Comparison::new(Labelled::SHAPE, &desired, &observed);
        let gone = before.found(&comparison, keyed).into_iter();
        let gone: Vec<String> = gone.map(|it| it.path).collect();
        assert_eq!(gone, ["tags.a", "properties.labels.a"], "{desired}");
    }
}

#[test]
fn items_that_ask_for_little_leave_room_for_those_that_ask_for_more() {
    let rules = |rules: Value| json!({"properties": {"rules": rules}});
    let few = json!({"properties": {"priority": 1}});
    let more = json!({"properties": {"priority": 1, "prefixes": ["x"]}});
    let (desired, observed) = (rules(json!([few, more])), rules(json!([more, few])));
    assert_eq!(differences(&desired, &observed), Vec::<String>::new());
    let twice = rules(json!([few, few]));
    assert_eq!(differences(&desired, &twice).len(), 1);
}

#[test]
fn further_members_are_compared_by_the_type_of_their_values() {
    let desired = json!({"odata.type": "Metric", "a": 1, "properties": {"x": "/subscriptions/S"}});
    let of = |observed: Value| {
        let comparison = Comparison {
            shape: armature_shapes::testing::gadget::OPEN.spec,
            ..comparison(&desired, &observed)
        };
        let differences = comparison.differences();
        differences
            .iter()
            .map(Difference::to_string)
            .collect::<Vec<_>>()
    };
    let same =
        json!({"odata.type": "metric", "a": 1.0, "b": 2, "properties": {"x": "/Subscriptions/s"}});
    assert_eq!(of(same), Vec::<String>::new());
    assert_eq!(
        of(json!({"odata.type": "Metric", "a": 2})),
        [
            "a: desired 1, Azure has 2",
            "properties.x: desired \"/subscriptions/S\", Azure has nothing"
        ]
    );
}

#[test]
fn normalisation_and_defaults_are_no_drift() {
    assert_eq!(differences(&desired(), &normalised()), Vec::<String>::new());
    assert_eq!(differences(&desired(), &desired()), Vec::<String>::new());
}

#[test]
fn every_kind_of_change_is_found_with_its_path() {
    let cases: [(&str, Value, &str); 9] = [
        (
            "/location",
            json!("eastus"),
            "location: desired \"West US\", Azure has \"eastus\"",
        ),
        (
            "/zones",
            json!(["1"]),
            "zones: desired [\"1\",\"2\"], Azure has [\"1\"]",
        ),
        (
            "/properties/accessTier",
            json!("Cool"),
            "properties.accessTier: desired \"Hot\", Azure has \"Cool\"",
        ),
        (
            "/properties/capacity",
            Value::Null,
            "properties.capacity: desired 3, Azure has nothing",
        ),
        (
            "/properties/rules/1/properties/priority",
            json!(9),
            "properties.rules.a.properties.priority: desired 1, Azure has 9",
        ),
        (
            "/properties/source/properties/uri",
            json!("v"),
            "properties.source.properties.uri: desired \"u\", Azure has \"v\"",
        ),
        (
            "/identity/userAssignedIdentities",
            json!({"/id/b": {}}),
            "identity.userAssignedIdentities: desired [\"/ID/a\"], Azure has [\"/id/b\"]",
        ),
        (
            "/properties/subnet/id",
            json!("/subnets/2"),
            "properties.subnet.id: desired \"/Subnets/1\", Azure has \"/subnets/2\"",
        ),
        (
            "/properties/network",
            Value::Null,
            "properties.network.address: desired \"10.0.0.1\", Azure has nothing",
        ),
    ];
    for (pointer, value, message) in cases {
        let mut observed = normalised();
        *observed.pointer_mut(pointer).unwrap() = value;
        assert_eq!(differences(&desired(), &observed), [message]);
    }
}

#[test]
fn list_items_missing_and_superfluous() {
    let mut observed = normalised();
    observed["properties"]["rules"] = json!([
        {"name": "a", "properties": {"priority": 1, "prefixes": ["x", "y"]}},
        {"name": "c", "properties": {"password": "hunter2"}},
    ]);
    assert_eq!(
        differences(&desired(), &observed),
        [
            "properties.rules.b.name: desired \"b\", Azure has nothing",
            "properties.rules.b.properties.priority: desired 2, Azure has nothing",
            "properties.rules.b.properties.targetId: desired \"/t\", Azure has nothing",
            "properties.rules.c: desired nothing, Azure has \"an item more\"",
        ]
    );
}

#[test]
fn items_without_identity_may_change_places() {
    let items = |first: i64, second: i64| {
        json!({"properties": {"rules": [
            {"properties": {"priority": first}}, {"properties": {"priority": second}},
        ]}})
    };
    assert!(differences(&items(1, 2), &items(2, 1)).is_empty());
    assert_eq!(
        differences(&items(1, 2), &items(1, 3)),
        ["properties.rules[1].properties.priority: desired 2, Azure has 3"]
    );
}

#[test]
fn an_explicitly_empty_list_differs_from_a_filled_one() {
    let desired = json!({"tags": {}, "zones": []});
    assert!(differences(&desired, &json!({})).is_empty());
    assert_eq!(
        differences(&desired, &json!({"zones": ["1"], "tags": {"a": "b"}})),
        ["zones: desired [], Azure has [\"1\"]"]
    );
}

#[test]
fn secrets_never_show_and_unknown_members_hide_their_values() {
    let mut desired = desired();
    desired["properties"]["novel"] = json!("hunter2");
    let observed = json!({"properties": {"password": "other", "novel": "x"}});
    let all = differences(&desired, &observed).join("\n");
    assert!(
        !all.contains("hunter2") && !all.contains("password"),
        "{all}"
    );
    assert!(all.contains("properties.novel: differs"));
}

#[test]
fn ignored_paths_are_not_compared() {
    let observed = json!({"location": "eastus", "properties": {}});
    let desired = json!({"location": "westus", "properties": {"capacity": 1, "accessTier": "Hot"}});
    let ignored = ["properties".to_owned(), "loc".to_owned()];
    let comparison = Comparison {
        ignored: &ignored,
        ..comparison(&desired, &observed)
    };
    let differences = comparison.differences();
    assert_eq!(differences.len(), 1);
    assert_eq!(differences[0].path, "location");
}

#[test]
fn schema_paths_hold_no_data() {
    let mut observed = normalised();
    observed["properties"]["rules"][0]["properties"]["priority"] = json!(9);
    observed["tags"] = json!({"team": "b"});
    let mut desired = desired();
    desired["tags"] = json!({"team": "a"});
    desired["properties"]["novel"] = json!(1);
    let differences = comparison(&desired, &observed).differences();
    let paths: Vec<_> = differences
        .iter()
        .map(|one| one.schema_path.as_str())
        .collect();
    assert_eq!(
        paths,
        [
            "tags[]",
            "properties.rules[].properties.priority",
            "properties[]"
        ]
    );
}

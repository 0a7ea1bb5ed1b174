use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::shape::Shaped;
use crate::testing::gadget::VERSION;
use crate::{shaped, string_enum};

fn messages(problems: &[Problem]) -> Vec<String> {
    let mut messages: Vec<_> = problems.iter().map(Problem::to_string).collect();
    messages.sort();
    messages
}

fn of_spec(spec: &Value) -> Vec<String> {
    messages(&check(VERSION.spec, spec, "spec"))
}

fn good() -> Value {
    json!({
        "azureName": "gadget1", "owner": {"name": "rg"}, "location": "westus", "capacity": 3,
        "accessTier": "Hot", "tags": {"a": "b"}, "zones": null,
        "rules": [{"name": "a", "targetReference": {"armId": "/providers/a/b/c"}}],
        "source": {"blob": {"uri": "u"}},
    })
}

#[test]
fn a_good_manifest_has_no_problem() {
    assert_eq!(of_spec(&good()), Vec::<String>::new());
}

#[test]
fn every_problem_is_told_with_its_place() {
    let spec = json!({
        "azureName": "A!", "locaton": "westus", "capacity": 101, "accessTier": "hot",
        "tags": ["a"], "zones": [1], "owner": {"name": "rg", "armId": "nonsense"},
        "rules": [{"targetReference": {"kind": "K", "armId": "/providers/a/b/c"}}],
        "source": {"blob": {}, "queue": {}}, "password": {"name": "n"},
        "identity": {"type": "Managed"},
    });
    assert_eq!(
        of_spec(&spec),
        [
            "spec.accessTier: \"hot\" is not a known value, did you mean \"Hot\"?",
            "spec.azureName: must have at least 3 characters, has 2",
            "spec.azureName: must match the pattern ^[a-z0-9]+$: 'A!' holds '!', 'A'",
            "spec.capacity: must be at most 100",
            "spec.identity.type: \"Managed\" is not a known value; known are SystemAssigned, UserAssigned",
            "spec.location: required, but not set",
            "spec.locaton: no such field, did you mean `location`?",
            "spec.owner.armId: must match the pattern (?i)(^(/subscriptions/([^/]+)(/resourcegroups/([^/]+))?)?/providers/([^/]+)/([^/]+/[^/]+)(/([^/]+/[^/]+))*$|^/subscriptions/([^/]+)(/resourcegroups/([^/]+))?$)",
            "spec.owner: set exactly one of name and armId",
            "spec.password.key: required, but not set",
            "spec.rules[0].name: required, but not set",
            "spec.rules[0].targetReference: set either armId, or group, kind and name together",
            "spec.source: set exactly one of blob, queue, found 2",
            "spec.tags: expected an object, found a list",
            "spec.zones[0]: expected a string, found an integer",
        ]
    );
    assert_eq!(
        of_spec(&json!(3)),
        ["spec: expected an object, found an integer"]
    );
}

#[test]
fn an_absent_spec_lacks_what_is_required() {
    assert_eq!(
        of_spec(&Value::Null),
        [
            "spec.location: required, but not set",
            "spec.owner: required, but not set",
        ]
    );
}

string_enum! {
    /// Sizes, of which there may be more.
    Size { SMALL = "Small", LARGE = "Large" }
}

shaped! {
    /// A list that is open, by itself and in a list and a map.
    Sized {
        /// One.
        size: Size = "size";
        /// Several.
        sizes: Vec<Size> = "sizes";
        /// By name.
        by_name: BTreeMap<String, Size> = "byName";
    }
}

#[test]
fn a_value_beyond_an_open_list_is_told_and_not_refused() {
    let spec = json!({
        "size": "15", "sizes": [Size::SMALL.as_str(), "large", "Lorge"],
        "byName": {"a": "Huge", "b": Size::LARGE.as_str()},
    });
    assert_eq!(check(Sized::SHAPE, &spec, "spec"), []);
    let beyond = "is not a value that the spec knows, and is sent to Azure as it is";
    assert_eq!(
        messages(&warnings(Sized::SHAPE, &spec, "spec")),
        [
            format!("spec.byName.a: \"Huge\" {beyond}; known are Small, Large"),
            format!("spec.size: \"15\" {beyond}; known are Small, Large"),
            format!("spec.sizes[2]: \"Lorge\" {beyond}; did you mean \"Large\"?"),
        ]
    );
    let wrong = json!({"size": 15});
    let problems = messages(&check(Sized::SHAPE, &wrong, "spec"));
    assert_eq!(problems, ["spec.size: expected a string, found an integer"]);
    assert_eq!(warnings(VERSION.spec, &good(), "spec"), []);
}

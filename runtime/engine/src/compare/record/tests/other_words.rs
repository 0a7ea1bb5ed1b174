//! Rules for the same thing in other words come with a release: what records say stays what it was, and no edit is hidden.

use super::*;

const RULES: [&str; 2] = [
    "properties.network.address as address",
    "properties.accessTier unset as Hot",
];

fn with_rules<'a>(desired: &'a Value, observed: &'a Value) -> Comparison<'a> {
    Comparison {
        equal_values: &RULES,
        ..Comparison::new(VERSION.spec, desired, observed)
    }
}

/// What Azure has, as `answer`, or with an address and a tier of its own.
fn azure(address: &str, tier: Option<&str>) -> Value {
    let mut azure = answer(address);
    azure["properties"]["accessTier"] = json!(tier);
    azure
}

#[test]
fn a_record_without_the_rule_means_what_it_meant() {
    let object = Object::new();
    let recorded = [
        ("10.0.0.1", Some("Hot")),
        ("10.0.0.1/32", None),
        ("10.0.0.9", Some("Cool")),
    ];
    for (address, tier) in recorded {
        let observed = azure(address, tier);
        let record = object.settled(1, &body(), &observed, None, None).record;
        let desired = body();
        let drift = |observed: &Value| {
            let comparison = with_rules(&desired, observed);
            record.drift(&comparison, object.keyed(), object.at).len()
        };
        assert_eq!(drift(&observed), 0, "{address} {tier:?}");
        assert_eq!(drift(&azure("10.0.0.1/32", None)), 0, "{address} {tier:?}");
        assert_eq!(drift(&azure("10.0.0.2/32", None)), 1, "{address} {tier:?}");
        let rebuilt = with_rules(&desired, &observed);
        let drifted = record.drift_since_another_release(&rebuilt, object.keyed(), object.at);
        assert_eq!(drifted, Vec::new(), "{address} {tier:?}");
    }
}

#[test]
fn records_with_and_without_the_rule_are_the_same_where_nothing_is_rewritten() {
    let object = Object::new();
    let observed = answer("10.0.0.1");
    let now = object.now(1, &body(), "x");
    let of = |comparison: &Comparison<'_>| {
        Record::settled(&now, comparison, object.keyed(), None, None, object.at).record
    };
    let desired = body();
    let without = of(&object.comparison(&desired, &observed));
    assert_eq!(of(&with_rules(&desired, &observed)), without);
}

#[test]
fn an_edit_to_another_spelling_is_sent() {
    let object = Object::new();
    let observed = answer("10.0.0.1/32");
    let record = object.settled(1, &body(), &observed, None, None).record;
    let mut edited = body();
    edited["properties"]["network"]["address"] = json!("10.0.0.1/32");
    let now = object.now(2, &edited, "x");
    assert_eq!(with_rules(&edited, &observed).differences(), Vec::new());
    assert_eq!(edit(Some(&record), None, Some(1), &now), Edit::Changed);
}

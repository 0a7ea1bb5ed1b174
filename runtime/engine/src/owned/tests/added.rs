//! Members that others add.

use super::*;
use crate::compare::Comparison;

#[test]
fn members_that_others_added_are_shared_also_where_the_spec_names_none() {
    let named = json!({"properties": {"pools": [{"name": "a"}]}});
    let observed = json!({"properties": {"pools": [{"name": "a"}, {"name": "b"}]}});
    for desired in [
        named,
        json!({"properties": {}}),
        json!({"properties": {"pools": []}}),
    ] {
        let owned = owned(
            "properties.pools added",
            &desired,
            &observed,
            Remembered::Nothing,
        );
        assert_eq!(owned.shared, ["properties.pools"]);
        assert!(owned.desired["properties"]["pools"].is_array());
        assert!(owned.ignored.is_empty());
    }
}

/// What is ours is to be known from the first PUT on: others may add some before it ends.
#[test]
fn what_others_may_add_to_is_shared_before_they_do() {
    let rule = rules(&["properties.pools added"]);
    let desired = json!({"properties": {"pools": [{"name": "a"}]}});
    for observed in [
        None,
        Some(json!({})),
        Some(json!({"properties": {"pools": []}})),
    ] {
        let observed = (observed.as_ref(), Scaled::Unasked);
        let owned = Owned::of(Cluster::SHAPE, &rule, &desired, observed, &|_| {
            Remembered::Nothing
        });
        assert_eq!(owned.shared, ["properties.pools"], "{observed:?}");
        assert_eq!(owned.desired, desired);
    }
    // Texts are remembered one by one.
    let rule = rules(&["properties.taints added"]);
    let desired = json!({"properties": {"taints": ["a"]}});
    for observed in [None, Some(json!({})), Some(desired.clone())] {
        let observed = (observed.as_ref(), Scaled::Unasked);
        let owned = Owned::of(Cluster::SHAPE, &rule, &desired, observed, &|_| {
            Remembered::Nothing
        });
        assert_eq!(owned.shared, [""; 0]);
        assert_eq!(
            owned.marks.len(),
            3,
            "the rules, the list and its text: {observed:?}"
        );
    }
}

/// Of a list that the spec does not name only what once was the spec's is drift, whatever the body has of it.
#[test]
fn beside_azures_items_of_a_list_that_the_spec_does_not_name_nothing_is_compared() {
    let pool = |name: &str| json!({ "name": name });
    let (none, named) = (
        json!({"properties": {}}),
        json!({"properties": {"pools": [pool("a")]}}),
    );
    let observed = json!({"properties": {
        "pools": [pool("azures"), pool("theirs")],
    }});
    let rules = ["properties.pools added like azure*"];
    let rules = super::rules(&rules);
    for (desired, expected) in [
        (none, &[][..]),
        (
            named,
            &["properties.pools.a.name", "properties.pools.theirs"],
        ),
    ] {
        let observed_now = (Some(&observed), Scaled::Unasked);
        let owned = Owned::of(Cluster::SHAPE, &rules, &desired, observed_now, &|_| {
            Remembered::Nothing
        });
        let sent = &owned.desired["properties"];
        let pools = sent["pools"]
            .as_array()
            .map(|pools| pools.contains(&pool("azures")));
        assert_eq!(pools, Some(true), "{sent}");
        let comparison = Comparison {
            unnamed: &owned.unnamed,
            ..Comparison::new(Cluster::SHAPE, &owned.desired, &observed)
        };
        let differences = comparison.differences().into_iter();
        let paths: Vec<String> = differences.map(|it| it.path).collect();
        assert_eq!(paths, expected, "{sent}");
    }
}

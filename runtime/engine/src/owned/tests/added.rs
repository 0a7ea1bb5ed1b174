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

/// The same of a list of texts. One that the spec names, if only as an empty one, is compared as a whole.
#[test]
fn of_a_list_of_texts_that_the_spec_does_not_name_only_what_it_named_once_is_drift() {
    let rules = rules(&["properties.taints added like azure/*"]);
    let taints = |taints: &[&str]| json!({"properties": {"taints": taints}});
    let observed = taints(&["azure/spot", "theirs", "azure/gpu"]);
    let named = |text: &str| format!("properties.taints[{text:?}]");
    let (own, theirs) = (named("azure/gpu"), named("theirs"));
    let nothing = json!({"properties": {}});
    // spec, what it named once, what is sent, whether that is drift
    let table = [
        (&nothing, "", &["azure/spot", "azure/gpu"][..], false),
        (&nothing, own.as_str(), &["azure/spot"], true),
        (
            &nothing,
            theirs.as_str(),
            &["azure/spot", "azure/gpu"],
            true,
        ),
        (&taints(&[]), "", &["azure/spot", "azure/gpu"], true),
        (&taints(&["a"]), "", &["a", "azure/spot", "azure/gpu"], true),
    ];
    for (desired, once, sent, is_drift) in table {
        let owned = Owned::of(
            Cluster::SHAPE,
            &rules,
            desired,
            (Some(&observed), Scaled::Unasked),
            &|mark| match mark.path == once {
                true => SAME,
                false => Remembered::Unnamed,
            },
        );
        assert_eq!(
            owned.desired["properties"]["taints"],
            json!(sent),
            "{desired} {once}"
        );
        let comparison = Comparison {
            owned: &owned.ignored,
            ..Comparison::new(Cluster::SHAPE, &owned.desired, &observed)
        };
        assert_eq!(
            !comparison.differences().is_empty(),
            is_drift,
            "{desired} {once}"
        );
        assert_eq!(owned.moved, [], "{desired} {once}");
    }
    // Where there was no room to remember what the spec named, all of it stays, and that is told.
    let forgotten = Remembered::Forgotten;
    let owned = Owned::of(
        Cluster::SHAPE,
        &rules,
        &nothing,
        (Some(&observed), Scaled::Unasked),
        &|_| forgotten,
    );
    let told: Vec<_> = owned.moved.iter().map(|moved| &moved.path).collect();
    assert_eq!(told, [&theirs, &named("azure/spot"), &own]);
}

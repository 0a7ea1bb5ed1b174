//! Members that others add.

use super::*;

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

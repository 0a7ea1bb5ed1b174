//! What is said of a value of which it is not known whether it was edited, against what an edit of it comes to.

use std::collections::BTreeSet;

use super::*;

/// For each right: a rule, what is desired, what Azure has, and at which place they differ.
fn table() -> Vec<(&'static str, Value, Value, &'static str)> {
    let versions = |version: &str| json!({"properties": {"version": version}});
    let capacity =
        |capacity: i64| json!({"sku": {"capacity": capacity}, "properties": {"maximum": 9}});
    let zones = |zone: &str, standby: &str| json!({"properties": {"zone": zone, "ha": {"standby": standby}}});
    let version = "/properties/version";
    vec![
        ("properties.version", versions("a"), versions("b"), version),
        (
            "properties.version unsent",
            versions("a"),
            versions("b"),
            version,
        ),
        (
            "properties.version unsent while azure properties.channel is on",
            json!({"properties": {"version": "a"}}),
            json!({"properties": {"version": "b", "channel": "on"}}),
            version,
        ),
        (
            "properties.version or later",
            versions("1.2"),
            versions("1.3"),
            version,
        ),
        (
            "properties.version in another version",
            versions("k/1"),
            versions("k/2"),
            version,
        ),
        (
            "sku.capacity from 1 to properties.maximum",
            capacity(2),
            capacity(3),
            "/sku/capacity",
        ),
        (
            "sku.capacity autoscaled",
            capacity(2),
            capacity(3),
            "/sku/capacity",
        ),
        (
            "properties.zone exchanged with properties.ha.standby",
            zones("1", "2"),
            zones("2", "1"),
            "/properties/zone",
        ),
        (
            "properties.version read-only",
            versions("a"),
            versions("b"),
            version,
        ),
        (
            "properties.version told",
            versions("a"),
            versions("b"),
            version,
        ),
    ]
}

#[test]
fn what_may_be_an_edit_is_what_a_put_would_have_of_one() {
    let mut rights = BTreeSet::new();
    for (text, desired, observed, place) in table() {
        let rules = rules(&[text]);
        let owned = |known: Remembered| {
            let azure = (Some(&observed), Scaled::Between(1, 5));
            Owned::of(Cluster::SHAPE, &rules, &desired, azure, &|_| known)
        };
        let path = place.trim_start_matches('/').replace('/', ".");
        let unknown = owned(Remembered::Nothing);
        let moved = unknown.moved.iter().find(|moved| moved.path == path);
        let Some(moved) = moved else {
            panic!("{text}: it is not left alone: {unknown:?}");
        };
        let edited = owned(Remembered::Other);
        let is_sent = edited.desired.pointer(place) == desired.pointer(place);
        assert_eq!(moved.may_be_edit, is_sent, "{text}");
        let kept = owned(SAME);
        assert!(!kept.moved.iter().any(|moved| moved.may_be_edit), "{text}");
        rights.insert((rules[0].right.name(), is_sent));
    }
    let expected = [
        ("autoscaled", true),
        ("exchanged", true),
        ("in-another-version", true),
        ("kept", true),
        ("later", false),
        ("read-only", false),
        ("told", true),
        ("unsent", false),
        ("unsent", true),
        ("within", true),
    ];
    assert_eq!(rights.into_iter().collect::<Vec<_>>(), expected);
}

//! Tables of rules over two bodies.

use std::collections::BTreeMap;

use armature_shapes::shape::Shaped;
use armature_shapes::shaped;
use serde_json::{Value, json};

use super::*;

shaped! {
    /// A part of a cluster.
    Pool {
        /// Identity.
        name: String = "name".at(&["name"]);
        /// How many nodes.
        count: i64 = "count".at(&["count"]);
        /// Whether Azure chooses how many.
        auto: bool = "enableAutoScaling".at(&["enableAutoScaling"]);
        /// At least.
        least: i64 = "minCount".at(&["minCount"]);
        /// At most.
        most: i64 = "maxCount".at(&["maxCount"]);
    }
}

shaped! {
    /// A cluster.
    Cluster {
        /// How many units.
        capacity: i64 = "capacity".at(&["sku", "capacity"]);
        /// Whether Azure chooses how many.
        inflate: bool = "inflate".at(&["properties", "inflate"]);
        /// At most.
        most: i64 = "maximum".at(&["properties", "maximum"]);
        /// Version.
        version: String = "version".at(&["properties", "version"]);
        /// Who upgrades.
        channel: String = "channel".at(&["properties", "upgrade", "channel"]);
        /// Zone.
        zone: String = "zone".at(&["properties", "zone"]);
        /// The other zone.
        standby: String = "standby".at(&["properties", "ha", "standby"]);
        /// Mode.
        mode: String = "mode".at(&["properties", "ha", "mode"]);
        /// Parts.
        pools: Vec<Pool> = "pools".at(&["properties", "pools"]);
        /// Labels.
        labels: BTreeMap<String, String> = "labels".at(&["properties", "labels"]);
        /// Taints.
        taints: Vec<String> = "taints".at(&["properties", "taints"]);
    }
}

fn rules(texts: &[&str]) -> Vec<Rule> {
    texts
        .iter()
        .map(|text| Rule::parse(text).unwrap())
        .collect()
}

fn memory<'m>(is_same: &'m dyn Fn(&Mark) -> Option<bool>) -> Memory<'m> {
    Memory {
        is_same,
        ..Memory::NONE
    }
}

fn owned(text: &str, desired: &Value, observed: &Value, known: Option<bool>) -> Owned {
    Owned::of(
        Cluster::SHAPE,
        &rules(&[text]),
        desired,
        (Some(observed), Scaled::Unasked),
        memory(&|_| known),
    )
}

/// What goes into the body of a PUT, and what is not compared.
fn result(text: &str, desired: &Value, observed: &Value) -> (Value, Vec<String>) {
    let owned = owned(text, desired, observed, Some(true));
    let unchanged = owned.desired == *desired;
    (
        if unchanged {
            Value::Null
        } else {
            owned.desired
        },
        owned.ignored,
    )
}

#[test]
fn a_condition_decides_whose_value_counts() {
    let properties = |properties: Value| json!({"properties": properties});
    let table = [
        // rule, spec, Azure, what is sent in place of the spec; `null`: the spec.
        (
            "properties.version or later while properties.upgrade.channel is patch or stable",
            properties(json!({"version": "1.33", "upgrade": {"channel": "Stable"}})),
            properties(json!({"version": "1.34.2"})),
            properties(json!({"version": "1.34.2", "upgrade": {"channel": "Stable"}})),
        ),
        (
            "properties.version or later while properties.upgrade.channel is patch or stable",
            properties(json!({"version": "1.34.10", "upgrade": {"channel": "Stable"}})),
            properties(json!({"version": "1.34.9"})),
            Value::Null,
        ),
        (
            "properties.zone exchanged with properties.ha.standby while properties.ha.mode is ZoneRedundant",
            properties(json!({"zone": "1", "ha": {"standby": "2", "mode": "ZoneRedundant"}})),
            properties(json!({"zone": "2", "ha": {"standby": "1"}})),
            properties(json!({"zone": "2", "ha": {"standby": "1", "mode": "ZoneRedundant"}})),
        ),
        (
            "properties.zone exchanged with properties.ha.standby",
            properties(json!({"zone": "1", "ha": {"standby": "2"}})),
            properties(json!({"zone": "2", "ha": {"standby": "3"}})),
            Value::Null,
        ),
        (
            "properties.zone exchanged with properties.ha.standby",
            properties(json!({"zone": "1"})),
            properties(json!({"zone": "2", "ha": {"standby": "1"}})),
            properties(json!({"zone": "2", "ha": {"standby": "1"}})),
        ),
        (
            "properties.channel while unset",
            properties(json!({"zone": "1"})),
            properties(json!({"channel": "x"})),
            Value::Null,
        ),
        (
            "properties.upgrade.channel while unset",
            properties(json!({"zone": "1"})),
            properties(json!({"upgrade": {"channel": "x"}})),
            properties(json!({"zone": "1", "upgrade": {"channel": "x"}})),
        ),
        (
            "properties.version while properties.zone is 1",
            properties(json!({"version": "1", "zone": "1"})),
            properties(json!({})),
            Value::Null,
        ),
        (
            "properties.version read-only while properties.zone is 2",
            properties(json!({"version": "1", "zone": "1"})),
            properties(json!({"version": "2"})),
            Value::Null,
        ),
        (
            "properties.version in another version",
            properties(json!({"version": "https://v/keys/k/1"})),
            properties(json!({"version": "https://V/keys/k/2"})),
            properties(json!({"version": "https://V/keys/k/2"})),
        ),
        (
            "properties.version in another version",
            properties(json!({"version": "https://v/keys/k/1"})),
            properties(json!({"version": "https://v/keys/other/2"})),
            Value::Null,
        ),
        (
            "properties.version while azure properties.version is msi",
            properties(json!({"version": "a"})),
            properties(json!({"version": "msi"})),
            properties(json!({"version": "msi"})),
        ),
        (
            "properties.pools added like *.azure.net",
            properties(json!({"pools": [{"name": "a"}]})),
            properties(
                json!({"pools": [{"name": "x.azure.net", "count": 1}, {"name": "b"}, {"name": "a"}]}),
            ),
            properties(json!({"pools": [{"name": "a"}, {"name": "x.azure.net", "count": 1}]})),
        ),
        (
            "properties.version unsent",
            properties(json!({"version": "1", "zone": "1"})),
            properties(json!({"version": "2"})),
            properties(json!({"zone": "1"})),
        ),
        (
            "properties.version read-only",
            properties(json!({"version": "1", "zone": "1"})),
            properties(json!({})),
            properties(json!({"zone": "1"})),
        ),
        (
            "properties.labels added like kubernetes.azure.com/*",
            properties(json!({"labels": {"team": "a"}})),
            properties(json!({"labels": {"Kubernetes.azure.com/spot": "yes", "other": "x"}})),
            properties(json!({"labels": {"team": "a", "Kubernetes.azure.com/spot": "yes"}})),
        ),
        (
            "properties.taints added like kubernetes.azure.com/*",
            properties(json!({"taints": []})),
            properties(
                json!({"taints": ["kubernetes.azure.com/spot=yes:NoSchedule", "x=y:NoExecute"]}),
            ),
            properties(json!({"taints": ["kubernetes.azure.com/spot=yes:NoSchedule"]})),
        ),
    ];
    for (rule, desired, observed, expected) in table {
        assert_eq!(
            result(rule, &desired, &observed).0,
            expected,
            "{rule} {desired}"
        );
    }
}

#[test]
fn between_bounds_any_value_is_right_and_beyond_them_the_nearer_bound_is() {
    let rule = "sku.capacity from spec to properties.maximum while properties.inflate";
    let desired = json!({"sku": {"capacity": 3}, "properties": {"inflate": true, "maximum": 10}});
    // Azure's, what is sent, whether it is compared.
    let table = [
        (3, 3, false),
        (7, 7, false),
        (10, 10, false),
        (11, 10, true),
        (1, 3, true),
    ];
    for (azure, sent, is_compared) in table {
        let observed = json!({"sku": {"capacity": azure}, "properties": {"inflate": true}});
        let owned = owned(rule, &desired, &observed, Some(true));
        assert_eq!(owned.desired["sku"]["capacity"], sent, "{azure}");
        assert_eq!(owned.ignored.is_empty(), is_compared, "{azure}");
    }
    let by_hand = json!({"sku": {"capacity": 3}, "properties": {"inflate": false, "maximum": 10}});
    let observed = json!({"sku": {"capacity": 7}, "properties": {"inflate": true}});
    assert_eq!(owned(rule, &by_hand, &observed, None).desired, by_hand);
}

#[test]
fn items_are_told_apart() {
    let rule = "properties.pools[].count from properties.pools[].minCount to properties.pools[].maxCount \
                while properties.pools[].enableAutoScaling";
    let pool = |name: &str, count: i64, auto: bool| json!({"name": name, "count": count, "enableAutoScaling": auto, "minCount": 1, "maxCount": 5});
    let desired = json!({"properties": {"pools": [pool("a", 1, true), pool("b", 1, false), pool("c", 1, true)]}});
    let observed = json!({"properties": {"pools": [pool("c", 9, true), pool("b", 4, false), pool("A", 4, true), pool("d", 2, true)]}});
    let owned = owned(rule, &desired, &observed, None);
    let counts: Vec<_> = owned.desired["properties"]["pools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["count"])
        .collect();
    assert_eq!(counts, [4, 1, 5]);
    assert_eq!(
        owned.ignored,
        ["properties.pools.a.count", "properties.pools.d.count"]
    );
    let one = "properties.pools.c.count while properties.pools.c.enableAutoScaling";
    let (sent, ignored) = result(one, &desired, &observed);
    assert_eq!(sent["properties"]["pools"][2]["count"], 9);
    assert_eq!(ignored, ["properties.pools.c.count"]);
}

#[test]
fn an_edit_is_sent_once_and_a_condition_that_ends_changes_nothing_by_itself() {
    let rule = "sku.capacity while properties.inflate";
    let desired = |capacity: i64, inflate: bool| json!({"sku": {"capacity": capacity}, "properties": {"inflate": inflate}});
    let observed = desired(40, false);
    // spec, what is remembered of it, what is sent, whether it is remembered.
    let table = [
        (desired(3, true), Some(true), 40, true),
        (desired(3, true), None, 40, true),
        (desired(3, true), Some(false), 3, true),
        (desired(3, false), Some(true), 40, true),
        (desired(3, false), Some(false), 3, false),
        (desired(3, false), None, 3, false),
    ];
    for (desired, known, sent, is_marked) in table {
        let owned = owned(rule, &desired, &observed, known);
        assert_eq!(
            owned.desired["sku"]["capacity"], sent,
            "{desired} {known:?}"
        );
        assert_eq!(!owned.marks.is_empty(), is_marked, "{desired} {known:?}");
        let unknown = owned.moved.iter().any(|moved| moved.is_unknown);
        assert_eq!(unknown, known.is_none() && is_marked);
    }
    let marks = |desired: &Value| owned(rule, desired, &observed, Some(true)).marks;
    assert_eq!(marks(&desired(3, true)), marks(&desired(3, true)));
    assert_ne!(marks(&desired(3, true)), marks(&desired(4, true)));
    assert_ne!(marks(&desired(3, true)), marks(&desired(3, false)));
}

#[test]
fn texts_that_others_added_stay_and_those_of_the_spec_go() {
    let desired = json!({"properties": {"taints": ["a"]}});
    let observed = json!({"properties": {"taints": ["a", "b", "c"]}});
    let was_ours = |mark: &Mark| (mark.text == "a" || mark.text == "b").then_some(true);
    let rules = rules(&["properties.taints added"]);
    let owned = Owned::of(
        Cluster::SHAPE,
        &rules,
        &desired,
        (Some(&observed), Scaled::Unasked),
        memory(&was_ours),
    );
    assert_eq!(owned.desired["properties"]["taints"], json!(["a", "c"]));
    assert_eq!(owned.marks.len(), 1);
}

#[test]
fn members_that_others_added_are_shared_and_lists_that_nobody_names_are_carried() {
    let named = json!({"properties": {"pools": [{"name": "a"}]}});
    let observed = json!({"properties": {"pools": [{"name": "a"}, {"name": "b"}]}});
    let owned = |desired: &Value| owned("properties.pools added", desired, &observed, None);
    assert_eq!(owned(&named).shared, ["properties.pools"]);
    assert_eq!(owned(&json!({"properties": {}})).desired, observed);
}

#[test]
fn nothing_is_owned_of_what_is_not_there() {
    let desired = json!({"sku": {"capacity": 3}, "properties": {"version": "1"}});
    let rules = rules(&["sku.capacity", "properties.version read-only"]);
    let owned = Owned::of(
        Cluster::SHAPE,
        &rules,
        &desired,
        (None, Scaled::Unasked),
        Memory::NONE,
    );
    assert_eq!(
        owned.desired,
        json!({"sku": {"capacity": 3}, "properties": {}})
    );
    assert_eq!((owned.moved, owned.ignored), Default::default());
    // What is made from it is remembered.
    assert_eq!(owned.marks.len(), 1);
}

#[test]
fn paths_are_known_by_the_shape() {
    let table = [
        ("sku.capacity", true),
        ("properties.pools[].count", true),
        ("properties.pools.a.count", true),
        ("properties.labels.team", true),
        ("properties.labels[\"a.b/c\"]", true),
        ("properties.pools[].weight", false),
        ("capacity", false),
        ("properties.version.major", false),
    ];
    for (path, expected) in table {
        let steps = Steps::parse(path).unwrap();
        assert_eq!(steps.is_known(Cluster::SHAPE), expected, "{path}");
    }
}

#[test]
fn what_another_resource_scales_is_asked_only_where_the_number_is_another_one() {
    let rules = rules(&["sku.capacity autoscaled"]);
    let body = |capacity: i64| json!({"sku": {"capacity": capacity}});
    // Azure's, by what it is scaled, what is sent, whether it has to be asked.
    let table = [
        (3, Scaled::Unasked, 3, false),
        (5, Scaled::Unasked, 3, true),
        (5, Scaled::Unreadable, 5, false),
        (5, Scaled::ByNone, 3, false),
        (5, Scaled::Between(2, 6), 5, false),
        (9, Scaled::Between(2, 6), 6, false),
    ];
    for (azure, scaled, sent, asks) in table {
        let (desired, observed) = (body(3), body(azure));
        let observed = (Some(&observed), scaled);
        let owned = Owned::of(Cluster::SHAPE, &rules, &desired, observed, Memory::NONE);
        assert_eq!(
            (owned.desired, owned.asks_scaled),
            (body(sent), asks),
            "{azure} {scaled:?}"
        );
    }
}

#[test]
fn what_the_spec_named_and_no_longer_does_is_to_go() {
    let rules = rules(&["properties.version while unset"]);
    let (desired, observed) = (
        json!({"properties": {"zone": "1"}}),
        json!({"properties": {"version": "1", "zone": "1"}}),
    );
    for (was_ours, expected) in [(false, &observed), (true, &desired)] {
        let memory = Memory {
            was_ours: &|path| was_ours && path == "properties.version",
            ..Memory::NONE
        };
        let observed = (Some(&observed), Scaled::Unasked);
        let owned = Owned::of(Cluster::SHAPE, &rules, &desired, observed, memory);
        assert_eq!(owned.desired, *expected);
    }
}

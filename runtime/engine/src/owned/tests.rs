//! Tables of rules over two bodies.

mod added;
mod edits;
mod exchanged;
mod forgotten;
mod paths;
mod unsent;
mod versions;

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

const SAME: Remembered = Remembered::Same { was_scaled: false };

fn rules(texts: &[&str]) -> Vec<Rule> {
    texts
        .iter()
        .map(|text| Rule::parse(text).unwrap())
        .collect()
}

fn owned(text: &str, desired: &Value, observed: &Value, known: Remembered) -> Owned {
    Owned::of(
        Cluster::SHAPE,
        &rules(&[text]),
        desired,
        (Some(observed), Scaled::Unasked),
        &|_| known,
    )
}

/// What goes into the body of a PUT, and what is not compared.
fn result(text: &str, desired: &Value, observed: &Value) -> (Value, Vec<String>) {
    let owned = owned(text, desired, observed, Remembered::Forgotten);
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
            "properties.channel while unset",
            properties(json!({"zone": "1"})),
            properties(json!({"channel": "x"})),
            Value::Null,
        ),
        (
            "properties.upgrade.channel while unset",
            properties(json!({"zone": "1", "upgrade": {"other": 1}})),
            properties(json!({"upgrade": {"channel": "x"}})),
            properties(json!({"zone": "1", "upgrade": {"other": 1, "channel": "x"}})),
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
        // Beyond its own bounds the spec counts where Azure has what it says.
        (
            "sku.capacity from spec to properties.maximum while properties.inflate",
            json!({"sku": {"capacity": 10}, "properties": {"inflate": true, "maximum": 1}}),
            json!({"sku": {"capacity": 10}}),
            Value::Null,
        ),
        (
            "sku.capacity from 2 to properties.maximum",
            json!({"sku": {"capacity": 10}, "properties": {"maximum": 4}}),
            json!({"sku": {"capacity": 9}}),
            json!({"sku": {"capacity": 4}, "properties": {"maximum": 4}}),
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
        let owned = owned(rule, &desired, &observed, SAME);
        assert_eq!(owned.desired["sku"]["capacity"], sent, "{azure}");
        assert_eq!(owned.ignored.is_empty(), is_compared, "{azure}");
    }
    let by_hand = json!({"sku": {"capacity": 3}, "properties": {"inflate": false, "maximum": 10}});
    let observed = json!({"sku": {"capacity": 7}, "properties": {"inflate": true}});
    assert_eq!(
        owned(rule, &by_hand, &observed, Remembered::Nothing).desired,
        by_hand
    );
}

#[test]
fn items_are_told_apart() {
    let rule = "properties.pools[].count from properties.pools[].minCount to properties.pools[].maxCount \
                while properties.pools[].enableAutoScaling";
    let pool = |name: &str, count: i64, auto: bool| json!({"name": name, "count": count, "enableAutoScaling": auto, "minCount": 1, "maxCount": 5});
    let desired = json!({"properties": {"pools": [pool("a", 1, true), pool("b", 1, false), pool("c", 1, true)]}});
    let observed = json!({"properties": {"pools": [pool("c", 9, true), pool("b", 4, false), pool("A", 4, true), pool("d", 2, true)]}});
    let owned = owned(rule, &desired, &observed, Remembered::Nothing);
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

/// What the record remembers, as the driver keeps it.
#[derive(Default)]
struct Story {
    rules: Vec<Rule>,
    marks: Option<Vec<Mark>>,
}

impl Story {
    fn of(texts: &[&str]) -> Self {
        Self {
            rules: rules(texts),
            marks: None,
        }
    }

    /// What is sent of a spec over what Azure has, which is then remembered.
    fn pass(&mut self, desired: &Value, observed: &Value, scaled: Scaled) -> Value {
        let owned = {
            let memory = |mark: &Mark| {
                let Some(marks) = &self.marks else {
                    return Remembered::Nothing;
                };
                match marks.iter().find(|known| known.path == mark.path) {
                    None => Remembered::Unnamed,
                    Some(known) if known.text == mark.text => Remembered::Same {
                        was_scaled: known.is_scaled,
                    },
                    Some(_) => Remembered::Other,
                }
            };
            let observed = (Some(observed), scaled);
            Owned::of(Cluster::SHAPE, &self.rules, desired, observed, &memory)
        };
        self.marks = Some(owned.marks);
        owned.desired
    }
}

fn capacity(capacity: i64, inflate: bool) -> Value {
    json!({"sku": {"capacity": capacity}, "properties": {"inflate": inflate, "maximum": 10}})
}

#[test]
fn an_edit_is_sent_once_and_an_edit_that_ends_the_condition_brings_the_spec_back() {
    let rules = [
        "sku.capacity while properties.inflate and properties.zone is busy",
        "sku.capacity from spec to properties.maximum while properties.inflate",
    ];
    let mut story = Story::of(&rules);
    let mut sent = |spec: &Value, azure: &Value| {
        story.pass(spec, azure, Scaled::Unasked)["sku"]["capacity"].clone()
    };
    let busy = json!({"sku": {"capacity": 40}, "properties": {"inflate": true, "zone": "busy"}});
    // Nothing is remembered at first.
    assert_eq!(sent(&capacity(3, true), &capacity(8, true)), 8);
    assert_eq!(sent(&capacity(3, true), &capacity(8, true)), 8);
    assert_eq!(sent(&capacity(4, true), &capacity(8, true)), 4, "an edit");
    assert_eq!(sent(&capacity(4, true), &capacity(8, true)), 8);
    assert_eq!(sent(&capacity(4, true), &busy), 40, "the other rule");
    assert_eq!(
        sent(&capacity(4, true), &capacity(40, true)),
        10,
        "a state that ended"
    );
    let narrower = json!({"sku": {"capacity": 4}, "properties": {"inflate": true, "maximum": 6}});
    assert_eq!(
        sent(&narrower, &capacity(8, true)),
        6,
        "a bound that is edited"
    );
    assert_eq!(
        sent(&capacity(4, false), &capacity(8, true)),
        4,
        "the condition is edited"
    );
    assert_eq!(sent(&capacity(4, false), &capacity(8, true)), 4, "drift");
}

#[test]
fn what_is_new_in_the_spec_is_an_edit() {
    let told =
        "properties.version told while azure properties.version is a and properties.version is b";
    let spec = |version: &str| json!({"properties": {"version": version, "zone": "1"}});
    let mut story = Story::of(&[told]);
    assert_eq!(
        story.pass(&spec("a"), &spec("a"), Scaled::Unasked),
        spec("a")
    );
    assert_eq!(
        story.pass(&spec("b"), &spec("a"), Scaled::Unasked),
        spec("b"),
        "an edit"
    );
    assert_eq!(
        story.pass(&spec("b"), &spec("a"), Scaled::Unasked),
        spec("a"),
        "somebody's"
    );
    // A condition that Azure still has, and that was taken out of the spec, does not hold.
    let mut story = Story::of(&["sku.capacity unsent while properties.inflate"]);
    let with = capacity(3, true);
    let without = json!({"sku": {"capacity": 3}, "properties": {"maximum": 10}});
    let sent = story.pass(&with, &with, Scaled::Unasked);
    assert_eq!(sent["sku"], json!({}));
    assert_eq!(story.pass(&without, &with, Scaled::Unasked), without);
    // Nor where nothing named the value while it held.
    let mut story = Story::of(&["sku.capacity unsent while properties.inflate"]);
    let scaled = json!({"properties": {"inflate": true, "maximum": 10}});
    story.pass(&scaled, &scaled, Scaled::Unasked);
    assert_eq!(story.pass(&without, &scaled, Scaled::Unasked), without);
}

#[test]
fn what_is_taken_out_goes_and_what_was_never_there_is_carried() {
    let pools = json!({"properties": {"pools": [{"name": "a"}], "zone": "1"}});
    let with = json!({"properties": {"zone": "1", "version": "2"}});
    let without = json!({"properties": {"zone": "1"}});
    let mut story = Story::of(&[
        "properties.version while unset",
        "properties.pools while unset",
    ]);
    assert_eq!(
        story.pass(&without, &with, Scaled::Unasked),
        with,
        "never named"
    );
    assert_eq!(story.pass(&with, &with, Scaled::Unasked), with);
    assert_eq!(
        story.pass(&without, &with, Scaled::Unasked),
        without,
        "taken out"
    );
    assert_eq!(
        story.pass(&without, &with, Scaled::Unasked),
        with,
        "Azure keeps it"
    );
    assert_eq!(story.pass(&pools, &pools, Scaled::Unasked), pools);
    assert_eq!(
        story.pass(&without, &pools, Scaled::Unasked),
        without,
        "a list"
    );
}

#[test]
fn what_no_longer_scales_leaves_the_number_until_it_is_edited() {
    let mut story = Story::of(&["sku.capacity autoscaled"]);
    let mut sent = |spec: i64, azure: i64, scaled: Scaled| {
        let (spec, azure) = (capacity(spec, false), capacity(azure, false));
        story.pass(&spec, &azure, scaled)["sku"]["capacity"].clone()
    };
    assert_eq!(sent(3, 3, Scaled::Unasked), 3);
    assert_eq!(sent(3, 5, Scaled::ByNone), 3, "drift");
    assert_eq!(sent(3, 5, Scaled::Between(2, 6)), 5);
    assert_eq!(sent(3, 5, Scaled::ByNone), 5, "the setting is gone");
    assert_eq!(sent(4, 5, Scaled::ByNone), 4, "an edit");
    assert_eq!(sent(4, 5, Scaled::ByNone), 4);
}

#[test]
fn nothing_goes_back_to_an_earlier_version_even_by_an_edit() {
    let mut story = Story::of(&["properties.version or later while properties.upgrade.channel"]);
    let spec =
        |version: &str| json!({"properties": {"version": version, "upgrade": {"channel": "x"}}});
    let mut sent = |own: &str, azure: &str| {
        story.pass(&spec(own), &spec(azure), Scaled::Unasked)["properties"]["version"].clone()
    };
    assert_eq!(sent("1.32", "1.34"), "1.34");
    assert_eq!(sent("1.33", "1.34"), "1.34", "an edit");
    assert_eq!(sent("1.35", "1.34"), "1.35", "an edit");
}

#[test]
fn an_edit_of_what_changed_places_sends_all_of_it() {
    let mut story = Story::of(&["properties.pools[].count exchanged"]);
    let pools = |counts: &[(&str, i64)]| {
        let pools: Vec<_> = counts
            .iter()
            .map(|(name, count)| json!({"name": name, "count": count}))
            .collect();
        json!({"properties": {"pools": pools}})
    };
    let mut sent = |spec: &Value, azure: &Value| story.pass(spec, azure, Scaled::Unasked);
    let (two, failed_over) = (pools(&[("e", 0), ("w", 1)]), pools(&[("e", 1), ("w", 0)]));
    assert_eq!(sent(&two, &two), two);
    assert_eq!(sent(&two, &failed_over), failed_over);
    let more = pools(&[("e", 0), ("w", 1), ("n", 2)]);
    assert_eq!(
        sent(&more, &failed_over),
        pools(&[("e", 1), ("w", 0), ("n", 2)])
    );
    assert_eq!(sent(&failed_over, &two), failed_over, "an edit");
    let fewer = pools(&[("w", 0)]);
    assert_eq!(sent(&fewer, &failed_over), fewer);
}

#[test]
fn texts_that_others_added_stay_and_those_of_the_spec_go() {
    let taints = |taints: &[&str]| json!({"properties": {"taints": taints}});
    let mut story = Story::of(&["properties.taints added"]);
    let mut sent = |spec: &[&str], azure: &[&str]| {
        story.pass(&taints(spec), &taints(azure), Scaled::Unasked)["properties"]["taints"].clone()
    };
    assert_eq!(sent(&["a", "b"], &["a", "b", "c"]), json!(["a", "b", "c"]));
    assert_eq!(sent(&["a"], &["a", "b", "c"]), json!(["a", "c"]));
    assert_eq!(sent(&[], &["a", "c"]), json!(["c"]));
    assert_eq!(
        sent(&["a", "b"], &["c", "a", "d", "b"]),
        json!(["c", "a", "d", "b"])
    );
    assert_eq!(
        sent(&["a", "b"], &["c", "b", "a"]),
        json!(["a", "b", "c"]),
        "another order"
    );
}

#[test]
fn what_fits_a_pattern_and_was_the_specs_goes() {
    let labels = |labels: Value| json!({"properties": {"labels": labels}});
    let mut story = Story::of(&["properties.labels added like team-*"]);
    let azure = labels(json!({"team-a": "1", "team-b": "2", "other": "3"}));
    let mut sent = |spec: Value| {
        story.pass(&labels(spec), &azure, Scaled::Unasked)["properties"]["labels"].clone()
    };
    assert_eq!(
        sent(json!({"team-a": "1"})),
        json!({"team-a": "1", "team-b": "2"})
    );
    assert_eq!(sent(json!({})), json!({"team-b": "2"}), "taken out");
}

#[test]
fn a_number_that_azure_chooses_is_not_taken_out() {
    let mut story =
        Story::of(&["sku.capacity from 1 to properties.maximum while properties.inflate"]);
    let without = json!({"sku": {}, "properties": {"inflate": true, "maximum": 10}});
    let azure = capacity(7, true);
    story.pass(&capacity(3, true), &azure, Scaled::Unasked);
    assert_eq!(
        story.pass(&without, &azure, Scaled::Unasked)["sku"]["capacity"],
        7
    );
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
        &|_| Remembered::Nothing,
    );
    assert_eq!(
        owned.desired,
        json!({"sku": {"capacity": 3}, "properties": {}})
    );
    assert_eq!((owned.moved, owned.ignored), Default::default());
    // What is made from it is remembered.
    assert_eq!(owned.marks.len(), 3, "the rules, and two values");
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
        let owned = Owned::of(Cluster::SHAPE, &rules, &desired, observed, &|_| {
            Remembered::Nothing
        });
        assert_eq!(
            (owned.desired, owned.asks_scaled),
            (body(sent), asks),
            "{azure} {scaled:?}"
        );
    }
}

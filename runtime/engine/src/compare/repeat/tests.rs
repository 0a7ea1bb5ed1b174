use armature_shapes::shape::Shaped;
use armature_shapes::shaped;
use armature_shapes::testing::gadget::VERSION;
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Rules of a kind whose lists Azure answers in another form, and one that looks at another value.
const RULES: &[&str] = &[
    "properties.rules[].properties.targetId also in properties.rules[].properties.prefixes",
    "properties.rules[].properties.prefixes also in properties.rules[].properties.targetId",
    "properties.network.address also as properties.network.current",
    "properties.capacity counts while properties.accessTier is Hot or nothing",
    "properties.rules[].properties.priority unset as 1",
];

fn comparison<'a>(desired: &'a Value, azure: &'a Value) -> Comparison<'a> {
    Comparison {
        equal_values: RULES,
        ..Comparison::new(VERSION.spec, desired, azure)
    }
}

fn paths(comparison: &Comparison<'_>) -> Vec<String> {
    let differences = comparison.differences().into_iter();
    differences.map(|it| it.path).collect()
}

/// The body that repeats all differences, and what differs of it.
fn repeated(desired: &Value, azure: &Value) -> (Value, Vec<String>) {
    let comparison = comparison(desired, azure);
    let body = comparison.repeating(&paths(&comparison), &[]).body;
    let left = paths(&self::comparison(&body, azure));
    (body, left)
}

fn of(properties: Value) -> Value {
    json!({ "properties": properties })
}

#[test]
fn the_body_is_azures_at_the_nearest_place_that_exists_in_both() {
    let named = |names: &[&str]| {
        let rules = names.iter();
        let rules = rules
            .map(|name| json!({"name": name, "properties": {"priority": 2, "prefixes": ["x"]}}));
        of(json!({"rules": rules.collect::<Vec<_>>()}))
    };
    let unnamed = |priorities: &[i64]| {
        let rules = priorities.iter();
        let rules = rules.map(|priority| json!({"properties": {"priority": priority}}));
        of(json!({"rules": rules.collect::<Vec<_>>()}))
    };
    let rule = |properties: Value| of(json!({"rules": [{"name": "a", "properties": properties}]}));
    let table = [
        (
            "a value",
            of(json!({"capacity": 1})),
            of(json!({"capacity": 2})),
            of(json!({"capacity": 2})),
        ),
        (
            "an item that is missing as a whole",
            named(&["a", "b"]),
            named(&["a"]),
            named(&["a"]),
        ),
        (
            "an item more",
            named(&["a"]),
            named(&["a", "c"]),
            named(&["a", "c"]),
        ),
        (
            "items that nothing tells apart",
            unnamed(&[3]),
            unnamed(&[3, 4]),
            unnamed(&[3, 4]),
        ),
        (
            "one of them less",
            unnamed(&[3, 4, 5]),
            unnamed(&[4, 5]),
            unnamed(&[4, 5]),
        ),
        (
            "what takes the place of a value that is gone goes along",
            of(json!({"source": {"kind": "Blob", "properties": {"uri": "u"}}})),
            of(json!({"source": {"kind": "Queue", "properties": {"queue": "q"}}})),
            of(json!({"source": {"kind": "Queue", "properties": {"queue": "q"}}})),
        ),
        (
            "the whole list",
            json!({"properties": {"rules": [{"name": "a"}], "capacity": 1}}),
            of(json!({"capacity": 1})),
            of(json!({"capacity": 1})),
        ),
        (
            "the other form",
            rule(json!({"targetId": "a"})),
            rule(json!({"prefixes": ["b"]})),
            rule(json!({"targetId": "b"})),
        ),
        (
            "what the form of the spec cannot say",
            rule(json!({"targetId": "a"})),
            rule(json!({"prefixes": ["b", "c"]})),
            rule(json!({"prefixes": ["b", "c"]})),
        ),
        (
            "a value that counts with another one",
            of(json!({"accessTier": "Cool", "capacity": 1})),
            of(json!({"accessTier": "Hot", "capacity": 2})),
            of(json!({"accessTier": "Hot", "capacity": 2})),
        ),
        (
            "an entry of a map",
            json!({"tags": {"a": "1", "b": "2"}}),
            json!({"tags": {"a": "3"}}),
            json!({"tags": {"a": "3"}}),
        ),
    ];
    for (what, desired, azure, expected) in table {
        assert_eq!(repeated(&desired, &azure), (expected, vec![]), "{what}");
    }
}

shaped! {
    /// Values of which each one decides whether the next one counts.
    Chain {
        /// Value.
        t0: String = "t0".at(&["t0"]);
        /// Value.
        t1: String = "t1".at(&["t1"]);
        /// Value.
        t2: String = "t2".at(&["t2"]);
        /// Value.
        t3: String = "t3".at(&["t3"]);
        /// Value.
        t4: String = "t4".at(&["t4"]);
        /// Value.
        t5: String = "t5".at(&["t5"]);
        /// Value.
        t6: String = "t6".at(&["t6"]);
        /// Value.
        t7: String = "t7".at(&["t7"]);
        /// Value.
        t8: String = "t8".at(&["t8"]);
    }
}

#[test]
fn a_body_that_does_not_settle_says_so() {
    let rules: Vec<String> = (1..9)
        .map(|at| format!("t{at} counts while t{} is on", at - 1))
        .collect();
    let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    let chain = |value: &str, count: usize| -> Value {
        let values = (0..count).map(|at| (format!("t{at}"), json!(value)));
        values.collect::<Map<_, _>>().into()
    };
    let mut settled = Vec::new();
    for count in 1..=9 {
        let (desired, azure) = (chain("off", count), chain("on", count));
        let comparison = Comparison {
            equal_values: &rules,
            ..Comparison::new(Chain::SHAPE, &desired, &azure)
        };
        assert_eq!(paths(&comparison), ["t0"]);
        let found = comparison.repeating(&["t0".to_owned()], &[]);
        let left = paths(&Comparison {
            desired: &found.body,
            ..comparison
        });
        assert_eq!(found.is_settled, left.is_empty(), "{count}: {left:?}");
        settled.push(found.is_settled);
    }
    assert!(settled[0] && !settled[8], "{settled:?}");
}

#[test]
fn what_has_taken_the_place_of_a_value_goes_along_unless_it_is_never_sent() {
    let desired = json!({"identity": {"type": "SystemAssigned"}});
    let azure = json!({"identity": {"userAssignedIdentities": {"/i/a": {}}, "principalId": "p"}});
    let of = |unsent: &[&str]| {
        let unsent: Vec<String> = unsent.iter().map(|path| (*path).to_owned()).collect();
        let carried = ["identity.type".to_owned()];
        comparison(&desired, &azure)
            .repeating(&carried, &unsent)
            .body
    };
    let whole = json!({"identity": {"userAssignedIdentities": {"/i/a": {}}}});
    assert_eq!(of(&[]), whole, "and nothing that only Azure says");
    let less = json!({"identity": {}});
    assert_eq!(of(&["identity.userAssignedIdentities"]), less);
}

#[test]
fn only_what_waits_is_azures() {
    let desired = json!({"tags": {"a": "1"}, "properties": {
        "capacity": 1, "accessTier": "Hot", "rules": [{"name": "a", "properties": {"priority": 3}}],
    }});
    let azure = json!({"tags": {"a": "1", "old": "x"}, "properties": {
        "capacity": 2, "accessTier": "Cool", "network": {"address": "n", "mask": 8}, "unsent": 1,
        "rules": [{"name": "a", "properties": {"priority": 4}}, {"name": "b"}],
    }});
    let of = |carried: &[&str]| {
        let carried: Vec<String> = carried.iter().map(|path| (*path).to_owned()).collect();
        comparison(&desired, &azure).repeating(&carried, &[])
    };
    assert_eq!(
        of(&[]),
        Repeated {
            body: desired.clone(),
            is_settled: true,
            places: vec![]
        }
    );
    let some = of(&[
        "properties.rules.a.properties.priority",
        "tags.old",
        "properties.network.address",
    ]);
    let mut expected = desired.clone();
    expected["properties"]["rules"][0]["properties"]["priority"] = json!(4);
    expected["properties"]["network"] = json!({"address": "n", "mask": 8});
    expected["tags"]["old"] = json!("x");
    assert_eq!(some.body, expected, "what was taken out, too");
    let places = [
        "properties.network",
        "properties.rules.a.properties.priority",
        "tags.old",
    ];
    assert_eq!(some.places, places);
    let places: Vec<&str> = some.places.iter().map(String::as_str).collect();
    assert_eq!(of(&places), some, "the places say the same");
}

#[test]
fn what_azure_does_not_show_stays_within_items_that_nothing_tells_apart() {
    let item = |priority: i64| json!({"properties": {"priority": priority}});
    let mut ours = item(3);
    ours["properties"]["secret"] = Value::Null;
    let desired = of(json!({"rules": [item(2), ours]}));
    let azure = of(json!({"rules": [item(3), item(9), item(8)]}));
    let (body, left) = repeated(&desired, &azure);
    assert_eq!(left, Vec::<String>::new());
    let rules = &body["properties"]["rules"];
    assert!(rules[0]["properties"].get("secret").is_some());
    assert_eq!(rules.as_array().map(Vec::len), Some(3));
}

fn text() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!("a")),
        Just(json!("A")),
        Just(json!("b")),
        Just(json!("c"))
    ]
}

/// An object with some of these members.
fn some(members: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let members: Vec<_> = members
        .into_iter()
        .map(|(name, value)| {
            prop::option::weighted(0.6, value).prop_map(move |value| (name, value))
        })
        .collect();
    let object = |members: Vec<(&str, Option<Value>)>| {
        let there = members
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Value::Object(there.collect())
    };
    members.prop_map(object).boxed()
}

fn list(of: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop::collection::vec(of, 0..4)
        .prop_map(Value::Array)
        .boxed()
}

fn body() -> impl Strategy<Value = Value> {
    let number = || (0..4_i64).prop_map(Value::from).boxed();
    let rule = |names: bool| {
        let properties = some(vec![
            ("priority", number()),
            ("prefixes", list(text().boxed())),
            ("targetId", text().boxed()),
        ]);
        let mut members = vec![("properties", properties), ("id", text().boxed())];
        if names {
            members.push(("name", text().boxed()));
        }
        some(members)
    };
    let source = prop_oneof![
        some(vec![("uri", text().boxed())])
            .prop_map(|it| json!({"kind": "Blob", "properties": it})),
        some(vec![("queue", text().boxed())])
            .prop_map(|it| json!({"kind": "Queue", "properties": it})),
    ];
    let tier = prop_oneof![Just(json!("Hot")), Just(json!("hot")), Just(json!("Cool"))];
    let identities = prop::collection::btree_map("/i/[ab]", Just(json!({})), 0..3)
        .prop_map(|ids| Value::Object(ids.into_iter().collect()));
    let properties = some(vec![
        ("capacity", number()),
        ("accessTier", tier.boxed()),
        (
            "network",
            some(vec![
                ("address", text().boxed()),
                ("current", text().boxed()),
            ]),
        ),
        (
            "rules",
            prop_oneof![list(rule(true)), list(rule(false))].boxed(),
        ),
        ("source", source.boxed()),
        ("subnet", some(vec![("id", text().boxed())])),
        ("other", some(vec![("x", number())])),
    ]);
    some(vec![
        ("location", text().boxed()),
        (
            "tags",
            some(vec![("a", text().boxed()), ("b", text().boxed())]),
        ),
        ("zones", list(text().boxed())),
        (
            "identity",
            some(vec![
                ("type", text().boxed()),
                ("userAssignedIdentities", identities.boxed()),
            ]),
        ),
        ("properties", properties),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever Azure has and whatever is desired.
    #[test]
    fn a_body_that_repeats_all_differences_differs_nowhere(desired in body(), azure in body()) {
        let (body, left) = repeated(&desired, &azure);
        prop_assert_eq!(left, Vec::<String>::new(), "{}", body);
    }
}

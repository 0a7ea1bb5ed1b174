use armature_shapes::testing::gadget::VERSION;
use serde_json::{Value, json};

use super::super::Comparison;
use super::*;

#[test]
fn every_word_knows_what_is_the_same() {
    let role = "providers/Microsoft.Toys/roles/acdd72a7-3385-48ef-bd42-f606fba81ae7";
    let other = "providers/Microsoft.Toys/roles/b24988ac-6180-42a0-ab88-20f7382dd24c";
    let sub = "/subscriptions/00000000-0000-0000-0000-000000000001";
    let table: [(&str, Value, Value, bool); 42] = [
        ("any-case", json!("utf8"), json!("UTF8"), true),
        ("any-case", json!("utf8"), json!("UTF-8"), false),
        ("any-case", json!(["A", "b"]), json!(["B", "a"]), true),
        ("location", json!("West US"), json!("westus"), true),
        ("location", json!("West US"), json!("westus2"), false),
        (
            "id-in-any-scope",
            json!(format!("/{role}")),
            json!(format!("{sub}/{role}").to_uppercase()),
            true,
        ),
        (
            "id-in-any-scope",
            json!(format!("/subscriptions/9/{role}")),
            json!(format!("{sub}/{role}")),
            true,
        ),
        (
            "id-in-any-scope",
            json!(format!("/{role}")),
            json!(format!("{sub}/{other}")),
            false,
        ),
        (
            "id-in-any-scope",
            json!("/providers/a/b/c"),
            json!("/subscriptions/1/providers/a/b/c"),
            false,
        ),
        (
            "id-in-text",
            json!("Assigned=/subscriptions/A/x"),
            json!("Assigned=/subscriptions/a/X/"),
            true,
        ),
        (
            "id-in-text",
            json!("Assigned=/subscriptions/A/x"),
            json!("Other=/subscriptions/A/x"),
            false,
        ),
        ("address", json!("10.0.0.1"), json!("10.0.0.1/32"), true),
        ("address", json!("fd00::1/128"), json!("FD00:0::1"), true),
        ("address", json!("10.0.0.0/24"), json!("10.0.0.0"), false),
        ("address", json!("10.0.0.1/x"), json!("10.0.0.1"), false),
        (
            "xml",
            json!("<a b='1' c=\"2\"><d/></a>"),
            json!("\u{feff}<a c=\"2\" b=\"1\">\r\n  <d></d>\n</a>"),
            true,
        ),
        (
            "xml",
            json!("<a>x &amp; y</a>"),
            json!("<a> x &#38; y </a>"),
            true,
        ),
        ("xml", json!("<a b=\"1\" />"), json!("<a b=\"2\" />"), false),
        ("xml", json!("<a><b/></a>"), json!("<b><a/></b>"), false),
        ("xml", json!("<a>ab</a>"), json!("<a>a b</a>"), false),
        (
            "xml",
            json!("<a v=\"@(x[\"y\"])\"/>"),
            json!("<a v=\"@(x[&quot;y&quot;])\" />"),
            false,
        ),
        (
            "xml",
            json!("<a v=\"@(x[\"y\"])\"/>"),
            json!("<a  v=\"@(x[\"y\"])\" />\r\n"),
            true,
        ),
        (
            "json",
            json!("{\"a\": 1, \"b\": [1, 2]}"),
            json!("{\"b\":[1,2],\"a\":1}"),
            true,
        ),
        (
            "json",
            json!("{\"b\": [1, 2]}"),
            json!("{\"b\":[2,1]}"),
            false,
        ),
        ("json", json!("{"), json!("{ "), false),
        (
            "words",
            json!("Logging,Metrics"),
            json!("metrics, Logging"),
            true,
        ),
        ("words", json!("Logging"), json!("Logging, Metrics"), false),
        ("joined", json!(["ab", "c"]), json!(["a", "bc"]), true),
        ("joined", json!(["ab", "c"]), json!(["c", "ab"]), false),
        ("joined", json!(["ab"]), json!("ab"), true),
        (
            "lines",
            json!("ssh-rsa AA\nBB  \n"),
            json!("ssh-rsa AABB"),
            true,
        ),
        ("lines", json!("ssh-rsa AABB"), json!("ssh-rsa AABC"), false),
        ("version", json!("1.33"), json!("1.33.5"), true),
        ("version", json!("1.3"), json!("1.33.5"), false),
        ("version", json!("1.33.5"), json!("1.33"), false),
        ("version", json!(""), json!("1.33"), false),
        (
            "masked",
            json!("Name=x;Key=s3cret;End=y"),
            json!("Name=x;Key=[key hidden];End=y"),
            true,
        ),
        ("masked", json!("s3cret"), json!("Hidden"), true),
        (
            "masked",
            json!("Name=x;Key=s3cret"),
            json!("Name=z;Key=****"),
            false,
        ),
        ("masked", json!("s3cret"), json!("other"), false),
        ("masked", json!("ab"), json!("ab****ab"), false),
        ("any-case", json!(1), json!(true), false),
    ];
    for (word, desired, observed, expected) in table {
        let rule = Spelling::parse(&format!("a as {word}")).unwrap();
        let found = rule.same.allows(Some(&desired), Some(&observed));
        assert_eq!(found, expected, "{word}: {desired} {observed}");
    }
}

#[test]
fn defaults_synonyms_and_what_azure_does_not_say() {
    let table: [(&str, Value, Value, bool); 16] = [
        ("unset as None", json!("none"), Value::Null, true),
        ("unset as None", json!("None"), json!("Windows"), false),
        ("unset as Off or \"\"", json!("Off"), json!(""), true),
        ("unset as Off or \"\"", Value::Null, json!("off"), true),
        ("unset as true", json!(true), Value::Null, true),
        ("unset as true", json!(false), Value::Null, false),
        ("unset as -1", json!(-1), Value::Null, true),
        ("unset as -1", json!(5), Value::Null, false),
        (
            "same Paid or Standard",
            json!("Paid"),
            json!("standard"),
            true,
        ),
        (
            "same Paid or Standard",
            json!("Free"),
            json!("Standard"),
            false,
        ),
        ("unless nothing", json!("Included"), Value::Null, true),
        ("unless nothing", json!("Included"), json!("Base"), false),
        ("unless 0", json!(7), json!(0), true),
        ("unless 0", json!(7), json!(8), false),
        ("unless 0", json!(7), Value::Null, false),
        ("unless 0 or nothing", json!(7), Value::Null, true),
    ];
    for (what, desired, observed, expected) in table {
        let rule = Spelling::parse(&format!("a {what}")).unwrap();
        let some = |value: &Value| (!value.is_null()).then(|| value.clone());
        let (desired, observed) = (some(&desired), some(&observed));
        let found = rule.same.allows(desired.as_ref(), observed.as_ref());
        assert_eq!(found, expected, "{what}: {desired:?} {observed:?}");
    }
}

#[test]
fn what_is_no_rule_says_why() {
    let table = [
        ("properties.a", "says nothing of the path"),
        ("a as adress", "no word `adress`"),
        ("a is b", "begins with none of"),
        ("a as", "begins with none of"),
        ("a same b", "needs two values"),
        ("a unset as b or ", "a value is missing"),
        ("a unset as b c", "is no value"),
        ("a[x].b as xml", "is no path"),
        ("a counts", "needs a condition"),
        ("a counts while b", "a condition is"),
    ];
    for (rule, fault) in table {
        let error = Spelling::parse(rule).unwrap_err().to_string();
        assert!(error.contains(fault), "{rule}: {error}");
    }
    let rule = Spelling::parse("a[].b also in a[].c while d.e is x or nothing").unwrap();
    assert_eq!(rule.others().collect::<Vec<_>>(), ["a[].c", "d.e"]);
}

fn differences(rules: &[&str], desired: &Value, observed: &Value) -> Vec<String> {
    let comparison = Comparison {
        equal_values: rules,
        ..Comparison::new(VERSION.spec, desired, observed)
    };
    let differences = comparison.differences();
    differences.iter().map(ToString::to_string).collect()
}

#[test]
fn rules_hold_where_they_say() {
    let of = |properties: Value| json!({ "properties": properties });
    let rule = |name: &str, prefixes: Value, target: Value| json!([{"name": name, "properties": {"prefixes": prefixes, "targetId": target}}]);
    let unnamed = |prefix: &str| json!({"properties": {"prefixes": [prefix]}});
    let prefixes = "properties.rules[].properties.prefixes as address";
    let table: [(&str, &[&str], Value, Value, usize); 15] = [
        (
            "a list of texts within items",
            &[prefixes],
            of(json!({"rules": rule("a", json!(["10.0.0.1", "x"]), Value::Null)})),
            of(json!({"rules": rule("a", json!(["x", "10.0.0.1/32"]), Value::Null)})),
            0,
        ),
        (
            "elsewhere it does not hold",
            &[prefixes],
            of(json!({"network": {"address": "10.0.0.1"}})),
            of(json!({"network": {"address": "10.0.0.1/32"}})),
            1,
        ),
        (
            "items without identity are matched by it",
            &[prefixes],
            of(json!({"rules": [unnamed("10.0.0.1"), unnamed("10.0.0.2")]})),
            of(json!({"rules": [unnamed("10.0.0.2/32"), unnamed("10.0.0.1/32")]})),
            0,
        ),
        (
            "items with an identity in other words",
            &["properties.rules[].name as location"],
            of(json!({"rules": rule("West US", json!(["x"]), Value::Null)})),
            of(json!({"rules": rule("westus", json!(["x"]), Value::Null)})),
            0,
        ),
        (
            "and without the rule they are others",
            &[],
            of(json!({"rules": rule("West US", json!(["x"]), Value::Null)})),
            of(json!({"rules": rule("westus", json!(["x"]), Value::Null)})),
            3,
        ),
        (
            "a default in an object that is not answered at all",
            &["properties.network.address unset as Any"],
            of(json!({"network": {"address": "Any"}})),
            of(json!({})),
            0,
        ),
        (
            "another path has the value",
            &["properties.accessTier also as properties.network.address"],
            of(json!({"accessTier": "Hot"})),
            of(json!({"accessTier": "Cool", "network": {"address": "hot"}})),
            0,
        ),
        (
            "another path has another value",
            &["properties.accessTier also as properties.network.address"],
            of(json!({"accessTier": "Hot"})),
            of(json!({"network": {"address": "Cool"}})),
            1,
        ),
        (
            "the only item of a list",
            &["properties.accessTier also in properties.tiers"],
            of(json!({"accessTier": "Hot"})),
            of(json!({"tiers": ["Hot"]})),
            0,
        ),
        (
            "one of two items is not it",
            &["properties.accessTier also in properties.tiers"],
            of(json!({"accessTier": "Hot"})),
            of(json!({"tiers": ["Hot", "Cool"]})),
            1,
        ),
        (
            "a list, answered as its only item",
            &[
                "properties.rules[].properties.prefixes also in properties.rules[].properties.prefix",
            ],
            of(json!({"rules": rule("a", json!(["x"]), Value::Null)})),
            of(json!({"rules": [{"name": "a", "properties": {"prefix": "x"}}]})),
            0,
        ),
        (
            "a list of objects, answered as its only item",
            &["properties.rules also in properties.rule"],
            of(json!({"rules": rule("a", json!(["x"]), Value::Null)})),
            of(json!({"rule": {"name": "a", "properties": {"prefixes": ["x"]}}})),
            0,
        ),
        (
            "a value that does not count",
            &["properties.capacity counts while properties.accessTier is Hot"],
            of(json!({"capacity": 3, "accessTier": "Cool"})),
            of(json!({"capacity": 5, "accessTier": "Cool"})),
            0,
        ),
        (
            "a value that counts",
            &["properties.capacity counts while properties.accessTier is Hot"],
            of(json!({"capacity": 3, "accessTier": "Hot"})),
            of(json!({"capacity": 5, "accessTier": "Hot"})),
            1,
        ),
        (
            "a condition at the top of the body, of what Azure has where desired says nothing",
            &[
                "properties.rules[].properties.priority unset as 1 while location is nothing or westus",
            ],
            of(json!({"rules": [{"name": "a", "properties": {"priority": 1}}]})),
            json!({"location": "WestUS", "properties": {"rules": [{"name": "a"}]}}),
            0,
        ),
    ];
    for (what, rules, desired, observed, expected) in table {
        let found = differences(rules, &desired, &observed);
        assert_eq!(found.len(), expected, "{what}: {found:?}");
    }
}

#[test]
fn a_default_is_neither_left_out_nor_kept() {
    let rules = ["properties.accessTier unset as Hot"];
    let (desired, observed) = (json!({}), json!({"properties": {"accessTier": "hot"}}));
    let comparison = Comparison {
        equal_values: &rules,
        ..Comparison::new(VERSION.spec, &desired, &observed)
    };
    assert_eq!(comparison.left_out(VERSION.status), Vec::new());
    let other = Comparison {
        equal_values: &[],
        ..comparison
    };
    assert_eq!(other.left_out(VERSION.status).len(), 1);
}

#[test]
fn a_guess_proves_nothing() {
    let table: [(&str, Value, bool); 4] = [
        ("properties.accessTier unless nothing", json!({}), false),
        (
            "properties.accessTier unless nothing",
            json!({"accessTier": "hot"}),
            true,
        ),
        ("properties.accessTier unset as Hot", json!({}), true),
        (
            "properties.accessTier as masked",
            json!({"accessTier": "Hidden"}),
            false,
        ),
    ];
    for (rule, observed, expected) in table {
        let (desired, observed) = (
            json!({"properties": {"accessTier": "Hot"}}),
            json!({"properties": observed}),
        );
        let comparison = Comparison {
            equal_values: &[rule],
            ..Comparison::new(VERSION.spec, &desired, &observed)
        };
        assert_eq!(comparison.differences(), Vec::new(), "{rule} {observed}");
        assert_eq!(comparison.is_certain(), expected, "{rule} {observed}");
    }
}

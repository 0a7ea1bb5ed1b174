//! When two values mean the same to Azure.

use jiff::Timestamp;
use serde_json::Value;

use armature_shapes::digest::canonical_json;

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// As it is; strings that are ARM ids, UUIDs or points in time by their meaning.
    Plain,
    /// Without regard to case: enums.
    AnyCase,
    /// Without regard to case and spaces: `West US` is `westus`.
    Location,
    /// Without regard to case and a trailing slash.
    ArmId,
    /// Objects on the members that desired has.
    Json,
}

/// Whether Azure has what is desired.
pub(super) fn equal(rule: Rule, desired: Option<&Value>, observed: Option<&Value>) -> bool {
    match (desired, observed) {
        (None, None) => true,
        (Some(value), None) | (None, Some(value)) => is_nothing(value),
        (Some(Value::Array(desired)), Some(Value::Array(observed))) if rule != Rule::Json => {
            set(rule, desired) == set(rule, observed)
        }
        (Some(desired), Some(observed)) => {
            (is_nothing(desired) && is_nothing(observed))
                || (rule == Rule::Json && json_equal(desired, observed))
                || normal(rule, desired) == normal(rule, observed)
                || in_other_words(rule, desired)
                    .is_some_and(|text| in_other_words(rule, observed) == Some(text))
        }
    }
}

/// What else means the same by the type of the value. Not in [`normal`], of which digests are made that objects keep: what is
/// known later must not change them.
fn in_other_words(rule: Rule, value: &Value) -> Option<String> {
    let text = value.as_str()?;
    match rule {
        // Flags in one text: `SystemAssigned, UserAssigned`.
        Rule::AnyCase => Some(words(text)),
        Rule::ArmId => Some(normal_id(text).trim_start_matches('/').to_owned()),
        _ => None,
    }
}

/// Null, an empty list and an empty object all mean absent.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// The items without their order, each as normal text.
fn set(rule: Rule, items: &[Value]) -> Vec<String> {
    let mut texts: Vec<_> = items.iter().map(|item| normal(rule, item)).collect();
    texts.sort();
    texts
}

/// A text that is the same for all values that mean the same.
pub(super) fn normal(rule: Rule, value: &Value) -> String {
    match value {
        Value::String(text) => normal_text(rule, text),
        // Integers as they are: a double cannot tell large ones apart.
        Value::Number(number) => match (armature_shapes::shape::integer(value), number.as_f64()) {
            (Some(whole), _) => whole.to_string(),
            (None, Some(number)) if !value.is_u64() => number.to_string(),
            _ => number.to_string(),
        },
        Value::Array(items) if rule != Rule::Json => set(rule, items).join("\u{1f}"),
        value => canonical_json(value),
    }
}

fn normal_text(rule: Rule, text: &str) -> String {
    match rule {
        Rule::AnyCase => text.to_lowercase(),
        Rule::Location => {
            let letters = text.chars().filter(|letter| !letter.is_whitespace());
            letters.flat_map(char::to_lowercase).collect()
        }
        Rule::ArmId => normal_id(text),
        Rule::Plain | Rule::Json => {
            let lower = text.get(..15).unwrap_or(text).to_lowercase();
            if lower.starts_with("/subscriptions/") || lower.starts_with("/providers/") {
                normal_id(text)
            } else if is_uuid(text) {
                text.to_lowercase()
            } else if let Some(time) = timestamp(text) {
                time.to_string()
            } else {
                text.to_owned()
            }
        }
    }
}

pub(super) fn normal_id(text: &str) -> String {
    text.trim_end_matches('/').to_lowercase()
}

/// The words of a list in one text, sorted.
pub(super) fn words(text: &str) -> String {
    let words = text.split(',').map(|word| word.trim().to_lowercase());
    let mut words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    words.sort();
    words.join(",")
}

/// Five groups of hexadecimal digits, in which casing means nothing.
fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

/// A point in time, when the text is plainly one.
fn timestamp(text: &str) -> Option<Timestamp> {
    let dated = text.len() >= 20 && text.as_bytes().get(4) == Some(&b'-');
    if dated { text.parse().ok() } else { None }
}

/// Free JSON: what desired has, observed must have; lists in their order.
fn json_equal(desired: &Value, observed: &Value) -> bool {
    match (desired, observed) {
        (Value::Object(desired), Value::Object(observed)) => {
            desired
                .iter()
                .all(|(name, value)| match observed.get(name) {
                    Some(there) => json_equal(value, there),
                    None => is_nothing(value),
                })
        }
        (Value::Array(desired), Value::Array(observed)) => {
            desired.len() == observed.len()
                && desired
                    .iter()
                    .zip(observed)
                    .all(|(one, other)| json_equal(one, other))
        }
        _ => {
            (is_nothing(desired) && is_nothing(observed))
                || normal(Rule::Plain, desired) == normal(Rule::Plain, observed)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_mean_the_same() {
        let same = [
            (Rule::Plain, json!(1), json!(1.0)),
            (Rule::Plain, json!(3), json!("3")),
            (
                Rule::Plain,
                json!("1C793267-C310-d4ae-7BD5-5Af5BEF875D3"),
                json!("1c793267-c310-d4ae-7bd5-5af5bef875d3"),
            ),
            (
                Rule::Plain,
                json!("/subscriptions/A/b"),
                json!("/Subscriptions/a/B/"),
            ),
            (
                Rule::Plain,
                json!("2024-01-01T00:00:00Z"),
                json!("2024-01-01T01:00:00.000+01:00"),
            ),
            (Rule::AnyCase, json!("Hot"), json!("hot")),
            (Rule::Location, json!("West US 2"), json!("westus2")),
            (Rule::ArmId, json!("/x/Y"), json!("/X/y/")),
            (
                Rule::ArmId,
                json!("subscriptions/x"),
                json!("/Subscriptions/x"),
            ),
            (
                Rule::AnyCase,
                json!("SystemAssigned,UserAssigned"),
                json!("userAssigned, SystemAssigned"),
            ),
            (Rule::Plain, json!(["b", "a"]), json!(["a", "b"])),
            (
                Rule::Json,
                json!({"a": {"b": 1}}),
                json!({"a": {"b": 1.0, "c": 2}, "d": 3}),
            ),
            (Rule::Plain, json!([]), json!(null)),
            (
                Rule::Json,
                json!({"a": {"b": null}}),
                json!({"a": {"b": []}}),
            ),
        ];
        for (rule, one, other) in same {
            assert!(equal(rule, Some(&one), Some(&other)), "{one} {other}");
        }
        assert!(equal(Rule::Plain, Some(&json!({})), None));
    }

    #[test]
    fn values_that_do_not() {
        let different = [
            (Rule::Plain, json!("Hot"), json!("hot")),
            (Rule::Plain, json!(["a", "a"]), json!(["a", "b"])),
            (Rule::Plain, json!("1"), json!(null)),
            (
                Rule::Plain,
                json!(9_007_199_254_740_993_i64),
                json!(9_007_199_254_740_992_i64),
            ),
            (
                Rule::Json,
                json!({"a": u64::MAX}),
                json!({"a": u64::MAX - 1}),
            ),
            (Rule::AnyCase, json!("A, B"), json!("A")),
            (Rule::Plain, json!("a, b"), json!("b, a")),
            (Rule::Json, json!([1, 2]), json!([2, 1])),
            (Rule::Json, json!({"a": 1}), json!({})),
        ];
        for (rule, one, other) in different {
            assert!(!equal(rule, Some(&one), Some(&other)), "{one} {other}");
        }
        assert!(!equal(Rule::Plain, Some(&json!(false)), None));
    }
}

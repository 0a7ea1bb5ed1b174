//! Constraints of values, for [`super::check`].

use regex::Regex;
use serde_json::Value;

use super::problem::ProblemKind;
use super::suggest::nearest;
use super::{EnumShape, Rules};

/// The constraints that a value does not keep, as sentences without the value.
pub fn check_rules(rules: &Rules, value: &Value) -> Vec<String> {
    if *rules == Rules::NONE {
        return Vec::new();
    }
    match value {
        Value::String(text) => check_text(rules, text),
        Value::Number(number) => number
            .as_f64()
            .map_or_else(Vec::new, |number| check_number(rules, number)),
        Value::Array(items) => check_length("item", rules.min_items, rules.max_items, items.len()),
        _ => Vec::new(),
    }
}

fn check_text(rules: &Rules, text: &str) -> Vec<String> {
    let length = text.chars().count();
    let mut problems = check_length("character", rules.min_length, rules.max_length, length);
    if let Some(pattern) = rules.pattern {
        // A pattern that this library cannot read is left to the API server and to Azure.
        let matches = Regex::new(pattern).is_ok_and(|regex| !regex.is_match(text));
        if matches {
            problems.push(format!("must match the pattern {pattern}"));
        }
    }
    problems
}

fn check_length(what: &str, min: Option<u64>, max: Option<u64>, length: usize) -> Vec<String> {
    let length = length as u64;
    let mut problems = Vec::new();
    if let Some(min) = min
        && length < min
    {
        problems.push(format!("must have at least {min} {what}s, has {length}"));
    }
    if let Some(max) = max
        && length > max
    {
        problems.push(format!("must have at most {max} {what}s, has {length}"));
    }
    problems
}

fn check_number(rules: &Rules, number: f64) -> Vec<String> {
    let mut problems = Vec::new();
    if let Some(minimum) = rules.minimum
        && number < minimum
    {
        problems.push(format!("must be at least {minimum}"));
    }
    if let Some(maximum) = rules.maximum
        && number > maximum
    {
        problems.push(format!("must be at most {maximum}"));
    }
    if let Some(factor) = rules.multiple_of
        && factor > 0.0
        && (number / factor).fract().abs() > f64::EPSILON
    {
        problems.push(format!("must be a multiple of {factor}"));
    }
    problems
}

/// Whether a text is a known value exactly, as the API server wants it.
pub(super) fn check_enum(shape: &EnumShape, text: &str) -> Option<ProblemKind> {
    if shape.values.is_empty() || shape.values.contains(&text) {
        return None;
    }
    let suggestion = nearest(text, shape.values.iter().copied());
    Some(ProblemKind::NotInEnum {
        found: text.to_owned(),
        suggestion,
        known: shape.values,
    })
}

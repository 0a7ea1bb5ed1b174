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

pub(super) fn check_length(
    what: &str,
    min: Option<u64>,
    max: Option<u64>,
    length: usize,
) -> Vec<String> {
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

/// What is to be said of a text that is not among the known values.
pub(super) enum Unlisted {
    /// The API server refuses it.
    Refused(ProblemKind),
    /// It is sent, and may be a slip.
    Told(ProblemKind),
}

/// Whether a text is a known value: of a closed list exactly, as the API server wants it, of an open one in any casing, which
/// is mended before it is sent.
pub(super) fn check_enum(shape: &EnumShape, text: &str) -> Option<Unlisted> {
    let known = shape.values;
    let suggestion = || nearest(text, known.iter().copied());
    match shape.only() {
        Some(only) if only.contains(&text) => None,
        Some(known) => Some(Unlisted::Refused(ProblemKind::NotInEnum {
            found: text.to_owned(),
            suggestion: suggestion(),
            known,
        })),
        None if known.is_empty() || known.contains(&shape.canonical(text)) => None,
        None => Some(Unlisted::Told(ProblemKind::NotListed {
            found: text.to_owned(),
            suggestion: suggestion(),
            known,
        })),
    }
}

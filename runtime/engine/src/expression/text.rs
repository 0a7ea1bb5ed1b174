//! Functions on text: the standard ones and CEL's strings extension. Positions count characters.

use regex::RegexBuilder;

use super::builder::Builder;
use super::format::format;
use super::function::{Function, MISMATCH, row};
use super::types::Type;
use super::value::{Budget, Value};

/// Most bytes that a compiled regular expression may take.
const PATTERN_SIZE: usize = 100_000;

/// Steps that compiling a regular expression takes.
const PATTERN_STEPS: usize = 10_000;

pub(super) static FUNCTIONS: &[Function] = &[
    row!(
        "contains",
        true,
        [String, String],
        truth,
        |values, budget| { test(values, budget, |text, part| text.contains(part)) }
    ),
    row!(
        "startsWith",
        true,
        [String, String],
        truth,
        |values, budget| { test(values, budget, |text, part| text.starts_with(part)) }
    ),
    row!(
        "endsWith",
        true,
        [String, String],
        truth,
        |values, budget| { test(values, budget, |text, part| text.ends_with(part)) }
    ),
    row!("matches", true, [String, String], truth, matches),
    row!("matches", false, [String, String], truth, matches),
    row!("charAt", true, [String, Int], string, char_at),
    row!("indexOf", true, [String, String], int, index_of),
    row!("indexOf", true, [String, String, Int], int, index_of),
    row!("lastIndexOf", true, [String, String], int, last_index_of),
    row!(
        "lastIndexOf",
        true,
        [String, String, Int],
        int,
        last_index_of
    ),
    row!("join", true, [List], joined, join),
    row!("join", true, [List, String], joined, join),
    row!("lowerAscii", true, [String], string, |values, budget| {
        map(values, budget, |text| text.to_ascii_lowercase())
    }),
    row!("upperAscii", true, [String], string, |values, budget| {
        map(values, budget, |text| text.to_ascii_uppercase())
    }),
    row!("trim", true, [String], string, |values, budget| {
        map(values, budget, |text| text.trim().to_owned())
    }),
    row!("reverse", true, [String], string, |values, budget| {
        map(values, budget, |text| text.chars().rev().collect())
    }),
    row!(
        "strings.quote",
        false,
        [String],
        string,
        |values, budget| { map(values, budget, quoted) }
    ),
    row!("replace", true, [String, String, String], string, replace),
    row!(
        "replace",
        true,
        [String, String, String, Int],
        string,
        replace
    ),
    row!("split", true, [String, String], strings, split),
    row!("split", true, [String, String, Int], strings, split),
    row!("substring", true, [String, Int], string, substring),
    row!("substring", true, [String, Int, Int], string, substring),
    row!("format", true, [String, List], string, |values, budget| {
        match &values[1] {
            Value::List(arguments) => format(text(&values[0])?, arguments, budget),
            _ => Err(MISMATCH.to_owned()),
        }
    }),
];

fn truth(_: &[Type]) -> Option<Type> {
    Some(Type::Bool)
}

fn int(_: &[Type]) -> Option<Type> {
    Some(Type::Int)
}

fn string(_: &[Type]) -> Option<Type> {
    Some(Type::String)
}

fn strings(_: &[Type]) -> Option<Type> {
    Some(Type::list(Type::String))
}

/// Only lists of text are joined.
fn joined(types: &[Type]) -> Option<Type> {
    types[0].unify(&Type::list(Type::String))?;
    Some(Type::String)
}

fn text<'v>(value: &'v Value<'_>) -> Result<&'v str, String> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(MISMATCH.to_owned()),
    }
}

/// A position or a count, if it is given.
fn number(values: &[Value<'_>], at: usize) -> Result<Option<i64>, String> {
    match values.get(at) {
        None => Ok(None),
        Some(Value::Int(number)) => Ok(Some(*number)),
        Some(_) => Err(MISMATCH.to_owned()),
    }
}

/// A position from 0 to the length, both included.
fn position(number: i64, length: usize) -> Result<usize, String> {
    let position = usize::try_from(number).ok();
    position
        .filter(|position| *position <= length)
        .ok_or_else(|| "the position is outside of the text".to_owned())
}

fn map<'a>(
    values: &[Value<'a>],
    budget: &mut Budget,
    change: fn(&str) -> String,
) -> Result<Value<'a>, String> {
    let text = text(&values[0])?;
    // Quoting at most doubles the text.
    budget.spend(2 * text.len())?;
    Ok(Value::text(change(text)))
}

fn test<'a>(
    values: &[Value<'a>],
    budget: &mut Budget,
    holds: fn(&str, &str) -> bool,
) -> Result<Value<'a>, String> {
    let (text, part) = (text(&values[0])?, text(&values[1])?);
    budget.spend(text.len() + part.len())?;
    Ok(Value::Bool(holds(text, part)))
}

fn matches<'a>(values: &[Value<'a>], budget: &mut Budget) -> Result<Value<'a>, String> {
    let (text, pattern) = (text(&values[0])?, text(&values[1])?);
    budget.spend(PATTERN_STEPS + text.len())?;
    let pattern = RegexBuilder::new(pattern)
        .size_limit(PATTERN_SIZE)
        .dfa_size_limit(PATTERN_SIZE)
        .build()
        .map_err(|_| "matches: this is no regular expression, or a very large one".to_owned())?;
    Ok(Value::Bool(pattern.is_match(text)))
}

fn char_at<'a>(values: &[Value<'a>], budget: &mut Budget) -> Result<Value<'a>, String> {
    let text = text(&values[0])?;
    budget.spend(text.len())?;
    let at = number(values, 1)?.unwrap_or(0);
    let at = position(at, text.chars().count())?;
    let found = text.chars().nth(at).map(String::from);
    Ok(Value::text(found.unwrap_or_default()))
}

fn index_of<'a>(values: &[Value<'a>], budget: &mut Budget) -> Result<Value<'a>, String> {
    let (text, part) = (text(&values[0])?, text(&values[1])?);
    budget.spend(text.len() + part.len())?;
    let length = text.chars().count();
    let from = position(number(values, 2)?.unwrap_or(0), length)?;
    let start = byte_of(text, from);
    let found = text[start..].find(part);
    Ok(index(found.map(|at| text[..start + at].chars().count())))
}

fn last_index_of<'a>(values: &[Value<'a>], budget: &mut Budget) -> Result<Value<'a>, String> {
    let (text, part) = (text(&values[0])?, text(&values[1])?);
    budget.spend(text.len() + part.len())?;
    let length = text.chars().count();
    let until = number(values, 2)?.map(|number| position(number, length));
    // The part may begin at the position, and not behind it.
    let end = match until.transpose()? {
        Some(until) => (byte_of(text, until) + part.len()).min(text.len()),
        None => text.len(),
    };
    let found = text.get(..end).and_then(|head| head.rfind(part));
    Ok(index(found.map(|at| text[..at].chars().count())))
}

/// Where the character at this position begins.
fn byte_of(text: &str, position: usize) -> usize {
    let mut starts = text.char_indices().map(|(at, _)| at);
    starts.nth(position).unwrap_or(text.len())
}

fn index<'a>(found: Option<usize>) -> Value<'a> {
    Value::Int(found.map_or(-1, |at| i64::try_from(at).unwrap_or(i64::MAX)))
}

fn join<'a>(values: &[Value<'a>], budget: &mut Budget) -> Result<Value<'a>, String> {
    let Value::List(items) = &values[0] else {
        return Err(MISMATCH.to_owned());
    };
    let separator = values.get(1).map(text).transpose()?.unwrap_or("");
    let mut out = Builder::new(budget);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(separator)?;
        }
        out.push(text(item)?)?;
    }
    Ok(out.finish())
}

fn replace<'a>(values: &[Value<'a>], budget: &mut Budget) -> Result<Value<'a>, String> {
    let (text, from, to) = (text(&values[0])?, text(&values[1])?, text(&values[2])?);
    budget.spend(text.len())?;
    let limit = number(values, 3)?.and_then(|limit| usize::try_from(limit).ok());
    let mut out = Builder::new(budget);
    let mut rest = 0;
    for (at, part) in text.match_indices(from).take(limit.unwrap_or(usize::MAX)) {
        out.push(&text[rest..at])?;
        out.push(to)?;
        rest = at + part.len();
    }
    out.push(&text[rest..])?;
    Ok(out.finish())
}

fn split<'a>(values: &[Value<'a>], budget: &mut Budget) -> Result<Value<'a>, String> {
    let (text, separator) = (text(&values[0])?, text(&values[1])?);
    // At most one item for each character, and one.
    budget.spend(2 * text.len() + 1)?;
    let limit = number(values, 2)?.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.unwrap_or(usize::MAX);
    let items: Vec<Value<'a>> = if separator.is_empty() {
        characters(text, limit)
            .into_iter()
            .map(Value::text)
            .collect()
    } else {
        text.splitn(limit, separator).map(Value::text).collect()
    };
    Ok(Value::list(items))
}

/// Each character by itself; the last of `limit` items has the rest.
fn characters(text: &str, limit: usize) -> Vec<&str> {
    let mut items = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next()
        && items.len() < limit
    {
        let length = match items.len() + 1 == limit {
            true => rest.len(),
            false => first.len_utf8(),
        };
        items.push(&rest[..length]);
        rest = &rest[length..];
    }
    items
}

fn substring<'a>(values: &[Value<'a>], budget: &mut Budget) -> Result<Value<'a>, String> {
    let text = text(&values[0])?;
    budget.spend(2 * text.len())?;
    let length = text.chars().count();
    let from = position(number(values, 1)?.unwrap_or(0), length)?;
    let until = match number(values, 2)? {
        Some(until) => position(until, length)?,
        None => length,
    };
    if from > until {
        return Err("the text would end before it begins".to_owned());
    }
    Ok(Value::text(
        &text[byte_of(text, from)..byte_of(text, until)],
    ))
}

/// Text in quotes, with the escapes that CEL reads.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

//! Checks an ARM request body against a version's shapes, as a strict resource provider would.

use armature_runtime::kind::VersionInfo;
use armature_runtime::shape::{
    Field, Flags, IntegerFormat, Rules, Semantic, StructShape, Type, nearest,
};
use regex::Regex;
use serde_json::{Map, Value, json};

use super::cursor::{Cursor, Step};
use crate::error::ArmError;

/// What kind of body is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// PUT: the whole desired state, required fields included.
    Whole,
    /// PATCH: some of it.
    Part,
}

/// One thing that is wrong with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Path in the body: `properties.sku.name`, `items[2]`; empty for the body itself.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// Members that any resource body may have, whatever its type: what a GET returns may be sent back.
const ENVELOPE: [&str; 5] = ["id", "name", "type", "etag", "systemData"];

/// Everything that is wrong with a request body.
///
/// Members that only the status has are accepted: Azure ignores read-only members that clients send back.
pub fn check(version: &VersionInfo, body: &Value, mode: Mode) -> Vec<Problem> {
    let mut checker = Checker {
        mode,
        child_lists: version.child_lists,
        problems: Vec::new(),
    };
    match body {
        Value::Object(members) => {
            let (wanted, misses) = Cursor::of(version.spec, members);
            checker.variants(&misses, "");
            let (known, _) = Cursor::of(version.status, members);
            checker.object(&wanted, Some(&known), members, "", true);
        }
        other => checker.wrong_type("", "an object", other),
    }
    checker.problems
}

/// The answer that refuses a body, naming each path.
pub fn refusal(problems: &[Problem]) -> ArmError {
    let listed: Vec<String> = problems.iter().map(Problem::to_string).collect();
    let mut error = ArmError::new(
        400,
        "InvalidRequestContent",
        format!(
            "The request content was invalid and could not be deserialized: {}",
            listed.join(" ")
        ),
    );
    error.target = problems.first().map(|problem| problem.path.clone());
    error.details = problems
        .iter()
        .map(|problem| {
            json!({
                "code": "InvalidRequestContent",
                "target": problem.path,
                "message": problem.message,
            })
        })
        .collect();
    error
}

impl std::fmt::Display for Problem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = if self.path.is_empty() {
            "(body)"
        } else {
            &self.path
        };
        write!(formatter, "'{path}': {}.", self.message)
    }
}

struct Checker {
    mode: Mode,
    child_lists: &'static [&'static [&'static str]],
    problems: Vec<Problem>,
}

impl Checker {
    fn add(&mut self, path: &str, message: String) {
        self.problems.push(Problem {
            path: path.to_owned(),
            message,
        });
    }

    fn wrong_type(&mut self, path: &str, expected: &str, found: &Value) {
        self.add(
            path,
            format!("expected {expected}, found {}", kind_of(found)),
        );
    }

    fn variants(&mut self, misses: &[super::cursor::NoVariant], path: &str) {
        for miss in misses {
            if miss.found.is_none() && self.mode == Mode::Part {
                continue;
            }
            let values: Vec<&str> = miss.one_of.variants.iter().map(|v| v.value).collect();
            let found = match &miss.found {
                Some(value) => format!("found {value}"),
                None => "it is missing".to_owned(),
            };
            self.add(
                &join(path, miss.one_of.discriminator),
                format!("must be one of {}; {found}", values.join(", ")),
            );
        }
    }

    /// `known` are the fields of the status at the same place, whose members are ignored.
    fn object(
        &mut self,
        wanted: &Cursor,
        known: Option<&Cursor>,
        members: &Map<String, Value>,
        path: &str,
        is_root: bool,
    ) {
        for (name, value) in members {
            let here = join(path, name);
            let read_only = known.map_or(Step::Unknown, |cursor| cursor.step(name));
            match wanted.step(name) {
                Step::Discriminator | Step::Further => {}
                Step::Leaf(fields) => self.any_of(&fields, value, &here),
                Step::Inner(inner) => match value {
                    Value::Object(below) => {
                        let known = match read_only {
                            Step::Inner(cursor) => Some(cursor),
                            _ => None,
                        };
                        self.object(&inner, known.as_ref(), below, &here, false);
                    }
                    Value::Null => {}
                    other => self.wrong_type(&here, "an object", other),
                },
                Step::Unknown if is_root && ENVELOPE.contains(&name.as_str()) => {}
                Step::Unknown if !matches!(read_only, Step::Unknown) => {}
                Step::Unknown if self.is_child_list(&here) => {}
                Step::Unknown => self.add(&here, unknown_member(name, wanted)),
            }
        }
        if self.mode == Mode::Whole {
            self.required(wanted, members, path);
        }
    }

    /// Lists of children, and the objects on the way to them, are not in the spec and may be sent.
    fn is_child_list(&self, path: &str) -> bool {
        self.child_lists.iter().any(|list| {
            let list = list.join(".");
            list == path || list.starts_with(&format!("{path}."))
        })
    }

    /// Several fields can feed one place in ARM (a value or its ConfigMap reference): one that fits is enough.
    fn any_of(&mut self, fields: &[&'static Field], value: &Value, path: &str) {
        let mut first = None;
        for field in fields {
            let mut attempt = Checker {
                mode: self.mode,
                child_lists: self.child_lists,
                problems: Vec::new(),
            };
            attempt.value(field.ty, field.rules, field.item_rules, value, path);
            if attempt.problems.is_empty() {
                return;
            }
            first.get_or_insert(attempt.problems);
        }
        self.problems.extend(first.unwrap_or_default());
    }

    fn required(&mut self, wanted: &Cursor, members: &Map<String, Value>, path: &str) {
        for (field, below) in wanted.fields() {
            let [name, rest @ ..] = below else { continue };
            if !field.flags.has(Flags::REQUIRED) {
                continue;
            }
            // A missing object on the way is reported here, a missing member of a present one below it.
            let absent = members.get(*name).is_none_or(Value::is_null);
            if absent {
                let mut full = join(path, name);
                for part in rest {
                    full = join(&full, part);
                }
                // The resource's own name comes from the URL.
                if full != "name" {
                    self.add(&full, "required and missing".to_owned());
                }
            }
        }
    }

    fn value(&mut self, ty: Type, rules: &Rules, item_rules: &Rules, value: &Value, path: &str) {
        if value.is_null() {
            return;
        }
        match ty {
            Type::Json => {}
            Type::Bool if value.is_boolean() => {}
            Type::Bool => self.wrong_type(path, "a boolean", value),
            Type::Integer(format) => self.integer(format, rules, value, path),
            Type::Number => match value.as_f64() {
                Some(number) => self.bounds(number, rules, path),
                None => self.wrong_type(path, "a number", value),
            },
            Type::String => match value.as_str() {
                Some(text) => self.text(text, rules, path),
                None => self.wrong_type(path, "a string", value),
            },
            Type::Enum(shape) => match value.as_str() {
                Some(text) => match shape.only() {
                    Some(only) if !only.iter().any(|v| v.eq_ignore_ascii_case(text)) => {
                        let some = some_of(only);
                        self.add(
                            path,
                            format!("'{text}' is not one of {some} ({})", shape.name),
                        );
                    }
                    // Azure takes more than its spec knows.
                    _ => {}
                },
                None => self.wrong_type(path, "a string", value),
            },
            Type::Struct(shape) => self.structure(shape, value, path),
            Type::List(list) => self.list(list.item, rules, item_rules, value, path),
            Type::Map(map) => match value {
                Value::Object(members) => {
                    for (name, member) in members {
                        let here = join(path, name);
                        self.value(map.value, item_rules, item_rules, member, &here);
                    }
                }
                other => self.wrong_type(path, "an object", other),
            },
        }
    }

    fn structure(&mut self, shape: &'static StructShape, value: &Value, path: &str) {
        match (shape.semantic, value) {
            (Semantic::Plain, Value::Object(members)) => {
                let (cursor, misses) = Cursor::of(shape, members);
                self.variants(&misses, path);
                self.object(&cursor, None, members, path, false);
            }
            (Semantic::SecretMapReference, Value::Object(members)) => {
                for (name, member) in members {
                    if !member.is_string() {
                        self.wrong_type(&join(path, name), "a string", member);
                    }
                }
            }
            (Semantic::Plain | Semantic::SecretMapReference, other) => {
                self.wrong_type(path, "an object", other);
            }
            // References and secrets are objects in Kubernetes and strings in ARM.
            (_, Value::String(_)) => {}
            (_, other) => self.wrong_type(path, "a string", other),
        }
    }

    fn list(&mut self, item: Type, rules: &Rules, item_rules: &Rules, value: &Value, path: &str) {
        if let Type::Struct(shape) = item
            && shape.semantic == Semantic::ArmIdKeyed
        {
            match value {
                Value::Object(_) => {}
                other => self.wrong_type(path, "an object keyed by ARM ids", other),
            }
            return;
        }
        let Value::Array(items) = value else {
            self.wrong_type(path, "a list", value);
            return;
        };
        let count = items.len() as u64;
        if rules.min_items.is_some_and(|least| count < least) {
            self.add(path, format!("has {count} items, too few"));
        }
        if rules.max_items.is_some_and(|most| count > most) {
            self.add(path, format!("has {count} items, too many"));
        }
        for (index, member) in items.iter().enumerate() {
            let here = format!("{path}[{index}]");
            self.value(item, item_rules, item_rules, member, &here);
        }
    }

    fn integer(&mut self, format: IntegerFormat, rules: &Rules, value: &Value, path: &str) {
        let Some(number) = value.as_i64() else {
            self.wrong_type(path, "an integer", value);
            return;
        };
        if format == IntegerFormat::Int32 && i32::try_from(number).is_err() {
            self.add(path, format!("{number} does not fit into 32 bits"));
        }
        // Bounds of the specs are far below 2^53, where f64 is exact.
        self.bounds(number as f64, rules, path);
    }

    fn bounds(&mut self, number: f64, rules: &Rules, path: &str) {
        if let Some(least) = rules.minimum
            && number < least
        {
            self.add(path, format!("{number} is below the minimum {least}"));
        }
        if let Some(most) = rules.maximum
            && number > most
        {
            self.add(path, format!("{number} is above the maximum {most}"));
        }
    }

    /// Shows no value: it may be a secret, and messages end up in logs.
    fn text(&mut self, text: &str, rules: &Rules, path: &str) {
        let length = text.chars().count() as u64;
        if rules.min_length.is_some_and(|least| length < least) {
            self.add(path, format!("has {length} characters, too few"));
        }
        if rules.max_length.is_some_and(|most| length > most) {
            self.add(path, format!("has {length} characters, too many"));
        }
        if let Some(pattern) = rules.pattern
            && let Ok(expression) = Regex::new(pattern)
            && !expression.is_match(text)
        {
            self.add(path, format!("does not match {pattern}"));
        }
    }
}

fn unknown_member(name: &str, wanted: &Cursor) -> String {
    let names = wanted.member_names();
    match nearest(name, names.iter().copied()) {
        Some(known) => format!("unknown member '{name}'; did you mean '{known}'?"),
        None => format!("unknown member '{name}'; known are {}", names.join(", ")),
    }
}

/// The first values of a long list, so that a message stays readable.
fn some_of(values: &[&str]) -> String {
    const SHOWN: usize = 10;
    let listed = values[..values.len().min(SHOWN)].join(", ");
    match values.len().checked_sub(SHOWN) {
        None | Some(0) => listed,
        Some(more) => format!("{listed} and {more} more"),
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

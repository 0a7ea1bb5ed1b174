//! Values at evaluation, and the budget that bounds it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::types::{ObjectType, Type};

/// Steps that one evaluation may take: one for each node it visits, and one for each byte of text and each item
/// it produces or compares. Far above what an export needs, and done within some milliseconds.
pub(super) const STEPS: usize = 1_000_000;

/// Steps that comparing two objects of the manifest takes: they are compared as they are, whatever their size.
const OBJECT: usize = 1_000;

/// Steps that all expressions of one object may take together, each time that they are evaluated.
const ALL_STEPS: usize = 4_000_000;

/// What the expressions of one object may still take. Half of it is shared out: each has its part, whatever the others take. The
/// rest is for those that need more, one after the other.
#[derive(Clone, Debug)]
pub struct Allowance {
    left: usize,
    /// What one expression may take of it.
    part: usize,
    was_too_small: bool,
}

impl Default for Allowance {
    fn default() -> Self {
        Self::of(1)
    }
}

impl Allowance {
    /// For so many expressions, of which each has its part.
    pub fn of(expressions: usize) -> Self {
        Self {
            left: ALL_STEPS,
            part: ALL_STEPS / 2 / expressions.max(1),
            was_too_small: false,
        }
    }

    /// Each may take all that is left from now on.
    pub fn without_parts(&mut self) {
        self.part = ALL_STEPS;
    }

    /// Steps that are left.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Whether the latest expression ended since there was too little for it, which is no fault of its own.
    pub fn was_too_small(&self) -> bool {
        self.was_too_small
    }

    /// Takes in what an expression has left of its budget.
    pub(super) fn settle(&mut self, budget: &Budget) {
        self.left = self.left.saturating_sub(budget.spent);
        self.was_too_small = budget.was_too_small;
    }
}

/// What is left of [`STEPS`], and of what all expressions of the object may take.
pub(super) struct Budget {
    own: usize,
    all: usize,
    spent: usize,
    was_too_small: bool,
}

impl Budget {
    pub fn new(allowance: &Allowance) -> Self {
        Self {
            own: STEPS,
            all: allowance.left.min(allowance.part),
            spent: 0,
            was_too_small: false,
        }
    }

    /// Takes steps, before they are done.
    pub fn spend(&mut self, steps: usize) -> Result<(), String> {
        match (self.own.checked_sub(steps), self.all.checked_sub(steps)) {
            (Some(own), Some(all)) => {
                (self.own, self.all) = (own, all);
                self.spent += steps;
                Ok(())
            }
            (None, _) => {
                self.own = 0;
                Err(format!("it takes more than {STEPS} steps; make it simpler"))
            }
            (_, None) => {
                self.all = 0;
                self.was_too_small = true;
                let message = "the expressions of one object take more than";
                Err(format!(
                    "{message} {ALL_STEPS} steps together; make them simpler"
                ))
            }
        }
    }
}

/// A value. There is no `Debug`: it may be a secret.
#[derive(Clone)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Arc<str>),
    List(Arc<Vec<Value<'a>>>),
    Map(Arc<BTreeMap<Key, Value<'a>>>),
    Optional(Option<Arc<Value<'a>>>),
    /// An object with known fields; without members, each of them is absent.
    Object(ObjectType, Option<&'a Map<String, Json>>),
}

/// A key of a map.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Bool(bool),
    Int(i64),
    String(Arc<str>),
}

impl<'a> Value<'a> {
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Value::String(text.into())
    }

    pub fn list(items: Vec<Value<'a>>) -> Self {
        Value::List(Arc::new(items))
    }

    pub fn map(entries: BTreeMap<Key, Value<'a>>) -> Self {
        Value::Map(Arc::new(entries))
    }

    pub fn some(value: Value<'a>) -> Self {
        Value::Optional(Some(Arc::new(value)))
    }

    /// A value of the object, read by its type. What is absent is the zero value of its type, as it is for
    /// ASO, whose expressions see Go structs: no text, 0, false, an empty list.
    pub fn of_json(ty: &Type, json: Option<&'a Json>, budget: &mut Budget) -> Result<Self, String> {
        let json = json.filter(|json| !json.is_null());
        Ok(match ty {
            Type::Bool => Value::Bool(json.and_then(Json::as_bool).unwrap_or(false)),
            Type::Int => Value::Int(json.and_then(Json::as_i64).unwrap_or(0)),
            Type::Double => Value::Double(json.and_then(Json::as_f64).unwrap_or(0.0)),
            Type::String => {
                let text = json.and_then(Json::as_str).unwrap_or("");
                budget.spend(text.len())?;
                Value::text(text)
            }
            Type::List(item) => {
                let items = json.and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
                budget.spend(items.len())?;
                let items = items.iter();
                let items = items.map(|json| Value::of_json(item, Some(json), budget));
                Value::list(items.collect::<Result<_, _>>()?)
            }
            Type::Map(_, value) => {
                let mut entries = BTreeMap::new();
                for (name, json) in json.and_then(Json::as_object).into_iter().flatten() {
                    budget.spend(name.len())?;
                    let value = Value::of_json(value, Some(json), budget)?;
                    entries.insert(Key::String(name.as_str().into()), value);
                }
                Value::map(entries)
            }
            Type::Object(object) => Value::Object(*object, json.and_then(Json::as_object)),
            Type::Dyn | Type::Unknown | Type::Null | Type::Uint | Type::Optional(_) => {
                json.map_or(Ok(Value::Null), |json| Value::without_type(json, budget))?
            }
        })
    }

    /// JSON that no table describes.
    fn without_type(json: &'a Json, budget: &mut Budget) -> Result<Self, String> {
        budget.spend(1)?;
        let ty = match json {
            Json::Null => return Ok(Value::Null),
            Json::Bool(_) => Type::Bool,
            Json::Number(number) if number.is_i64() => Type::Int,
            Json::Number(_) => Type::Double,
            Json::String(_) => Type::String,
            Json::Array(_) => Type::list(Type::Dyn),
            Json::Object(_) => Type::map(Type::String, Type::Dyn),
        };
        Value::of_json(&ty, Some(json), budget)
    }

    /// Name of the type, for messages. Values themselves are in no message.
    pub fn type_name(&self) -> String {
        match self {
            Value::Null => "null".to_owned(),
            Value::Bool(_) => "bool".to_owned(),
            Value::Int(_) => "int".to_owned(),
            Value::Uint(_) => "uint".to_owned(),
            Value::Double(_) => "double".to_owned(),
            Value::String(_) => "string".to_owned(),
            Value::List(_) => "list".to_owned(),
            Value::Map(_) => "map".to_owned(),
            Value::Optional(_) => "optional".to_owned(),
            Value::Object(object, _) => Type::Object(*object).to_string(),
        }
    }

    /// The value as a key of a map, if it can be one. Numbers that are equal are one key.
    pub fn key(&self) -> Option<Key> {
        match self {
            Value::Bool(value) => Some(Key::Bool(*value)),
            Value::Int(value) => Some(Key::Int(*value)),
            Value::Uint(value) => i64::try_from(*value).ok().map(Key::Int),
            Value::Double(value) => whole(*value).map(Key::Int),
            Value::String(text) => Some(Key::String(text.clone())),
            _ => None,
        }
    }

    /// Whether it is the zero value of its type.
    pub fn is_zero(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Bool(value) => !value,
            Value::Int(value) => *value == 0,
            Value::Uint(value) => *value == 0,
            Value::Double(value) => *value == 0.0,
            Value::String(text) => text.is_empty(),
            Value::List(items) => items.is_empty(),
            Value::Map(entries) => entries.is_empty(),
            Value::Optional(inner) => inner.is_none(),
            Value::Object(_, members) => members.is_none_or(Map::is_empty),
        }
    }

    /// Whether both are the same. Numbers are compared as numbers, whatever their types.
    pub fn equals(&self, other: &Value<'_>, budget: &mut Budget) -> Result<bool, String> {
        budget.spend(1)?;
        Ok(match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::String(left), Value::String(right)) => {
                budget.spend(left.len().min(right.len()))?;
                left == right
            }
            (Value::List(left), Value::List(right)) => {
                if left.len() != right.len() {
                    return Ok(false);
                }
                for (left, right) in left.iter().zip(right.iter()) {
                    if !left.equals(right, budget)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Value::Map(left), Value::Map(right)) => {
                if left.len() != right.len() {
                    return Ok(false);
                }
                for (key, left) in left.iter() {
                    match right.get(key) {
                        Some(right) if left.equals(right, budget)? => {}
                        _ => return Ok(false),
                    }
                }
                true
            }
            (Value::Optional(left), Value::Optional(right)) => match (left, right) {
                (None, None) => true,
                (Some(left), Some(right)) => left.equals(right, budget)?,
                _ => false,
            },
            (Value::Object(_, left), Value::Object(_, right)) => {
                budget.spend(OBJECT)?;
                left == right
            }
            _ => self.compare(other) == Some(Ordering::Equal),
        })
    }

    /// The order of two numbers, texts or booleans; `None` for anything else and for what is no number.
    pub fn compare(&self, other: &Value<'_>) -> Option<Ordering> {
        match (self, other) {
            (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
            (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
            _ => match (self.integer(), other.integer()) {
                (Some(left), Some(right)) => Some(left.cmp(&right)),
                _ => self.number()?.partial_cmp(&other.number()?),
            },
        }
    }

    /// An `int` or `uint`.
    fn integer(&self) -> Option<i128> {
        match self {
            Value::Int(value) => Some(i128::from(*value)),
            Value::Uint(value) => Some(i128::from(*value)),
            _ => None,
        }
    }

    /// Any number. Integers beyond 2^53 lose digits, as in CEL.
    fn number(&self) -> Option<f64> {
        match self {
            Value::Double(value) => Some(*value),
            _ => self.integer().map(|value| value as f64),
        }
    }
}

impl<'a> From<&Key> for Value<'a> {
    fn from(key: &Key) -> Self {
        match key {
            Key::Bool(value) => Value::Bool(*value),
            Key::Int(value) => Value::Int(*value),
            Key::String(text) => Value::String(text.clone()),
        }
    }
}

/// A double as an integer, when it is one.
fn whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < 9.0e18).then_some(value as i64)
}

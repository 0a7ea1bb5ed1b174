//! All functions and operators: what they take, what they give, what they do. One table serves the check and the
//! evaluation.
//!
//! Contents: the standard functions and operators of CEL for the types in [`super::types`], the strings
//! extension of version 3, and `aso.parseResourceId` (ASO behaviour §3.4). Calls that bind variables are in
//! [`super::comprehension`].

use super::builder::Builder;
use super::function::{Function, MISMATCH, Parameter, row};
use super::types::{ObjectType, Type};
use super::value::{Budget, Value};
use super::{arithmetic, resource_id, text};

/// All ways to call a function of this name.
pub(super) fn named(name: &str, receiver: bool) -> impl Iterator<Item = &'static Function> {
    let tables = [STANDARD, OPTIONALS, arithmetic::OPERATORS, text::FUNCTIONS];
    let rows = tables.into_iter().flatten();
    rows.filter(move |row| row.receiver == receiver && row.name == name)
}

/// Whether a name before a dot is no variable but the first part of functions' names.
pub(super) fn is_namespace(name: &str) -> bool {
    matches!(name, "aso" | "optional" | "strings")
}

/// Names of all functions that are called in this way, without operators.
pub(super) fn names(receiver: bool) -> impl Iterator<Item = &'static str> {
    let rows = STANDARD.iter().chain(OPTIONALS).chain(text::FUNCTIONS);
    rows.filter(move |row| row.receiver == receiver)
        .map(|row| row.name)
}

/// Sizes, conversions and resource ids.
static STANDARD: &[Function] = &[
    row!("size", false, [Any], size_type, size),
    row!("size", true, [Any], size_type, size),
    row!("dyn", false, [Any], |_| Some(Type::Dyn), |values, _| Ok(
        values[0].clone()
    )),
    row!(
        "int",
        false,
        [Number],
        |_| Some(Type::Int),
        arithmetic::to_int
    ),
    row!(
        "int",
        false,
        [String],
        |_| Some(Type::Int),
        arithmetic::to_int
    ),
    row!(
        "uint",
        false,
        [Number],
        |_| Some(Type::Uint),
        arithmetic::to_uint
    ),
    row!(
        "uint",
        false,
        [String],
        |_| Some(Type::Uint),
        arithmetic::to_uint
    ),
    row!(
        "double",
        false,
        [Number],
        |_| Some(Type::Double),
        arithmetic::to_double
    ),
    row!(
        "double",
        false,
        [String],
        |_| Some(Type::Double),
        arithmetic::to_double
    ),
    row!("bool", false, [Bool], |_| Some(Type::Bool), to_bool),
    row!("bool", false, [String], |_| Some(Type::Bool), to_bool),
    row!("string", false, [Bool], |_| Some(Type::String), to_string),
    row!("string", false, [Number], |_| Some(Type::String), to_string),
    row!("string", false, [String], |_| Some(Type::String), to_string),
    row!(
        "aso.parseResourceId",
        false,
        [String],
        |_| Some(Type::Object(ObjectType::ResourceId)),
        |values, _| match &values[0] {
            Value::String(text) => resource_id::parse(text),
            _ => Err(MISMATCH.to_owned()),
        }
    ),
];

/// Optional values.
static OPTIONALS: &[Function] = &[
    row!(
        "optional.none",
        false,
        [],
        |_| Some(Type::optional(Type::Unknown)),
        |_, _| Ok(Value::Optional(None))
    ),
    row!("optional.of", false, [Any], wrapped, |values, _| Ok(
        Value::some(values[0].clone())
    )),
    row!(
        "optional.ofNonZeroValue",
        false,
        [Any],
        wrapped,
        |values, _| Ok(match &values[0] {
            value if value.is_zero() => Value::Optional(None),
            value => Value::some(value.clone()),
        })
    ),
    row!(
        "hasValue",
        true,
        [Optional],
        |_| Some(Type::Bool),
        |values, _| Ok(Value::Bool(matches!(values[0], Value::Optional(Some(_)))))
    ),
    row!("value", true, [Optional], inner, |values, _| {
        let value = held(&values[0])?;
        value.ok_or_else(|| "the optional has no value".to_owned())
    }),
    row!(
        "orValue",
        true,
        [Optional, Any],
        |types| inner(types)?.unify(&types[1]),
        |values, _| Ok(held(&values[0])?.unwrap_or_else(|| values[1].clone()))
    ),
    row!(
        "or",
        true,
        [Optional, Optional],
        |types| types[0].unify(&types[1]),
        |values, _| Ok(match held(&values[0])? {
            Some(_) => values[0].clone(),
            None => values[1].clone(),
        })
    ),
];

fn wrapped(types: &[Type]) -> Option<Type> {
    Some(Type::optional(types[0].clone()))
}

fn inner(types: &[Type]) -> Option<Type> {
    match &types[0] {
        Type::Optional(inner) => Some(Type::clone(inner)),
        other => Some(other.clone()),
    }
}

fn held<'a>(value: &Value<'a>) -> Result<Option<Value<'a>>, String> {
    match value {
        Value::Optional(inner) => Ok(inner.as_deref().cloned()),
        _ => Err(MISMATCH.to_owned()),
    }
}

fn size_type(types: &[Type]) -> Option<Type> {
    let sized = [Parameter::String, Parameter::List, Parameter::Map];
    let mut sized = sized.iter();
    sized
        .any(|parameter| parameter.takes(&types[0]))
        .then_some(Type::Int)
}

fn size<'a>(values: &[Value<'a>], budget: &mut Budget) -> Result<Value<'a>, String> {
    let size = match &values[0] {
        Value::String(text) => {
            budget.spend(text.len())?;
            text.chars().count()
        }
        Value::List(items) => items.len(),
        Value::Map(entries) => entries.len(),
        _ => return Err(MISMATCH.to_owned()),
    };
    Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}

fn to_bool<'a>(values: &[Value<'a>], _: &mut Budget) -> Result<Value<'a>, String> {
    match &values[0] {
        Value::Bool(value) => Ok(Value::Bool(*value)),
        Value::String(text) => match &**text {
            "1" | "t" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err("the text is neither true nor false".to_owned()),
        },
        _ => Err(MISMATCH.to_owned()),
    }
}

fn to_string<'a>(values: &[Value<'a>], budget: &mut Budget) -> Result<Value<'a>, String> {
    let mut out = Builder::new(budget);
    out.push_scalar(&values[0])?;
    Ok(out.finish())
}

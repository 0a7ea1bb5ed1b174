//! Operators, and conversions between numbers.

use std::cmp::Ordering;

use cel::common::ast::operators;

use super::function::{Function, MISMATCH, row};
use super::types::Type;
use super::value::{Budget, Value};

const OVERFLOW: &str = "the number is too large for its type";

/// Operators other than `&&`, `||`, `?:` and the selection of fields, which do not evaluate all their operands.
pub(super) static OPERATORS: &[Function] = &[
    row!(
        operators::LOGICAL_NOT,
        false,
        [Bool],
        |_| Some(Type::Bool),
        |values, _| match values[0] {
            Value::Bool(value) => Ok(Value::Bool(!value)),
            _ => Err(MISMATCH.to_owned()),
        }
    ),
    row!(
        operators::NEGATE,
        false,
        [Number],
        |types| Some(types[0].clone()),
        |values, _| match values[0] {
            Value::Int(value) => checked(value.checked_neg().map(Value::Int)),
            Value::Double(value) => Ok(Value::Double(-value)),
            _ => Err(MISMATCH.to_owned()),
        }
    ),
    row!(operators::ADD, false, [Number, Number], same, calculate_add),
    row!(operators::ADD, false, [String, String], same, concatenate),
    row!(operators::ADD, false, [List, List], same, concatenate),
    row!(
        operators::SUBSTRACT,
        false,
        [Number, Number],
        same,
        |values, _| calculate(
            values,
            i64::checked_sub,
            u64::checked_sub,
            |left, right| left - right
        )
    ),
    row!(
        operators::MULTIPLY,
        false,
        [Number, Number],
        same,
        |values, _| calculate(
            values,
            i64::checked_mul,
            u64::checked_mul,
            |left, right| left * right
        )
    ),
    row!(
        operators::DIVIDE,
        false,
        [Number, Number],
        same,
        |values, _| {
            not_zero(&values[1])?;
            calculate(values, i64::checked_div, u64::checked_div, |left, right| {
                left / right
            })
        }
    ),
    row!(
        operators::MODULO,
        false,
        [Number, Number],
        |types| same(types).filter(|ty| !matches!(ty, Type::Double)),
        |values, _| {
            not_zero(&values[1])?;
            match (&values[0], &values[1]) {
                (Value::Double(_), _) => Err(MISMATCH.to_owned()),
                _ => calculate(values, i64::checked_rem, u64::checked_rem, |left, right| {
                    left % right
                }),
            }
        }
    ),
    row!(
        operators::EQUALS,
        false,
        [Any, Any],
        equatable,
        |values, budget| Ok(Value::Bool(values[0].equals(&values[1], budget)?))
    ),
    row!(
        operators::NOT_EQUALS,
        false,
        [Any, Any],
        equatable,
        |values, budget| Ok(Value::Bool(!values[0].equals(&values[1], budget)?))
    ),
    row!(
        operators::LESS,
        false,
        [Any, Any],
        comparable,
        |values, budget| compare(values, budget, Ordering::is_lt)
    ),
    row!(
        operators::LESS_EQUALS,
        false,
        [Any, Any],
        comparable,
        |values, budget| compare(values, budget, Ordering::is_le)
    ),
    row!(
        operators::GREATER,
        false,
        [Any, Any],
        comparable,
        |values, budget| compare(values, budget, Ordering::is_gt)
    ),
    row!(
        operators::GREATER_EQUALS,
        false,
        [Any, Any],
        comparable,
        |values, budget| compare(values, budget, Ordering::is_ge)
    ),
    row!(
        operators::IN,
        false,
        [Any, List],
        |types| match &types[1] {
            Type::List(item) => fits(&types[0], item),
            _ => Some(Type::Bool),
        },
        |values, budget| {
            let Value::List(items) = &values[1] else {
                return Err(MISMATCH.to_owned());
            };
            for item in items.iter() {
                if item.equals(&values[0], budget)? {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
    ),
    row!(
        operators::IN,
        false,
        [Any, Map],
        |types| match &types[1] {
            Type::Map(key, _) => fits(&types[0], key),
            _ => Some(Type::Bool),
        },
        |values, _| match (values[0].key(), &values[1]) {
            (Some(key), Value::Map(entries)) => Ok(Value::Bool(entries.contains_key(&key))),
            (None, Value::Map(_)) => Ok(Value::Bool(false)),
            _ => Err(MISMATCH.to_owned()),
        }
    ),
];

/// Both operands have one type, which is the result's.
fn same(types: &[Type]) -> Option<Type> {
    types[0].unify(&types[1])
}

fn fits(value: &Type, place: &Type) -> Option<Type> {
    equatable(&[value.clone(), place.clone()])
}

/// Values of one type, and numbers of any.
fn equatable(types: &[Type]) -> Option<Type> {
    let numbers = types.iter().all(Type::is_numeric);
    (numbers || same(types).is_some()).then_some(Type::Bool)
}

fn comparable(types: &[Type]) -> Option<Type> {
    let ordered = types.iter().all(|ty| {
        let scalar = matches!(ty, Type::Bool | Type::String | Type::Unknown);
        scalar || ty.is_numeric()
    });
    equatable(types).filter(|_| ordered)
}

fn compare<'a>(
    values: &[Value<'a>],
    budget: &mut Budget,
    holds: fn(Ordering) -> bool,
) -> Result<Value<'a>, String> {
    if let (Value::String(left), Value::String(right)) = (&values[0], &values[1]) {
        budget.spend(left.len().min(right.len()))?;
    }
    let is_nan = |value: &Value<'_>| matches!(value, Value::Double(value) if value.is_nan());
    match values[0].compare(&values[1]) {
        Some(order) => Ok(Value::Bool(holds(order))),
        None if is_nan(&values[0]) || is_nan(&values[1]) => Ok(Value::Bool(false)),
        None => Err(MISMATCH.to_owned()),
    }
}

fn calculate_add<'a>(values: &[Value<'a>], _: &mut Budget) -> Result<Value<'a>, String> {
    calculate(values, i64::checked_add, u64::checked_add, |left, right| {
        left + right
    })
}

fn calculate<'a>(
    values: &[Value<'a>],
    ints: fn(i64, i64) -> Option<i64>,
    uints: fn(u64, u64) -> Option<u64>,
    doubles: fn(f64, f64) -> f64,
) -> Result<Value<'a>, String> {
    match (&values[0], &values[1]) {
        (Value::Int(left), Value::Int(right)) => checked(ints(*left, *right).map(Value::Int)),
        (Value::Uint(left), Value::Uint(right)) => checked(uints(*left, *right).map(Value::Uint)),
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(doubles(*left, *right))),
        _ => Err(MISMATCH.to_owned()),
    }
}

fn checked(value: Option<Value<'_>>) -> Result<Value<'_>, String> {
    value.ok_or_else(|| OVERFLOW.to_owned())
}

/// Integers cannot be divided by zero; doubles can.
fn not_zero(value: &Value<'_>) -> Result<(), String> {
    match value {
        Value::Int(0) | Value::Uint(0) => Err("division by zero".to_owned()),
        _ => Ok(()),
    }
}

fn concatenate<'a>(values: &[Value<'a>], budget: &mut Budget) -> Result<Value<'a>, String> {
    match (&values[0], &values[1]) {
        (Value::String(left), Value::String(right)) => {
            budget.spend(left.len() + right.len())?;
            Ok(Value::text([&**left, &**right].concat()))
        }
        (Value::List(left), Value::List(right)) => {
            budget.spend(left.len() + right.len())?;
            Ok(Value::list([&left[..], &right[..]].concat()))
        }
        _ => Err(MISMATCH.to_owned()),
    }
}

pub(super) fn to_int<'a>(values: &[Value<'a>], _: &mut Budget) -> Result<Value<'a>, String> {
    let value = match &values[0] {
        Value::Int(value) => Some(*value),
        Value::Uint(value) => i64::try_from(*value).ok(),
        // Both bounds are exact as doubles.
        Value::Double(value) => {
            (value.abs() < 9_223_372_036_854_775_808.0).then_some(*value as i64)
        }
        Value::String(text) => return parsed(text.parse().map(Value::Int).ok()),
        _ => return Err(MISMATCH.to_owned()),
    };
    checked(value.map(Value::Int))
}

pub(super) fn to_uint<'a>(values: &[Value<'a>], _: &mut Budget) -> Result<Value<'a>, String> {
    let value = match &values[0] {
        Value::Int(value) => u64::try_from(*value).ok(),
        Value::Uint(value) => Some(*value),
        Value::Double(value) => (0.0..18_446_744_073_709_551_616.0)
            .contains(value)
            .then_some(*value as u64),
        Value::String(text) => return parsed(text.parse().map(Value::Uint).ok()),
        _ => return Err(MISMATCH.to_owned()),
    };
    checked(value.map(Value::Uint))
}

pub(super) fn to_double<'a>(values: &[Value<'a>], _: &mut Budget) -> Result<Value<'a>, String> {
    match &values[0] {
        Value::Int(value) => Ok(Value::Double(*value as f64)),
        Value::Uint(value) => Ok(Value::Double(*value as f64)),
        Value::Double(value) => Ok(Value::Double(*value)),
        Value::String(text) => parsed(text.parse().map(Value::Double).ok()),
        _ => Err(MISMATCH.to_owned()),
    }
}

fn parsed(value: Option<Value<'_>>) -> Result<Value<'_>, String> {
    value.ok_or_else(|| "the text is no such number".to_owned())
}

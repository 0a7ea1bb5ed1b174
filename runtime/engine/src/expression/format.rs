//! `"…".format([…])`: `%s`, `%d`, `%f` with a precision, `%b`, `%o`, `%x` and `%X`.

use super::builder::Builder;
use super::value::{Budget, Key, Value};

/// Digits behind the point when a clause names none.
const PRECISION: usize = 6;

/// Most digits behind the point.
const MAX_PRECISION: usize = 100;

/// Writes the arguments into the places that the pattern has for them.
pub(super) fn format<'a>(
    pattern: &str,
    arguments: &[Value<'a>],
    budget: &mut Budget,
) -> Result<Value<'a>, String> {
    let mut out = Builder::new(budget);
    let mut arguments = arguments.iter();
    let mut rest = pattern;
    while let Some(at) = rest.find('%') {
        out.push(&rest[..at])?;
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push("%")?;
            rest = after;
            continue;
        }
        let precision = precision(&mut rest)?;
        let clause = rest.chars().next();
        let clause = clause.ok_or_else(|| "format: the pattern ends after %".to_owned())?;
        rest = &rest[clause.len_utf8()..];
        let argument = arguments.next();
        let argument =
            argument.ok_or_else(|| "format: there are fewer arguments than places".to_owned())?;
        write(&mut out, clause, precision, argument)?;
    }
    out.push(rest)?;
    if arguments.next().is_some() {
        return Err("format: there are more arguments than places".to_owned());
    }
    Ok(out.finish())
}

/// The digits of `.3`, which are taken off the text.
fn precision(rest: &mut &str) -> Result<usize, String> {
    let Some(after) = rest.strip_prefix('.') else {
        return Ok(PRECISION);
    };
    let end = after.find(|sign: char| !sign.is_ascii_digit());
    let (digits, tail) = after.split_at(end.unwrap_or(after.len()));
    *rest = tail;
    let digits = digits.parse().ok();
    digits
        .filter(|digits| *digits <= MAX_PRECISION)
        .ok_or_else(|| format!("format: a precision is a number from 0 to {MAX_PRECISION}"))
}

fn write(
    out: &mut Builder<'_>,
    clause: char,
    precision: usize,
    argument: &Value<'_>,
) -> Result<(), String> {
    match (clause, argument) {
        ('s', value) => text(out, value, false),
        ('d', Value::Int(_) | Value::Uint(_)) => out.push_scalar(argument),
        ('f', Value::Double(value)) => out.push(&format!("{value:.precision$}")),
        ('f', Value::Int(value)) => out.push(&format!("{:.precision$}", *value as f64)),
        ('b', Value::Bool(value)) => out.push(if *value { "1" } else { "0" }),
        ('x', Value::String(value)) => hexadecimal(out, value, false),
        ('X', Value::String(value)) => hexadecimal(out, value, true),
        ('b' | 'o' | 'x' | 'X', Value::Int(value)) => {
            let sign = if *value < 0 { "-" } else { "" };
            out.push(sign)?;
            out.push(&digits(clause, value.unsigned_abs()))
        }
        ('b' | 'o' | 'x' | 'X', Value::Uint(value)) => out.push(&digits(clause, *value)),
        ('d' | 'f' | 'b' | 'o' | 'x' | 'X', _) => Err(format!(
            "format: %{clause} does not take a value of type {}",
            argument.type_name()
        )),
        _ => Err(format!(
            "format: there is no %{clause}; there are %s, %d, %f, %b, %o, %x and %X"
        )),
    }
}

fn digits(clause: char, value: u64) -> String {
    match clause {
        'b' => format!("{value:b}"),
        'o' => format!("{value:o}"),
        'x' => format!("{value:x}"),
        _ => format!("{value:X}"),
    }
}

fn hexadecimal(out: &mut Builder<'_>, text: &str, upper: bool) -> Result<(), String> {
    for byte in text.bytes() {
        out.push(&match upper {
            true => format!("{byte:02X}"),
            false => format!("{byte:02x}"),
        })?;
    }
    Ok(())
}

/// `%s`: text as it is; in lists and maps it stands in quotes.
fn text(out: &mut Builder<'_>, value: &Value<'_>, quoted: bool) -> Result<(), String> {
    out.budget.spend(1)?;
    match value {
        Value::String(text) if quoted => {
            out.push("\"")?;
            out.push(text)?;
            out.push("\"")
        }
        Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) => {
            out.push_scalar(value)
        }
        Value::Null => out.push("null"),
        Value::List(items) => {
            out.push("[")?;
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(", ")?;
                }
                text(out, item, true)?;
            }
            out.push("]")
        }
        Value::Map(entries) => {
            out.push("{")?;
            for (at, (key, value)) in entries.iter().enumerate() {
                if at > 0 {
                    out.push(", ")?;
                }
                text(out, &Value::from(key), matches!(key, Key::String(_)))?;
                out.push(": ")?;
                text(out, value, true)?;
            }
            out.push("}")
        }
        Value::Optional(_) | Value::Object(..) => Err(format!(
            "format: %s does not take a value of type {}",
            value.type_name()
        )),
    }
}

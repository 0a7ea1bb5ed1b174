//! What a scalar without quotes is, as kubectl reads it.
//!
//! kubectl reads manifests with `sigs.k8s.io/yaml`: YAML 1.1 as go-yaml v2 resolves it, made JSON, and read from there. So
//! `y`, `on` and `No` are booleans, `0600` is an integer to base 8, `1__2` is twelve, `12:30` and dates are texts, and a
//! whole number that was written with a fraction is an integer in the end.

use serde_json::{Number, Value};

/// A scalar that has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScalarError {
    /// JSON has no such number, so kubectl refuses it.
    #[error("`{0}` is no number that JSON has; write it in quotes if it is meant as a text")]
    NoJsonNumber(String),
    /// A tag asks for another type.
    #[error("`{text}` is no {tag}")]
    NotOfTag {
        /// The scalar.
        text: String,
        /// The tag, as `!!int`.
        tag: String,
    },
}

/// A scalar by its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// `~`, `null`, or nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// An integer beyond them.
    Unsigned(u64),
    /// A number.
    Float(f64),
    /// Everything else.
    Text,
}

/// The value of a scalar without quotes.
///
/// # Errors
/// [`ScalarError::NoJsonNumber`] for `.inf` and `.nan`.
pub fn plain(text: &str) -> Result<Value, ScalarError> {
    value(&resolve(text), text)
}

/// The value of a scalar with a tag of YAML's own, as `int` in `!!int`.
///
/// # Errors
/// [`ScalarError`] when the scalar is nothing of that type.
pub fn tagged(tag: &str, text: &str) -> Result<Value, ScalarError> {
    let scalar = match (tag, resolve(text)) {
        ("str", _) => Scalar::Text,
        ("float", Scalar::Int(number)) => Scalar::Float(number as f64),
        ("null", scalar @ Scalar::Null)
        | ("bool", scalar @ Scalar::Bool(_))
        | ("int", scalar @ (Scalar::Int(_) | Scalar::Unsigned(_)))
        | ("float", scalar @ Scalar::Float(_)) => scalar,
        ("timestamp", _) if is_date(text) => Scalar::Text,
        ("null" | "bool" | "int" | "float" | "timestamp", _) => {
            return Err(ScalarError::NotOfTag {
                text: text.to_owned(),
                tag: format!("!!{tag}"),
            });
        }
        _ => Scalar::Text,
    };
    value(&scalar, text)
}

fn value(scalar: &Scalar, text: &str) -> Result<Value, ScalarError> {
    Ok(match scalar {
        Scalar::Null => Value::Null,
        Scalar::Bool(value) => Value::Bool(*value),
        Scalar::Int(number) => Value::from(*number),
        // Kubernetes reads integers of JSON beyond 63 bits as doubles.
        Scalar::Unsigned(number) => float(*number as f64, text)?,
        Scalar::Float(number) => float(*number, text)?,
        Scalar::Text => Value::from(text),
    })
}

/// A double as it comes out of JSON text: an integer where the text has neither fraction nor exponent.
fn float(number: f64, text: &str) -> Result<Value, ScalarError> {
    // Go writes exponents from here on.
    let is_written_out = number.abs() < 1e21;
    let whole = format!("{number}").parse::<i64>();
    match whole.ok().filter(|_| is_written_out) {
        Some(whole) => Ok(Value::from(whole)),
        None => Number::from_f64(number)
            .map(Value::Number)
            .ok_or_else(|| ScalarError::NoJsonNumber(text.to_owned())),
    }
}

/// What a scalar without quotes is (go-yaml v2's `resolve`).
pub fn resolve(text: &str) -> Scalar {
    if let Some(word) = word(text) {
        return word;
    }
    match text.bytes().next() {
        Some(b'.') if has_underscores_between_digits(text) => {
            go_float(&text.replace('_', "")).map_or(Scalar::Text, Scalar::Float)
        }
        Some(b'+' | b'-' | b'0'..=b'9') if !is_date(text) => number(&text.replace('_', "")),
        _ => Scalar::Text,
    }
}

fn word(text: &str) -> Option<Scalar> {
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Scalar::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}

/// A number without its underscores.
fn number(text: &str) -> Scalar {
    if let Some(number) = integer(text) {
        return number;
    }
    if is_float(text) {
        return go_float(text).map_or(Scalar::Text, Scalar::Float);
    }
    // go-yaml tries again what follows `0b`, which may have a sign of its own.
    let binary = match (text.strip_prefix("0b"), text.strip_prefix("-0b")) {
        (Some(digits), _) => signed(digits, 2),
        (_, Some(digits)) if !digits.starts_with(['+', '-']) => signed(&format!("-{digits}"), 2),
        _ => None,
    };
    binary.map_or(Scalar::Text, Scalar::Int)
}

/// An integer as Go's `ParseInt` and `ParseUint` read it with base 0.
fn integer(text: &str) -> Option<Scalar> {
    let (sign, digits) = match text.as_bytes().first() {
        Some(b'-') => ("-", &text[1..]),
        Some(b'+') => ("", &text[1..]),
        _ => ("", text),
    };
    let prefixes = [
        ("0x", 16),
        ("0X", 16),
        ("0b", 2),
        ("0B", 2),
        ("0o", 8),
        ("0O", 8),
    ];
    let prefixed = prefixes
        .iter()
        .find_map(|(prefix, base)| Some((digits.strip_prefix(prefix)?, *base)));
    let (digits, base) = match prefixed {
        Some(found) => found,
        None if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        None => (digits, 10),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let small = i64::from_str_radix(&format!("{sign}{digits}"), base).ok();
    small.map(Scalar::Int).or_else(|| {
        let has_no_sign = !text.starts_with(['+', '-']);
        let large = u64::from_str_radix(digits, base).ok();
        large.filter(|_| has_no_sign).map(Scalar::Unsigned)
    })
}

fn signed(digits: &str, base: u32) -> Option<i64> {
    i64::from_str_radix(digits, base).ok()
}

/// Whether a text is `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
fn is_float(text: &str) -> bool {
    let unsigned = |text: &'_ str| text.strip_prefix(['+', '-']).map_or(text.len(), str::len);
    let mantissa = &text[text.len() - unsigned(text)..];
    let (mantissa, exponent) = match mantissa.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (mantissa, None),
    };
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_exponent = exponent.is_none_or(|text| {
        let digits = &text[text.len() - unsigned(text)..];
        !digits.is_empty() && are_digits(digits)
    });
    let is_mantissa = match mantissa.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && are_digits(fraction),
        Some((whole, fraction)) => are_digits(whole) && are_digits(fraction),
        None => !mantissa.is_empty() && are_digits(mantissa),
    };
    is_exponent && is_mantissa
}

/// Whether underscores stand between digits only, as Go has them in numbers.
fn has_underscores_between_digits(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| {
        let byte = at.and_then(|at| bytes.get(at));
        byte.is_some_and(u8::is_ascii_digit)
    };
    let mut underscores = (0..bytes.len()).filter(|at| bytes[*at] == b'_');
    underscores.all(|at| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)))
}

/// A decimal number that a double can hold.
fn go_float(text: &str) -> Option<f64> {
    let number: f64 = is_float(text).then(|| text.parse().ok())??;
    number.is_finite().then_some(number)
}

/// Whether go-yaml takes a text for a date, which then stays text.
fn is_date(text: &str) -> bool {
    let year = text.bytes().take_while(u8::is_ascii_digit).count();
    if year != 4 {
        return false;
    }
    let Some(rest) = text[4..].strip_prefix('-') else {
        return false;
    };
    // What begins so is no number: no digit string has a sign inside, and an exponent's comes after its letter.
    rest.bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scalars_are_what_kubectl_makes_of_them() {
        for (text, expected) in [
            ("y", json!(true)),
            ("N", json!(false)),
            ("On", json!(true)),
            ("oN", json!("oN")),
            ("OFF", json!(false)),
            ("", json!(null)),
            ("~", json!(null)),
            ("Null", json!(null)),
            ("nULL", json!("nULL")),
            ("0", json!(0)),
            ("010", json!(8)),
            ("0600", json!(384)),
            ("-010", json!(-8)),
            ("08", json!(8)),
            ("0o17", json!(15)),
            ("0x1F", json!(31)),
            ("0b101", json!(5)),
            ("0b-101", json!(-5)),
            ("-0b101", json!(-5)),
            ("0_1", json!(1)),
            ("1__2", json!(12)),
            ("1_", json!(1)),
            ("_1", json!("_1")),
            ("+1", json!(1)),
            ("-", json!("-")),
            ("0x", json!("0x")),
            ("1.", json!(1)),
            ("3.0", json!(3)),
            ("1.5", json!(1.5)),
            (".5", json!(0.5)),
            ("-.5", json!(-0.5)),
            ("-0.0", json!(0)),
            (".5_0", json!(0.5)),
            ("._5", json!("._5")),
            (".", json!(".")),
            ("1e3", json!(1000)),
            ("1e21", json!(1e21)),
            ("1e400", json!("1e400")),
            ("1e", json!("1e")),
            ("9223372036854775807", json!(9223372036854775807_i64)),
            ("9223372036854775808", json!(9223372036854775808_f64)),
            ("0x1p4", json!("0x1p4")),
            ("12:30", json!("12:30")),
            ("2001-01-01", json!("2001-01-01")),
            ("2001-1", json!("2001-1")),
            ("1.2.3", json!("1.2.3")),
            ("10.0.0.0/16", json!("10.0.0.0/16")),
        ] {
            assert_eq!(plain(text), Ok(expected), "{text}");
        }
        for text in [".inf", "-.INF", ".nan"] {
            assert!(plain(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_tag_says_what_a_scalar_is() {
        let wrong = |tag: &str, text: &str| tagged(tag, text).unwrap_err().to_string();
        assert_eq!(tagged("str", "010"), Ok(json!("010")));
        assert_eq!(tagged("int", "010"), Ok(json!(8)));
        assert_eq!(tagged("float", "3"), Ok(json!(3)));
        assert_eq!(tagged("bool", "y"), Ok(json!(true)));
        assert_eq!(wrong("int", "x"), "`x` is no !!int");
        assert_eq!(wrong("bool", "1"), "`1` is no !!bool");
    }
}

//! Keys that are no texts become texts, as `sigs.k8s.io/yaml` writes them.

use super::scalar::Scalar;

/// The text of a key that is a boolean or a number; `None` where kubectl refuses it.
pub fn text_of(scalar: &Scalar, written: &str) -> Option<String> {
    match scalar {
        Scalar::Bool(value) => Some(value.to_string()),
        Scalar::Int(number) => Some(number.to_string()),
        Scalar::Float(number) => Some(shortest(*number)),
        Scalar::Text => Some(written.to_owned()),
        Scalar::Null | Scalar::Unsigned(_) => None,
    }
}

/// A number in as few digits as tell floats of 32 bits apart, with an exponent where it is large or small (Go's format `g`).
#[allow(
    clippy::cast_possible_truncation,
    reason = "kubectl's keys have 32 bits"
)]
fn shortest(number: f64) -> String {
    let number = number as f32;
    let scientific = format!("{number:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_booleans_are_written_as_kubectl_writes_them() {
        for (written, expected) in [
            ("010", Some("8")),
            ("y", Some("true")),
            ("1.50", Some("1.5")),
            ("1e3", Some("1000")),
            ("1.5e6", Some("1.5e+06")),
            (".00001", Some("1e-05")),
            ("~", None),
            ("18446744073709551615", None),
        ] {
            let scalar = super::super::scalar::resolve(written);
            let found = text_of(&scalar, written);
            assert_eq!(found.as_deref(), expected, "{written}");
        }
    }
}

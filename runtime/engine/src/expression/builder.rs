//! Text that an evaluation produces, within its budget.

use super::function::MISMATCH;
use super::value::{Budget, Value};

/// Text that is being produced; every byte is paid for before it is written.
pub(super) struct Builder<'b> {
    out: String,
    pub budget: &'b mut Budget,
}

impl<'b> Builder<'b> {
    pub fn new(budget: &'b mut Budget) -> Self {
        Self {
            out: String::new(),
            budget,
        }
    }

    pub fn push(&mut self, text: &str) -> Result<(), String> {
        self.budget.spend(text.len())?;
        self.out.push_str(text);
        Ok(())
    }

    /// Text, a number or a boolean, as `string()` writes it.
    pub fn push_scalar(&mut self, value: &Value<'_>) -> Result<(), String> {
        match value {
            Value::String(text) => self.push(text),
            Value::Bool(value) => self.push(if *value { "true" } else { "false" }),
            Value::Int(value) => self.push(&value.to_string()),
            Value::Uint(value) => self.push(&value.to_string()),
            Value::Double(value) => self.push(&shortest(*value)),
            _ => Err(MISMATCH.to_owned()),
        }
    }

    pub fn finish<'a>(self) -> Value<'a> {
        Value::text(self.out)
    }
}

/// The shortest text that reads as the same number; large and small ones have an exponent,
/// as CEL writes them.
fn shortest(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return value.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

//! One function or operator, as a row of a table.

use super::types::Type;
use super::value::{Budget, Value};

/// One way to call a function.
pub(super) struct Function {
    /// Name; operators have the names that the parser gives them.
    pub name: &'static str,
    /// Called as `receiver.name(…)`; the receiver is the first parameter.
    pub receiver: bool,
    pub parameters: &'static [Parameter],
    /// Type of the result, or `None` when these arguments do not go together.
    pub result: fn(&[Type]) -> Option<Type>,
    /// What it does. Messages name no values.
    pub run: for<'a> fn(&[Value<'a>], &mut Budget) -> Result<Value<'a>, String>,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parameter {
    Any,
    Bool,
    Int,
    /// `int`, `uint` or `double`.
    Number,
    String,
    List,
    Map,
    Optional,
}

impl Parameter {
    /// Whether a value of this type may be given.
    pub fn takes(self, ty: &Type) -> bool {
        match (self, ty) {
            (Parameter::Any, _) | (_, Type::Dyn | Type::Unknown) => true,
            (Parameter::Number, _) => ty.is_numeric(),
            (Parameter::Bool, Type::Bool)
            | (Parameter::Int, Type::Int)
            | (Parameter::String, Type::String)
            | (Parameter::List, Type::List(_))
            | (Parameter::Map, Type::Map(..))
            | (Parameter::Optional, Type::Optional(_)) => true,
            _ => false,
        }
    }

    /// Whether this value may be given.
    pub fn takes_value(self, value: &Value<'_>) -> bool {
        matches!(
            (self, value),
            (Parameter::Any, _)
                | (
                    Parameter::Number,
                    Value::Int(_) | Value::Uint(_) | Value::Double(_)
                )
                | (Parameter::Bool, Value::Bool(_))
                | (Parameter::Int, Value::Int(_))
                | (Parameter::String, Value::String(_))
                | (Parameter::List, Value::List(_))
                | (Parameter::Map, Value::Map(_))
                | (Parameter::Optional, Value::Optional(_))
        )
    }

    /// Name of the type, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Parameter::Any => "any value",
            Parameter::Bool => "bool",
            Parameter::Int => "int",
            Parameter::Number => "number",
            Parameter::String => "string",
            Parameter::List => "list",
            Parameter::Map => "map",
            Parameter::Optional => "optional",
        }
    }
}

/// Writes a row: `name(parameters) -> result { arguments => value }`.
macro_rules! row {
    ($name:expr, $receiver:expr, [$($parameter:ident),*], $result:expr, $run:expr) => {
        crate::expression::function::Function {
            name: $name,
            receiver: $receiver,
            parameters: &[$(crate::expression::function::Parameter::$parameter),*],
            result: $result,
            run: $run,
        }
    };
}
pub(super) use row;

/// What a row is called with although its parameters say otherwise; the caller has checked them.
pub(super) const MISMATCH: &str = "the arguments are of other types";

//! What is wrong with a document, said so that a person can act on it.

use std::fmt;

use super::codec::did_you_mean;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Where: `spec.rules[2].action`.
    pub path: String,
    /// What it is.
    pub kind: ProblemKind,
}

/// What is wrong. Values are shown only where the table says that they are names, never otherwise: a wrong
/// value may be a secret in the wrong place.
#[derive(Clone, Debug, PartialEq)]
pub enum ProblemKind {
    /// The struct has no such field.
    UnknownField {
        /// The nearest field that exists.
        suggestion: Option<&'static str>,
    },
    /// The JSON type is wrong.
    WrongType {
        /// What the field takes.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// A required field is absent.
    Missing,
    /// Not one of the known values.
    NotInEnum {
        /// What is there.
        found: String,
        /// The known value that it probably stands for.
        suggestion: Option<&'static str>,
        /// The known values.
        known: &'static [&'static str],
    },
    /// Not one of the known values of an open list, which is no mistake by itself.
    NotListed {
        /// What is there.
        found: String,
        /// The known value that it may stand for.
        suggestion: Option<&'static str>,
        /// The known values.
        known: &'static [&'static str],
    },
    /// A constraint is not kept.
    Rule(String),
    /// A discriminated object without exactly one variant.
    OneOf {
        /// The variants.
        variants: Vec<&'static str>,
        /// How many are set.
        found: usize,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.kind)
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProblemKind::UnknownField { suggestion } => {
                write!(formatter, "no such field{}", did_you_mean(*suggestion))
            }
            ProblemKind::WrongType { expected, found } => {
                write!(formatter, "expected {expected}, found {found}")
            }
            ProblemKind::Missing => formatter.write_str("required, but not set"),
            ProblemKind::NotInEnum {
                found,
                suggestion: Some(known),
                ..
            } => write!(
                formatter,
                "{found:?} is not a known value, did you mean {known:?}?"
            ),
            ProblemKind::NotInEnum { found, known, .. } => write!(
                formatter,
                "{found:?} is not a known value; known are {}",
                known.join(", ")
            ),
            ProblemKind::NotListed {
                found,
                suggestion,
                known,
            } => {
                let told = match suggestion {
                    Some(known) => format!("; did you mean {known:?}?"),
                    None => format!("; known are {}", known.join(", ")),
                };
                write!(
                    formatter,
                    "{found:?} is not a value that the spec knows, and is sent to Azure as it is{told}"
                )
            }
            ProblemKind::Rule(rule) => formatter.write_str(rule),
            ProblemKind::OneOf { variants, found } => write!(
                formatter,
                "set exactly one of {}, found {found}",
                variants.join(", ")
            ),
        }
    }
}

//! The same thing in other words: rules of a kind about single values, where the type of the value does not say it.
//!
//! A rule is one line of text, [`armature_shapes::kind::KindInfo::equal_values`]: a path in ARM's schema, what is the same
//! there, and where needed while which other value that holds.
//!
//! ```text
//! PATH as WORD                  both texts read so are the same: `as address`
//! PATH unset as VALUE or VALUE  a default that Azure does not answer, or answers though it was not set
//! PATH same VALUE or VALUE      these mean the same
//! PATH unless VALUE or VALUE    Azure answers this whatever was sent; `nothing`: it leaves the value out
//! PATH also as OTHER            OTHER has the same value
//! PATH also in OTHER            OTHER is the list with this one item, or the other way round
//! PATH counts while OTHER is …  Azure looks at it under this condition alone
//! RULE while OTHER is VALUE     any of them under a condition
//! ```
//!
//! Rules make two values equal; none makes a digest. So a record of a release that had no rule stays what it was, and an
//! edit from one spelling to the other is sent.

mod parse;
mod tree;
mod word;
mod xml;

use serde_json::Value;

use super::equal::{Rule, is_nothing, normal};

pub(super) use self::tree::{Around, At, Roots, Spellings};
pub use self::word::Word;

/// In rules: no value at all.
const NOTHING: &str = "nothing";

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// Where, in ARM's schema: `properties.rules[].value`.
    pub path: String,
    /// What is the same.
    pub same: Same,
    /// While what it holds; always where there is none.
    pub condition: Option<While>,
}

/// What is the same at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Same {
    /// Texts that read so are the same.
    As(Word),
    /// These values and none at all.
    Unset(Vec<String>),
    /// These values.
    Values(Vec<String>),
    /// Where Azure has one of these it says nothing.
    Unless {
        /// The values.
        values: Vec<String>,
        /// No value at all.
        nothing: bool,
    },
    /// The value of another path.
    AlsoAs(String),
    /// The only item of a list, or the list of it.
    AlsoIn(String),
    /// Anything at all: the value is looked at while the condition holds and at no other time.
    Counts,
}

/// While another value is one of some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct While {
    /// Where that is, in ARM's schema.
    pub path: String,
    /// The values.
    pub values: Vec<String>,
}

/// A rule that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{rule}`: {fault}")]
pub struct SpellingError {
    /// The rule.
    pub rule: String,
    /// What is wrong with it.
    pub fault: String,
}

impl Spelling {
    /// All paths that the rule names besides its own: those of other values.
    pub fn others(&self) -> impl Iterator<Item = &str> {
        let other = match &self.same {
            Same::AlsoAs(path) | Same::AlsoIn(path) => Some(path.as_str()),
            _ => None,
        };
        let condition = self.condition.iter();
        other
            .into_iter()
            .chain(condition.map(|condition| condition.path.as_str()))
    }
}

impl Same {
    /// Whether Azure has what is desired, in these words. What stands at other paths is not looked at.
    pub fn allows(&self, desired: Option<&Value>, observed: Option<&Value>) -> bool {
        let of_any = |value: Option<&Value>, values: &[String]| {
            value.is_some_and(|value| is_one_of(value, values))
        };
        match self {
            Self::As(word) => match (desired, observed) {
                (Some(desired), Some(observed)) => word.same(desired, observed),
                _ => false,
            },
            Self::Unset(values) => [desired, observed]
                .into_iter()
                .all(|value| value.is_none_or(is_nothing) || of_any(value, values)),
            Self::Values(values) => of_any(desired, values) && of_any(observed, values),
            Self::Unless { values, nothing } => {
                desired.is_some() && of_any(observed, values)
                    || *nothing && observed.is_none_or(is_nothing)
            }
            Self::AlsoAs(_) | Self::AlsoIn(_) | Self::Counts => false,
        }
    }

    /// A text that is the same for all values that are the same; nothing where it says nothing of that.
    pub fn text(&self, value: &Value) -> Option<String> {
        match self {
            Self::As(word) => word.text(value),
            _ => None,
        }
    }

    /// Whether an answer that is the same need not be what was sent: Azure may have something else.
    pub(super) fn is_guess(&self) -> bool {
        matches!(self, Self::Unless { .. } | Self::As(Word::Masked))
    }

    /// Whether the value says no more than none.
    pub(super) fn says_nothing(&self, value: &Value) -> bool {
        matches!(self, Self::Unset(values) if is_one_of(value, values))
    }
}

/// Whether a value is one of these, whatever its casing.
fn is_one_of(value: &Value, values: &[String]) -> bool {
    let is_plain = !value.is_object() && !value.is_array() && !value.is_null();
    let text = normal(Rule::AnyCase, value);
    is_plain && values.iter().any(|one| one.to_lowercase() == text)
}

#[cfg(test)]
mod tests;

//! What Azure makes of an edit, as far as curation is sure of it (`edits` in `specs/*/group.toml`): in place, refused, or only
//! with a new resource, by what the value was and becomes.
//!
//! Only the plan asks. An edit is sent all the same, and Azure has the last word.

use armature_runtime::kind::KindInfo;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::descriptions::Descriptions;

/// What Azure makes of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Takes {
    /// It changes the resource that is there.
    InPlace,
    /// It refuses the edit.
    Refused,
    /// Only another resource can have the value.
    Replacement,
}

/// A rule: of which path, what an edit takes, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    path: String,
    takes: Takes,
    condition: Option<Condition>,
    /// The words behind the path.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
struct Condition {
    /// `unless`: the edit is done in place where the kind of change is this one.
    is_exception: bool,
    change: Kind,
}

/// Which change it is.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// To a larger number.
    Larger,
    /// To a smaller number.
    Smaller,
    /// To a later version: `14`, `8.0.21`.
    Later,
    /// Azure has none so far.
    Unset,
    /// The spec has none any more.
    Removed,
    /// Upwards in this order.
    Rising(Vec<String>),
    /// From one of a set to another of it.
    Among(Vec<Vec<String>>),
    /// From one of these.
    From(Vec<String>),
    /// To one of these.
    To(Vec<String>),
}

/// What Azure has, and what is desired.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// What Azure has.
    pub old: Option<&'a Value>,
    /// What is desired.
    pub new: Option<&'a Value>,
}

/// The rules of a kind.
pub fn of(kind: &KindInfo) -> Vec<Edit> {
    let descriptions = Descriptions::shared(kind.group);
    let rules = descriptions.edits(kind.kind).iter();
    rules.filter_map(|rule| Edit::parse(rule)).collect()
}

/// The rule that decides about an edit, and what the edit takes; nothing where no rule is sure.
pub fn judge<'e>(
    edits: &'e [Edit],
    schema_path: &str,
    values: Values<'_>,
) -> Option<(Takes, &'e Edit)> {
    let judged = edits.iter().filter_map(|edit| {
        let takes = edit.judge(schema_path, values)?;
        Some((takes, edit))
    });
    let judged: Vec<_> = judged.collect();
    // One rule that allows it says nothing about another that does not.
    let is_against = |(takes, _): &&(Takes, &Edit)| *takes != Takes::InPlace;
    let against = judged.iter().find(is_against);
    against.or(judged.first()).copied()
}

impl Edit {
    /// Reads a rule; nothing where it cannot be read, which `gen` refuses.
    pub fn parse(rule: &str) -> Option<Self> {
        let (path, text) = rule.split_once(' ')?;
        let (fate, condition) = text.split_once(' ').unwrap_or((text, ""));
        let takes = match fate {
            "refused" => Takes::Refused,
            "replaced" => Takes::Replacement,
            _ => return None,
        };
        let condition = match condition {
            "" => None,
            _ => Some(Condition::parse(condition)?),
        };
        Some(Self {
            path: path.to_owned(),
            takes,
            condition,
            text: text.to_owned(),
        })
    }

    fn judge(&self, schema_path: &str, values: Values<'_>) -> Option<Takes> {
        let rest = schema_path.strip_prefix(self.path.as_str())?;
        let Some(condition) = &self.condition else {
            // Where Azure shows none, or the spec leaves it to Azure, nobody can be sure that it is an edit of the value.
            let is_edit = values.old.is_some() && values.new.is_some();
            let is_here = rest.is_empty() || rest.starts_with(['.', '[']);
            return (is_edit && is_here).then_some(self.takes);
        };
        let is_this = rest.is_empty().then(|| condition.change.is(values))??;
        match (condition.is_exception, is_this) {
            (true, true) => Some(Takes::InPlace),
            (true, false) | (false, true) => Some(self.takes),
            (false, false) => None,
        }
    }
}

impl Condition {
    fn parse(text: &str) -> Option<Self> {
        let (when, edit) = text.split_once(' ')?;
        let is_exception = match when {
            "unless" => true,
            "when" => false,
            _ => return None,
        };
        let (edit, values) = edit.split_once(' ').unwrap_or((edit, ""));
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        let change = match edit {
            "larger" => Kind::Larger,
            "smaller" => Kind::Smaller,
            "later" => Kind::Later,
            "unset" => Kind::Unset,
            "removed" => Kind::Removed,
            "rising" => Kind::Rising(words(values)),
            "among" => Kind::Among(values.split(" or ").map(words).collect()),
            "from" => Kind::From(words(values)),
            "to" => Kind::To(words(values)),
            _ => return None,
        };
        Some(Self {
            is_exception,
            change,
        })
    }
}

impl Kind {
    /// Whether a change is of this kind; nothing where the values do not tell.
    fn is(&self, values: Values<'_>) -> Option<bool> {
        match self {
            Self::Unset => return Some(values.old.is_none()),
            Self::Removed => return Some(values.new.is_none()),
            _ => {}
        }
        let (old, new) = (values.old?, values.new?);
        let (from, to) = (text(old)?, text(new)?);
        let place = |list: &[String], text: &str| {
            let mut list = list.iter();
            list.position(|one| one.eq_ignore_ascii_case(text))
        };
        let has = |list: &[String], text: &str| place(list, text).is_some();
        Some(match self {
            Self::Larger => old.as_f64()? < new.as_f64()?,
            Self::Smaller => old.as_f64()? > new.as_f64()?,
            Self::Later => is_later(&parts(&from)?, &parts(&to)?)?,
            Self::Rising(order) => match (place(order, &from), place(order, &to)) {
                (Some(from), Some(to)) => from < to,
                _ => false,
            },
            Self::Among(sets) => sets.iter().any(|set| has(set, &from) && has(set, &to)),
            Self::From(list) => has(list, &from),
            Self::To(list) => has(list, &to),
            Self::Unset | Self::Removed => return None,
        })
    }
}

/// A plain value as a rule writes it.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The numbers of a version.
fn parts(version: &str) -> Option<Vec<u64>> {
    let parts = version.split('.').map(|part| part.parse().ok());
    parts.collect()
}

/// Whether a version is a later one. `8.0` is neither earlier nor later than `8.0.21`.
fn is_later(from: &[u64], to: &[u64]) -> Option<bool> {
    let differs = from.iter().zip(to).find(|(from, to)| from != to);
    differs.map(|(from, to)| to > from)
}

#[cfg(test)]
#[path = "edits/tests.rs"]
mod tests;

//! Answers to "why is it so": which source, heuristic and rule made a kind or a property what it is.
//!
//! The passes note their decisions in the model ([`crate::model::Origin`]); here they are found again and put
//! together. Nothing is worked out anew, so an explanation cannot differ from what was generated.

mod kind;
mod path;
mod text;

use serde::Serialize;

pub use kind::{KindExplanation, KindFacts, KindVersion};
pub use path::{Form, Part, PropertyExplanation, Reason};

use crate::curation::{GroupConfig, nearest};
use crate::model::{Group, MissingType};

/// What is asked about: `[GROUP/]KIND[.spec|.status[.PROPERTY]…]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Group, where one is named.
    pub group: Option<String>,
    /// Kind.
    pub kind: String,
    /// Names from the kind down; `spec` or `status` first.
    pub path: Vec<String>,
}

impl Question {
    /// Reads `network/VirtualNetwork.spec.subnets`. Items of lists need no step of their own; `[]` is ignored.
    pub fn parse(text: &str) -> Self {
        let (group, rest) = match text.split_once('/') {
            Some((group, rest)) => (Some(group.to_owned()), rest),
            None => (None, text),
        };
        let mut names = rest
            .split('.')
            .map(|name| name.trim_end_matches("[]").to_owned());
        Self {
            group,
            kind: names.next().unwrap_or_default(),
            path: names.collect(),
        }
    }

    /// Whether a group's file may have the answer.
    pub fn concerns(&self, config: &GroupConfig) -> bool {
        let is_group = self
            .group
            .as_ref()
            .is_none_or(|it| *it == config.rules.group);
        is_group && config.rules.kinds.contains_key(self.kind.as_str())
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Explanation {
    /// About a kind.
    Kind(KindExplanation),
    /// About a property.
    Property(PropertyExplanation),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExplainError {
    /// There is no such group.
    #[error("there is no group `{group}`; {hint}")]
    UnknownGroup {
        /// What was asked about.
        group: String,
        /// The nearest group, or all of them.
        hint: String,
    },
    /// No group has the kind.
    #[error("there is no kind `{kind}`; {hint}")]
    UnknownKind {
        /// What was asked about.
        kind: String,
        /// The nearest kind, or all of them.
        hint: String,
    },
    /// No api-version has the property.
    #[error("`{at}` has no `{name}` in any api-version; {hint}")]
    UnknownProperty {
        /// Path so far.
        at: String,
        /// The name that was not found.
        name: String,
        /// The nearest name, or all of them.
        hint: String,
    },
    /// A type refers to one that is not there.
    #[error(transparent)]
    Missing(#[from] MissingType),
}

/// Answers a question about a curated group.
///
/// # Errors
/// When the group has no such kind or property: see [`ExplainError`].
pub fn explain(
    group: &Group,
    config: &GroupConfig,
    question: &Question,
) -> Result<Explanation, ExplainError> {
    let Some(rules) = config.rules.kinds.get_key_value(question.kind.as_str()) else {
        return Err(unknown_kind(question, std::slice::from_ref(config)));
    };
    if question.path.is_empty() {
        Ok(Explanation::Kind(kind::explain(group, config, rules)))
    } else {
        path::explain(group, question).map(Explanation::Property)
    }
}

/// The error for a kind that none of the groups has.
pub fn unknown_kind(question: &Question, configs: &[GroupConfig]) -> ExplainError {
    let groups: Vec<&str> = configs.iter().map(|it| it.rules.group.as_str()).collect();
    if let Some(group) = question
        .group
        .as_ref()
        .filter(|it| !groups.contains(&it.as_str()))
    {
        return ExplainError::UnknownGroup {
            group: group.clone(),
            hint: hint(group, groups),
        };
    }
    let is_asked = |config: &&GroupConfig| {
        let group = question.group.as_ref();
        group.is_none_or(|group| *group == config.rules.group)
    };
    let kinds = configs
        .iter()
        .filter(is_asked)
        .flat_map(|config| config.rules.kinds.keys())
        .map(|kind| kind.get_ref().as_str());
    ExplainError::UnknownKind {
        kind: question.kind.clone(),
        hint: hint(&question.kind, kinds.collect()),
    }
}

/// The nearest of some names, else all of them.
fn hint(name: &str, known: Vec<&str>) -> String {
    match nearest(name, known.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None if known.is_empty() => "there is nothing below it".to_owned(),
        None => format!("there are: {}", known.join(", ")),
    }
}

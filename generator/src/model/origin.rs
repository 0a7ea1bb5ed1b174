//! Where properties come from and what made them what they are: for people, and for judging rules. Nothing that is
//! generated depends on it.

use std::borrow::Cow;
use std::fmt;

/// Origin of a property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Spec file and JSON pointer of the definition; empty where the operator adds the property.
    pub source: String,
    /// What decided something about it, in that order.
    pub decisions: Vec<Decision>,
}

/// One decision about a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Who decided.
    pub by: DecidedBy,
    /// What, and why.
    pub what: Cow<'static, str>,
}

/// Who decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// The spec says so.
    Spec,
    /// The spec of another source or api-version of the same ARM type says so.
    Inherited,
    /// The generator found it.
    Heuristic,
    /// A curation file lists the type as a part.
    Part,
    /// A curation file keeps the kind's envelope.
    Envelope,
    /// A curation file lists the type, by this name, as one of which only the id stays.
    IdOnly(String),
    /// A rule of a curation file says so, at this `file:line`.
    Rule(String),
}

impl Decision {
    /// What the spec says.
    pub fn spec(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(DecidedBy::Spec, what)
    }

    /// What was taken from another spec.
    pub fn inherited(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(DecidedBy::Inherited, what)
    }

    /// What the generator found.
    pub fn heuristic(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(DecidedBy::Heuristic, what)
    }

    /// What the list of parts of a curation file says.
    pub fn part(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(DecidedBy::Part, what)
    }

    /// That only the id of a type stays, because a curation file lists it by this name.
    pub fn id_only(name: String) -> Self {
        let what = format!("only the id is left: `{name}` is among `id-only`");
        Self::new(DecidedBy::IdOnly(name), what)
    }

    /// That `properties` stays, because a curation file says so of the kind.
    pub fn envelope() -> Self {
        Self::new(
            DecidedBy::Envelope,
            "stays where it is: `envelope = \"keep\"`",
        )
    }

    /// What a curation file says `at` file and line.
    pub fn rule(at: impl Into<String>, what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(DecidedBy::Rule(at.into()), what)
    }

    fn new(by: DecidedBy, what: impl Into<Cow<'static, str>>) -> Self {
        Self {
            by,
            what: what.into(),
        }
    }
}

impl fmt::Display for DecidedBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Spec => "spec",
            Self::Inherited => "inherited",
            Self::Heuristic => "heuristic",
            Self::Part => "part",
            Self::Envelope => "envelope",
            Self::IdOnly(_) => "id-only",
            Self::Rule(_) => "rule",
        })
    }
}

/// A property that a pass left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Name it would have.
    pub name: String,
    /// Member names in ARM from the enclosing object down.
    pub arm: Vec<String>,
    /// Where it comes from; the last decision is why it is left out.
    pub origin: Origin,
}

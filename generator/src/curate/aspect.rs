//! The single statements that a rule about a property makes, so that each can be judged alone.

use super::config::{PlainType, PropertyRule, Side, Treatment};

/// One statement of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Aspect {
    /// `as`.
    Treatment,
    /// `rename`.
    Rename,
    /// `was`.
    Was,
    /// `type`.
    Type,
    /// `values`.
    Values,
    /// `required`.
    Required,
    /// `side`.
    Side,
    /// `versions`.
    Versions,
}

impl Aspect {
    const ALL: [Self; 8] = [
        Self::Treatment,
        Self::Rename,
        Self::Was,
        Self::Type,
        Self::Values,
        Self::Required,
        Self::Side,
        Self::Versions,
    ];

    /// Whether it only says where the others hold.
    pub fn is_restriction(self) -> bool {
        matches!(self, Self::Side | Self::Versions)
    }
}

impl PropertyRule {
    /// What the rule states.
    pub(super) fn aspects(&self) -> impl Iterator<Item = Aspect> {
        let stated = Aspect::ALL.into_iter();
        stated.filter(|aspect| self.written(*aspect).is_some())
    }

    /// The rule without one of its statements.
    pub(super) fn without(&self, aspect: Aspect) -> Self {
        let mut rule = self.clone();
        match aspect {
            Aspect::Treatment => rule.treatment = None,
            Aspect::Rename => rule.rename = None,
            Aspect::Was => rule.was = None,
            Aspect::Type => rule.ty = None,
            Aspect::Values => rule.values = None,
            Aspect::Required => rule.required = None,
            Aspect::Side => rule.side = None,
            Aspect::Versions => rule.versions = None,
        }
        rule
    }

    /// A statement as the file writes it, if the rule makes it.
    pub(super) fn written(&self, aspect: Aspect) -> Option<String> {
        let text = |key: &str, word: &str| format!("{key} = \"{word}\"");
        match aspect {
            Aspect::Treatment => self.treatment.map(|it| text("as", it.word())),
            Aspect::Rename => self.rename.as_deref().map(|name| text("rename", name)),
            Aspect::Was => self.was.as_deref().map(|name| text("was", name)),
            Aspect::Type => self.ty.map(|ty| text("type", ty.word())),
            Aspect::Values => self.values.as_ref().map(|it| format!("values = {it:?}")),
            Aspect::Required => self.required.map(|it| format!("required = {it}")),
            Aspect::Side => self.side.map(|side| text("side", side.word())),
            Aspect::Versions => self.versions.as_ref().map(|versions| {
                let names: Vec<&str> = versions.iter().map(|it| it.get_ref().as_str()).collect();
                format!("versions = {names:?}")
            }),
        }
    }
}

impl Treatment {
    /// The word that stands for it in a file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::WellKnownReference => "well-known-reference",
            Self::Plain => "plain",
            Self::Secret => "secret",
            Self::SecretMap => "secret-map",
            Self::ConfigMap => "config-map",
            Self::ConfigMapRequired => "config-map-required",
            Self::ChildKind => "child-kind",
            Self::Remove => "remove",
            Self::Flatten => "flatten",
        }
    }
}

impl PlainType {
    /// The word that stands for it in a file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Json => "json",
            Self::StringMap => "string-map",
        }
    }
}

impl Side {
    /// The word that stands for it in a file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Spec => "spec",
            Self::Status => "status",
        }
    }
}

//! Whose credential an object was claimed with.

/// Whose credential an object was claimed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimedWith {
    /// The operator's own.
    Operator,
    /// That of the object's namespace.
    Namespace,
    /// One that the object names.
    Object,
}

impl ClaimedWith {
    /// As the annotation `claimed-with` has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Namespace => "namespace",
            Self::Object => "object",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let all = [Self::Operator, Self::Namespace, Self::Object];
        all.into_iter().find(|word| word.as_str() == text)
    }
}

//! Annotations whose text means nothing.

use std::fmt;

use armature_shapes::quote::shortened;

/// An annotation whose text means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Its name.
    pub(super) annotation: &'static str,
    /// Its text.
    pub(super) text: String,
    /// The namespace that has it; the object itself where there is none.
    pub(super) namespace: Option<String>,
    /// What it should be.
    pub(super) expected: &'static str,
}

impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            annotation,
            text,
            expected,
            ..
        } = self;
        write!(formatter, "annotation {annotation}")?;
        if let Some(namespace) = &self.namespace {
            write!(formatter, " of namespace {namespace}")?;
        }
        let text = shortened(text);
        write!(formatter, ": '{text}' is unknown, expected {expected}")
    }
}

//! What a takeover does not do without a word.

use serde::Serialize;

/// Something that a takeover does not do without a word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exception {
    /// What it is about.
    pub of: String,
    /// What it is.
    pub message: String,
    /// What the chart is to be told so that nothing changes.
    #[serde(skip)]
    pub answer: Option<Answer>,
}

/// A value of the chart that settles an exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The value, with dots between the names on the way to it.
    pub value: &'static str,
    /// What it has to be; nothing where it has to be there, and is not shown.
    pub expected: Option<String>,
}

impl Exception {
    /// One that no value settles.
    pub fn new(of: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            of: of.into(),
            message: message.into(),
            answer: None,
        }
    }
}

//! The text of a curation file, to turn offsets into places.

use std::ops::Range;

use super::error::Problem;

/// Text of a file.
#[derive(Clone, Debug)]
pub(super) struct Text(String);

impl Text {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Line and column (from 1) of an offset.
    pub fn place(&self, offset: usize) -> (usize, usize) {
        let before = self.0.get(..offset).unwrap_or(&self.0);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (line, before[start..].chars().count() + 1)
    }

    /// A problem at the start of a span.
    pub fn problem(&self, span: Range<usize>, message: String) -> Problem {
        let (line, column) = self.place(span.start);
        Problem {
            line,
            column,
            message,
        }
    }
}

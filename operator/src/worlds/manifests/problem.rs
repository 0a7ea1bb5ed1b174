//! What is wrong with an input, and where.

use std::fmt;
use std::sync::Arc;

/// A path in a manifest, and what is wrong there.
pub type Wrong = (String, String);

/// Where a document is from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// Position of the file among the inputs, from 0.
    pub order: usize,
    /// The file as it was named or found; shared by everything that is from it.
    pub file: Arc<str>,
    /// Position of the document in the file, from 1; 0 stands for the whole file.
    pub document: usize,
    /// Which of the items, from 0, where the document is a `List`.
    pub item: Option<usize>,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.document, self.item) {
            (0, _) => formatter.write_str(&self.file),
            (number, None) => write!(formatter, "{}: document {number}", self.file),
            (number, Some(item)) => {
                write!(formatter, "{}: document {number}: items[{item}]", self.file)
            }
        }
    }
}

/// One problem: `FILE: document N: KIND NAMESPACE/NAME: PATH: what is wrong and what to do`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// File and document.
    pub origin: Origin,
    /// Kind, namespace and name, as far as they are known.
    pub object: Option<String>,
    /// Path in the document, for example `spec.owner.name`; empty for the whole document.
    pub path: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl Problem {
    /// A problem of a whole document.
    pub fn of_document(origin: &Origin, message: impl Into<String>) -> Self {
        Self::at(origin, "", message)
    }

    /// A problem at a path.
    pub fn at(origin: &Origin, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            origin: origin.clone(),
            object: None,
            path: path.into(),
            message: message.into(),
        }
    }

    /// The same problem, of this object.
    pub fn of(mut self, object: impl Into<String>) -> Self {
        self.object = Some(object.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ", self.origin)?;
        if let Some(object) = &self.object {
            write!(formatter, "{object}: ")?;
        }
        if !self.path.is_empty() {
            write!(formatter, "{}: ", self.path)?;
        }
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

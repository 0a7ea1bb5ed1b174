//! What pages tell of kinds beside the specs: what people wrote by hand, found by whoever knows the workspace.

use std::collections::BTreeMap;

/// Notes by short name of the group and kind.
#[derive(Clone, Debug, Default)]
pub struct Notes(BTreeMap<(String, String), KindNotes>);

/// What is told of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindNotes {
    /// A manifest of it.
    pub example: Option<Example>,
    /// Handwritten extensions of it.
    pub extensions: Vec<Extension>,
}

/// A manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// File that it stands in, relative to the workspace.
    pub file: String,
    /// The manifest, without a line break at its end.
    pub text: String,
}

/// A handwritten extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// When it is called: `Before a PUT`.
    pub about: String,
    /// What it does, in a sentence.
    pub what: String,
    /// Files that it stands in, relative to the workspace, as code.
    pub files: String,
}

impl Notes {
    /// The notes of a kind, to add to.
    pub fn of_mut(&mut self, group: &str, kind: &str) -> &mut KindNotes {
        let key = (group.to_owned(), kind.to_owned());
        self.0.entry(key).or_default()
    }

    /// The notes of a kind.
    pub fn of(&self, group: &str, kind: &str) -> KindNotes {
        let key = (group.to_owned(), kind.to_owned());
        self.0.get(&key).cloned().unwrap_or_default()
    }
}

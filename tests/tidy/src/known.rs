//! What the workspace does not keep to yet. The lists only shrink.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::tree::Tree;

/// Where the list is.
pub const PATH: &str = "tests/tidy/known.toml";

/// `known.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Known {
    /// Files and folders that import each other in a circle.
    pub circles: Vec<Members>,
    /// Files that are too long, by path.
    pub files: Vec<String>,
    /// Functions that are too long, as `file.rs: function`; the file is the end of a path.
    pub functions: Vec<String>,
    /// Words of Azure services that `runtime` may say.
    pub services: Vec<Allowance>,
}

/// The members of a circle.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Members {
    /// Paths; folders end with `/`.
    pub members: BTreeSet<String>,
}

/// A word that is allowed in some place.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowance {
    /// The word as it is found.
    pub word: String,
    /// End of the path of the file; everywhere if it is missing.
    pub file: Option<String>,
    /// Why it is no knowledge about the service.
    pub because: String,
}

/// Reads the list of this workspace.
pub fn read(tree: &Tree) -> Result<Known> {
    let text = tree
        .text(PATH)
        .with_context(|| format!("there is no {PATH}: write an empty file"))?;
    toml::from_str(text).with_context(|| format!("{PATH} cannot be read"))
}

/// Whether the path ends with these names, whole names only.
pub fn ends_with(path: &str, end: &str) -> bool {
    path == end
        || path
            .strip_suffix(end)
            .is_some_and(|before| before.ends_with('/'))
}

/// Compares what is found with what is known: what is new is told as it is, what is gone must leave the list.
pub fn compare(found: &[(String, String)], known: &[String], what: &str) -> Vec<String> {
    let fits = |name: &str, listed: &String| ends_with(name, listed);
    let new = found
        .iter()
        .filter(|(name, _)| !known.iter().any(|listed| fits(name, listed)));
    let gone = known
        .iter()
        .filter(|listed| !found.iter().any(|(name, _)| fits(name, listed)));
    let gone = gone.map(|listed| {
        format!(
            "{PATH} lists the {what} `{listed}`, which is no longer one. Take it out of the list."
        )
    });
    new.map(|(_, message)| message.clone())
        .chain(gone)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_and_what_is_gone_is_told() {
        let found = [
            ("x/a.rs: f".to_owned(), "f is long".to_owned()),
            ("x/b.rs: g".to_owned(), "g is long".to_owned()),
        ];
        let known = ["b.rs: g".to_owned(), "c.rs: h".to_owned()];
        let told = compare(&found, &known, "long function");
        assert_eq!(told.len(), 2);
        assert_eq!(told[0], "f is long");
        assert!(told[1].contains("`c.rs: h`") && told[1].ends_with("Take it out of the list."));
    }

    #[test]
    fn ends_are_whole_names() {
        assert!(ends_with("a/kind.rs", "kind.rs") && !ends_with("a/mankind.rs", "kind.rs"));
    }
}

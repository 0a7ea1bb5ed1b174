//! The files of a workspace: read once from disk, or given in memory by tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};

/// Endings of the files that the checks read. Of others only the path is known.
const READ: [&str; 6] = [
    ".rs",
    ".toml",
    ".md",
    ".yml",
    ".ci/run",
    "devcontainer.json",
];

/// Folders that hold nothing written by hand.
const SKIPPED: [&str; 3] = [".git", "target", "node_modules"];

/// Files by their path from the root of the workspace, with `/` between folders.
#[derive(Debug, Default)]
pub struct Tree {
    texts: BTreeMap<String, String>,
    paths: BTreeSet<String>,
}

impl Tree {
    /// Reads the workspace at this folder.
    pub fn read(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    /// Files in memory.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.texts.insert((*path).to_owned(), (*text).to_owned());
            let ends = path.match_indices('/').map(|(at, _)| at);
            for end in ends.chain([path.len()]) {
                tree.paths.insert(path[..end].to_owned());
            }
        }
        tree
    }

    /// The text of a file that is read ([`READ`]).
    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// Whether there is a file or a folder at this path.
    pub fn has(&self, path: &str) -> bool {
        path.is_empty() || self.paths.contains(path)
    }

    /// Files whose path begins and ends so, with their texts, in the order of their paths.
    pub fn files<'a>(
        &'a self,
        start: &'a str,
        end: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.texts
            .range(start.to_owned()..)
            .take_while(move |(path, _)| path.starts_with(start))
            .filter(move |(path, _)| path.ends_with(end))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Rust files that people wrote, tests included. Templates of Rust are no Rust.
    pub fn handwritten(&self) -> impl Iterator<Item = (&str, &str)> {
        let written = |path: &str| !path.starts_with("generated/") && !path.contains("/templates/");
        self.files("", ".rs").filter(move |(path, _)| written(path))
    }

    fn read_folder(&mut self, folder: &Path, name: &str) -> Result<()> {
        let at = || format!("reading {}", folder.display());
        for entry in std::fs::read_dir(folder).with_context(at)? {
            let entry = entry.with_context(at)?;
            let own = entry.file_name().to_string_lossy().into_owned();
            if SKIPPED.contains(&own.as_str()) {
                continue;
            }
            let path = if name.is_empty() {
                own
            } else {
                format!("{name}/{own}")
            };
            if entry.file_type().with_context(at)?.is_dir() {
                self.read_folder(&entry.path(), &path)?;
            } else if READ.iter().any(|end| path.ends_with(end)) {
                let text = std::fs::read_to_string(entry.path())
                    .with_context(|| format!("reading {}", entry.path().display()))?;
                self.texts.insert(path.clone(), text);
            }
            self.paths.insert(path);
        }
        Ok(())
    }
}

/// Whether everything in this Rust file is a test or a helper of tests.
pub fn is_test_file(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let file = parts.next().unwrap_or_default();
    let folders: Vec<&str> = parts.collect();
    // `tests/` at the root holds crates, whose `src` is code like any other.
    let inner = folders.len().saturating_sub(1);
    file == "tests.rs"
        || folders[..inner].contains(&"tests")
        || folders[..inner].contains(&"benches")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_files_in_memory_are_there() {
        let tree = Tree::of(&[("a/b/c.rs", ""), ("a/d.md", "")]);
        assert!(tree.has("a/b") && tree.has("a/b/c.rs") && !tree.has("b"));
        assert_eq!(tree.files("a/", ".md").count(), 1);
    }

    #[test]
    fn tests_are_known_by_their_place() {
        for (path, expected) in [
            ("runtime/src/arm/id.rs", false),
            ("runtime/src/arm/id/tests.rs", true),
            ("runtime/src/driver/tests/create.rs", true),
            ("operator/tests/crash.rs", true),
            ("tests/bench/src/lib.rs", false),
            ("tests/bench/tests/all.rs", true),
        ] {
            assert_eq!(is_test_file(path), expected, "{path}");
        }
    }
}

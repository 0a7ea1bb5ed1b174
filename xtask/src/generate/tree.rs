//! What the tree on disk lacks to be what was generated.

use std::{collections::BTreeMap, fmt};

use anyhow::Context;
use armature_generator::emit::CHART_FILES;
use camino::{Utf8Path, Utf8PathBuf};

use crate::{sources, workspace};

/// Folders in which every file is generated.
const FOLDERS: [&str; 2] = ["generated", "docs/reference"];

/// Which part of the tree a run is about.
#[derive(Debug)]
pub struct Scope(Vec<String>);

impl Scope {
    /// These groups, or everything when there are none.
    pub fn new(groups: &[String]) -> Self {
        Self(groups.to_vec())
    }

    /// Whether all groups are meant, and with them what lies across groups.
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a generated file, relative to the workspace, is part of it.
    pub fn contains(&self, path: &Utf8Path) -> bool {
        if self.is_everything() {
            return path == sources::LOCK_FILE
                || CHART_FILES.contains(&path.as_str())
                || FOLDERS.iter().any(|folder| path.starts_with(folder));
        }
        // Crates are named after groups, with a dash for a dot.
        self.0.iter().any(|group| {
            path.starts_with(format!("generated/{}", group.replace('.', "-")))
                || path == Utf8Path::new(&format!("docs/reference/{group}.md"))
                || path.starts_with(format!("docs/reference/{group}/"))
        })
    }
}

/// One file that is not as generated.
#[derive(Debug, PartialEq, Eq)]
pub enum Change {
    /// It does not exist.
    Missing(Utf8PathBuf),
    /// It has other content.
    Different(Utf8PathBuf),
    /// Nothing generates it any more.
    Leftover(Utf8PathBuf),
}

impl Change {
    /// Whether the file is written, not deleted.
    pub fn is_write(&self) -> bool {
        !matches!(self, Self::Leftover(_))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(path) => write!(f, "missing   {path}"),
            Self::Different(path) => write!(f, "stale     {path}"),
            Self::Leftover(path) => write!(f, "leftover  {path}"),
        }
    }
}

/// Compares the tree at `root` with `files`.
pub fn changes(
    root: &Utf8Path,
    scope: &Scope,
    files: &BTreeMap<Utf8PathBuf, String>,
) -> anyhow::Result<Vec<Change>> {
    let mut changes = Vec::new();
    for (path, text) in files {
        match std::fs::read(root.join(path)) {
            Ok(bytes) if bytes == text.as_bytes() => {}
            Ok(_) => changes.push(Change::Different(path.clone())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                changes.push(Change::Missing(path.clone()));
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
        }
    }
    for folder in FOLDERS {
        for file in workspace::files_below(&root.join(folder))? {
            let path = Utf8Path::new(folder).join(file);
            if scope.contains(&path) && !files.contains_key(&path) {
                changes.push(Change::Leftover(path));
            }
        }
    }
    Ok(changes)
}

/// Writes and deletes what `changes` names, and folders that are empty then.
pub fn apply(
    root: &Utf8Path,
    files: &BTreeMap<Utf8PathBuf, String>,
    changes: &[Change],
) -> anyhow::Result<()> {
    for change in changes {
        match change {
            Change::Missing(path) | Change::Different(path) => {
                if let Some(text) = files.get(path) {
                    workspace::write(&root.join(path), text)?;
                }
            }
            Change::Leftover(path) => {
                std::fs::remove_file(root.join(path))
                    .with_context(|| format!("cannot delete {path}"))?;
                // Fails for the first folder that still has something in it, which is the one to stop at.
                let _ = path
                    .ancestors()
                    .skip(1)
                    .take_while(|folder| !FOLDERS.contains(&folder.as_str()))
                    .try_for_each(|folder| std::fs::remove_dir(root.join(folder)));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        for (path, text) in files {
            workspace::write(&root.join(path), text).unwrap();
        }
        (folder, root)
    }

    fn generated(files: &[(&str, &str)]) -> BTreeMap<Utf8PathBuf, String> {
        let entry = |(path, text): &(&str, &str)| (Utf8PathBuf::from(path), (*text).to_owned());
        files.iter().map(entry).collect()
    }

    #[test]
    fn a_run_makes_the_tree_equal_and_a_second_finds_nothing() {
        let (_keep, root) = tree(&[
            ("generated/a/src/lib.rs", "old"),
            ("generated/a/src/gone/deep.rs", ""),
            ("docs/reference/a.md", "same"),
            ("docs/book.toml", "handwritten"),
        ]);
        let files = generated(&[
            ("generated/a/src/lib.rs", "new"),
            ("generated/a/Cargo.toml", ""),
            ("docs/reference/a.md", "same"),
        ]);
        let scope = Scope::new(&[]);
        let found = changes(&root, &scope, &files).unwrap();
        assert_eq!(
            found,
            [
                Change::Missing("generated/a/Cargo.toml".into()),
                Change::Different("generated/a/src/lib.rs".into()),
                Change::Leftover("generated/a/src/gone/deep.rs".into()),
            ]
        );
        apply(&root, &files, &found).unwrap();
        assert_eq!(changes(&root, &scope, &files).unwrap(), []);
        assert!(!root.join("generated/a/src/gone").exists());
        assert!(root.join("docs/book.toml").exists());
    }

    #[test]
    fn one_group_leaves_the_others_alone() {
        let (_keep, root) = tree(&[
            ("generated/a/src/old.rs", ""),
            ("generated/b/src/old.rs", ""),
            ("generated/all/src/lib.rs", ""),
        ]);
        let scope = Scope::new(&["a".to_owned()]);
        let found = changes(&root, &scope, &BTreeMap::new()).unwrap();
        assert_eq!(found, [Change::Leftover("generated/a/src/old.rs".into())]);
    }
}

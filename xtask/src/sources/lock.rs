//! `specs/specs.lock.toml`: repository, commit and the hash of each file used, by source.

use std::collections::BTreeMap;

use anyhow::Context;
use armature_generator::load::{is_bicep_file, path_in_copy};
use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::BICEP_TYPES;
use crate::{git, workspace};

/// Path of the lock, relative to the workspace.
pub const LOCK_FILE: &str = "specs/specs.lock.toml";

const HEADER: &str = "\
# Spec files that `generated/` is made from. `cargo xtask gen` keeps the list, `cargo xtask specs update` moves to
# another commit. Not edited by hand.

";

/// The lock file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// Sources in order of use.
    pub source: Vec<Source>,
}

/// One repository of specs at one commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Our name, also the folder's name in a local copy.
    pub name: String,
    /// `owner/name` on GitHub.
    pub repository: String,
    /// Full commit id; a branch, where it is not known at which commit the pinned files were taken: their hashes alone
    /// tell them then.
    pub commit: String,
    /// Path in the repository → SHA-256 in hex. Only files that generation reads.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

/// How a local copy compares with the lock.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Number of files with the pinned hash.
    pub unchanged: usize,
    /// Files that are not there.
    pub missing: Vec<String>,
    /// Files with another hash.
    pub changed: Vec<String>,
}

impl Lock {
    /// Reads the lock of the workspace at `root`.
    pub fn read(root: &Utf8Path) -> anyhow::Result<Self> {
        Self::parse(&workspace::read(&root.join(LOCK_FILE))?, LOCK_FILE)
    }

    /// Reads the lock as it is committed at a revision.
    pub fn committed(root: &Utf8Path, revision: &str) -> anyhow::Result<Self> {
        let text = git::read(root, revision, Utf8Path::new(LOCK_FILE))?;
        Self::parse(&text, &format!("{LOCK_FILE} of {revision}"))
    }

    fn parse(text: &str, name: &str) -> anyhow::Result<Self> {
        toml::from_str(text).with_context(|| format!("{name} is not a lock file"))
    }

    /// The file's text: the same for the same content.
    pub fn render(&self) -> anyhow::Result<String> {
        Ok(format!("{HEADER}{}", toml::to_string(self)?))
    }

    /// Writes the lock of the workspace at `root`.
    pub fn write(&self, root: &Utf8Path) -> anyhow::Result<()> {
        workspace::replace(&root.join(LOCK_FILE), self.render()?)
    }

    /// The source with this name.
    pub fn source(&self, name: &str) -> anyhow::Result<&Source> {
        self.source
            .iter()
            .find(|source| source.name == name)
            .with_context(|| {
                let known = self.source.iter().map(|source| source.name.as_str());
                let known: Vec<&str> = known.collect();
                format!(
                    "{LOCK_FILE} has no source named `{name}`; it has: {}",
                    known.join(", ")
                )
            })
    }

    /// This lock for exactly `files` of a source, hashed in the copy at `folder`. A file that is pinned already must
    /// have its pinned hash, so that nothing is generated from other specs than the lock names.
    pub fn for_files(
        &self,
        name: &str,
        folder: &Utf8Path,
        files: &[String],
    ) -> anyhow::Result<Self> {
        let pinned = self.source(name)?;
        let mut hashes = BTreeMap::new();
        for file in files {
            let found = hash_file(folder, file)?;
            if let Some(expected) = pinned.files.get(file).filter(|hash| **hash != found) {
                anyhow::bail!(
                    "{} differs from the file that {LOCK_FILE} pins at commit {} (SHA-256 {found}, pinned \
                     {expected}). Use a copy of that commit (`cargo xtask specs fetch`), or move to another \
                     with `cargo xtask specs update COMMIT`",
                    path_in_copy(folder, file),
                    pinned.commit
                );
            }
            hashes.insert(file.clone(), found);
        }
        Ok(self.with_files(name, hashes, None))
    }

    /// This lock with a source at another commit: exactly `files` of it, hashed in the copy at `folder`.
    pub fn moved(
        &self,
        name: &str,
        commit: &str,
        folder: &Utf8Path,
        files: &[String],
    ) -> anyhow::Result<Self> {
        let hashes = files
            .iter()
            .map(|file| Ok((file.clone(), hash_file(folder, file)?)))
            .collect::<anyhow::Result<_>>()?;
        Ok(self.with_files(name, hashes, Some(commit)))
    }

    fn with_files(
        &self,
        name: &str,
        files: BTreeMap<String, String>,
        commit: Option<&str>,
    ) -> Self {
        let mut lock = self.clone();
        for source in lock.source.iter_mut().filter(|source| source.name == name) {
            source.files.clone_from(&files);
            if let Some(commit) = commit {
                commit.clone_into(&mut source.commit);
            }
        }
        lock
    }
}

impl Source {
    /// Those of `files` that are in this source.
    pub fn own(&self, files: impl IntoIterator<Item = String>) -> Vec<String> {
        let is_own = |file: &String| is_bicep_file(file) == (self.name == BICEP_TYPES);
        files.into_iter().filter(is_own).collect()
    }

    /// Compares the copy at `folder` with the pinned hashes.
    pub fn compare(&self, folder: &Utf8Path) -> anyhow::Result<Comparison> {
        let mut comparison = Comparison::default();
        for (file, expected) in &self.files {
            if !path_in_copy(folder, file).is_file() {
                comparison.missing.push(file.clone());
            } else if hash_file(folder, file)? == *expected {
                comparison.unchanged += 1;
            } else {
                comparison.changed.push(file.clone());
            }
        }
        Ok(comparison)
    }
}

impl Comparison {
    /// Whether every pinned file is there with its hash.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.changed.is_empty()
    }
}

/// SHA-256 in lower-case hex.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn hash_file(folder: &Utf8Path, file: &str) -> anyhow::Result<String> {
    let path = path_in_copy(folder, file);
    let bytes =
        std::fs::read(&path).with_context(|| format!("cannot read the spec file {path}"))?;
    Ok(hash(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock() -> Lock {
        Lock {
            source: vec![Source {
                name: "specs".into(),
                repository: "owner/specs".into(),
                commit: "abc".into(),
                files: BTreeMap::from([
                    ("a.json".into(), hash(b"a")),
                    ("b.json".into(), hash(b"b")),
                ]),
            }],
        }
    }

    fn copy(files: &[(&str, &str)]) -> (tempfile::TempDir, camino::Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = camino::Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        for (name, text) in files {
            std::fs::write(path.join(name), text).unwrap();
        }
        (folder, path)
    }

    #[test]
    fn text_round_trips() {
        let text = lock().render().unwrap();
        assert_eq!(toml::from_str::<Lock>(&text).unwrap(), lock());
        assert!(text.starts_with("# "), "{text}");
    }

    #[test]
    fn compares_a_copy() {
        let (_keep, path) = copy(&[("a.json", "changed")]);
        let comparison = lock().source[0].compare(&path).unwrap();
        assert_eq!(comparison.changed, ["a.json"]);
        assert_eq!(comparison.missing, ["b.json"]);
        assert!(!comparison.is_complete());
    }

    #[test]
    fn the_list_follows_what_is_read() {
        let (_keep, path) = copy(&[("a.json", "a"), ("c.json", "c")]);
        let files = ["a.json".to_owned(), "c.json".to_owned()];
        let next = lock().for_files("specs", &path, &files).unwrap();
        let names: Vec<&String> = next.source[0].files.keys().collect();
        assert_eq!(names, ["a.json", "c.json"]);
    }

    #[test]
    fn generating_from_other_bytes_is_refused_until_the_lock_moves() {
        let (_keep, path) = copy(&[("a.json", "new"), ("b.json", "b")]);
        let error = lock()
            .for_files("specs", &path, &["a.json".to_owned()])
            .unwrap_err()
            .to_string();
        assert!(error.contains("specs update"), "{error}");
        let pinned = lock()
            .moved("specs", "def", &path, &["a.json".to_owned()])
            .unwrap();
        assert_eq!(pinned.source[0].commit, "def");
        assert_eq!(pinned.source[0].files["a.json"], hash(b"new"));
    }
}

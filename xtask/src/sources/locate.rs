//! Finds a copy of a spec source on this machine.

use std::fmt;

use armature_generator::load::path_in_copy;
use camino::{Utf8Path, Utf8PathBuf};

use super::{BICEP_TYPES, Source};

/// Environment variable that names a folder with spec sources.
const VARIABLE: &str = "ARMATURE_AZURE_DATA";
/// Where a copy may lie beside the clone, relative to the workspace.
const BESIDE: &str = "../shared/azure";

/// A copy and how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecFolder {
    /// Root of the source: the folder that the lock's paths are relative to.
    pub path: Utf8PathBuf,
    /// How it was found.
    pub origin: Origin,
}

/// How a copy was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `--from`.
    Flag,
    /// The environment variable.
    Variable,
    /// The folder beside the clone.
    Beside,
    /// Filled by `specs fetch`.
    Cache,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flag => "--from",
            Self::Variable => "$ARMATURE_AZURE_DATA",
            Self::Beside => "found beside the clone",
            Self::Cache => "cache folder",
        })
    }
}

/// Finds the copy of `source`. A place that was named must have it; the others are tried in turn.
pub fn locate(
    root: &Utf8Path,
    source: &Source,
    from: Option<&Utf8Path>,
) -> anyhow::Result<SpecFolder> {
    let (path, origin) = data_folder(root, from);
    if let Some(found) = in_folder(source, &path) {
        return Ok(SpecFolder {
            path: found,
            origin,
        });
    }
    anyhow::ensure!(
        origin == Origin::Beside,
        "{path} ({origin}) holds no copy of {}: expected one in {path}/{}, or {path} itself to be one",
        source.repository,
        source.name
    );
    in_folder(source, &cache_folder(source)?)
        .map(|path| SpecFolder {
            path,
            origin: Origin::Cache,
        })
        .ok_or_else(|| {
            anyhow::anyhow!(
                "no copy of {} at commit {} on this machine. Get the pinned files with `cargo xtask specs fetch`, or \
                 point --from or ${VARIABLE} at a folder that holds {}/",
                source.repository,
                source.commit,
                source.name
            )
        })
}

/// The copy to generate from: as [`locate`], but a complete copy in the cache wins over one that was not named for this
/// run and is not what is pinned, as it is after an update.
pub fn current(
    root: &Utf8Path,
    source: &Source,
    from: Option<&Utf8Path>,
) -> anyhow::Result<SpecFolder> {
    if from.is_none()
        && let Some(path) = in_folder(source, &cache_folder(source)?)
        && pinned(root, source).is_ok_and(|found| found == path)
    {
        let origin = Origin::Cache;
        return Ok(SpecFolder { path, origin });
    }
    locate(root, source, from)
}

/// A copy that has every pinned file of `source` with its hash: in the cache folder or in the folder with Azure's data.
pub fn pinned(root: &Utf8Path, source: &Source) -> anyhow::Result<Utf8PathBuf> {
    let places = [data_folder(root, None).0, cache_folder(source)?];
    for folder in places.iter().filter_map(|place| in_folder(source, place)) {
        if source.compare(&folder)?.is_complete() {
            return Ok(folder);
        }
    }
    anyhow::bail!(
        "no copy of {} has the files that are pinned at commit {}; looked in {} and {}",
        source.repository,
        source.commit,
        places[0],
        places[1]
    )
}

/// The folder with Azure's data: `from`, else the variable, else beside the clone, whether it exists or not.
pub fn data_folder(root: &Utf8Path, from: Option<&Utf8Path>) -> (Utf8PathBuf, Origin) {
    let variable = || {
        std::env::var(VARIABLE)
            .ok()
            .filter(|value| !value.is_empty())
    };
    if let Some(from) = from {
        (from.to_owned(), Origin::Flag)
    } else if let Some(value) = variable() {
        (value.into(), Origin::Variable)
    } else {
        (root.join(BESIDE), Origin::Beside)
    }
}

/// Where `specs fetch` puts a source.
pub fn cache_folder(source: &Source) -> anyhow::Result<Utf8PathBuf> {
    let root = armature_controlplane::cache_root()?;
    let path = root.join("specs").join(&source.commit);
    Utf8PathBuf::from_path_buf(path)
        .map_err(|path| anyhow::anyhow!("the cache folder {} is not UTF-8", path.display()))
}

/// `folder` itself or its subfolder with the source's name, whichever looks like the repository.
fn in_folder(source: &Source, folder: &Utf8Path) -> Option<Utf8PathBuf> {
    [folder.join(&source.name), folder.to_owned()]
        .into_iter()
        .find(|path| is_copy(source, path))
        .map(|path| path.canonicalize_utf8().unwrap_or(path))
}

/// Whether a folder looks like the repository. One of Bicep types has no folder that is always there.
fn is_copy(source: &Source, path: &Utf8Path) -> bool {
    if source.name != BICEP_TYPES {
        return path.join("specification").is_dir();
    }
    source.files.keys().any(|file| {
        let file = path_in_copy(path, file);
        file.parent().is_some_and(Utf8Path::is_dir)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Source {
        Source {
            name: "specs".into(),
            repository: "owner/specs".into(),
            commit: "abc".into(),
            files: std::collections::BTreeMap::default(),
        }
    }

    #[test]
    fn a_named_folder_is_used_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        let error = locate(&path, &source(), Some(&path))
            .unwrap_err()
            .to_string();
        assert!(error.contains("expected"), "{error}");
        std::fs::create_dir_all(path.join("specs/specification")).unwrap();
        let found = locate(&path, &source(), Some(&path)).unwrap();
        assert_eq!(found.path, path.join("specs"));
        let found = locate(&path, &source(), Some(&path.join("specs"))).unwrap();
        assert_eq!(found.path, path.join("specs"));
    }
}

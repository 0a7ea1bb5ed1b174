//! Finding `etcd` and `kube-apiserver`, or getting them: one folder per version in the user's cache.
//!
//! Order: `KUBEBUILDER_ASSETS`; the cache; the official release binaries ([`download`]); a build with Go from their
//! modules ([`build`]). The last two fill the cache, under a lock, so that any number of tests may ask at once.

pub(crate) mod build;
mod download;

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use armature_progress::Progress;

use crate::Error;

/// Version of `kube-apiserver` that is downloaded or built.
pub const KUBERNETES_VERSION: &str = "v1.34.4";
/// Version of `etcd` that is downloaded or built.
pub const ETCD_VERSION: &str = "v3.6.4";

const ETCD: &str = "etcd";
const KUBE_APISERVER: &str = "kube-apiserver";

/// Paths of the two programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binaries {
    /// The `etcd` program.
    pub etcd: PathBuf,
    /// The `kube-apiserver` program.
    pub kube_apiserver: PathBuf,
}

impl Binaries {
    /// Finds both programs, downloading or building them if they are nowhere yet. A build takes about 7 minutes on
    /// two cores, once per version.
    ///
    /// # Errors
    /// Says what to install or set when there is no way to get them.
    pub async fn locate_or_install(progress: &Progress) -> Result<Self, Error> {
        if let Some(folder) = std::env::var_os("KUBEBUILDER_ASSETS").filter(|v| !v.is_empty()) {
            return Self::in_assets(Path::new(&folder));
        }
        let parent = cache_root()?.join("controlplane");
        let folder = parent.join(KUBERNETES_VERSION);
        if let Some(found) = Self::in_folder(&folder) {
            return Ok(found);
        }
        std::fs::create_dir_all(&parent).map_err(Error::file("create", &parent))?;
        let _lock = lock(&parent.join(format!("{KUBERNETES_VERSION}.lock")), progress).await?;
        if let Some(found) = Self::in_folder(&folder) {
            return Ok(found);
        }
        install(&parent, &folder, progress).await?;
        Ok(Self::paths(&folder))
    }

    fn in_assets(folder: &Path) -> Result<Self, Error> {
        let missing = [ETCD, KUBE_APISERVER]
            .into_iter()
            .find(|name| !folder.join(name).is_file());
        match missing {
            None => Ok(Self::paths(folder)),
            Some(missing) => Err(Error::AssetsIncomplete {
                folder: folder.to_owned(),
                missing,
            }),
        }
    }

    fn in_folder(folder: &Path) -> Option<Self> {
        let paths = Self::paths(folder);
        (paths.etcd.is_file() && paths.kube_apiserver.is_file()).then_some(paths)
    }

    fn paths(folder: &Path) -> Self {
        Self {
            etcd: folder.join(ETCD),
            kube_apiserver: folder.join(KUBE_APISERVER),
        }
    }
}

/// Fills `folder` by download or build. Work happens in a temporary folder beside it, so that a folder with the
/// version's name is always complete.
async fn install(parent: &Path, folder: &Path, progress: &Progress) -> Result<(), Error> {
    let work = tempfile::Builder::new()
        .prefix("install-")
        .tempdir_in(parent)
        .map_err(Error::file("create a folder in", parent))?;
    let out = work.path().join("bin");
    std::fs::create_dir(&out).map_err(Error::file("create", &out))?;
    if let Err(error) = download::release_binaries(&out, progress).await {
        progress.line(&format!(
            "no release binaries ({error}); building them with Go"
        ));
        build::with_go(work.path(), &out, &error.to_string(), progress).await?;
    }
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Error::file("replace", folder)(error));
        }
        _ => {}
    }
    std::fs::rename(&out, folder).map_err(Error::file("create", folder))?;
    progress.line(&format!(
        "kube-apiserver {KUBERNETES_VERSION} and etcd {ETCD_VERSION} are in {}",
        folder.display()
    ));
    Ok(())
}

/// Armature's folder in the user's cache: `$XDG_CACHE_HOME/armature`, else `~/.cache/armature`.
///
/// # Errors
/// Neither `XDG_CACHE_HOME` nor `HOME` is set.
pub fn cache_root() -> Result<PathBuf, Error> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let base = match (set("XDG_CACHE_HOME"), set("HOME")) {
        (Some(cache), _) => PathBuf::from(cache),
        (None, Some(home)) => PathBuf::from(home).join(".cache"),
        (None, None) => return Err(Error::NoCacheFolder),
    };
    Ok(base.join("armature"))
}

/// Takes the exclusive lock on `path`; it is released when the file is dropped, or its process ends.
pub(crate) async fn lock(path: &Path, progress: &Progress) -> Result<File, Error> {
    let file = File::create(path).map_err(Error::file("create", path))?;
    if file.try_lock().is_ok() {
        return Ok(file);
    }
    progress.line("waiting for another process that gets the same programs");
    let shown = path.to_owned();
    tokio::task::spawn_blocking(move || file.lock().map(|()| file))
        .await
        .unwrap_or_else(|error| Err(std::io::Error::other(error)))
        .map_err(Error::file("lock", shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assets_must_hold_both() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("etcd"), "").unwrap();
        let error = Binaries::in_assets(folder.path()).unwrap_err().to_string();
        assert!(error.contains("kube-apiserver is not there"), "{error}");
        std::fs::write(folder.path().join("kube-apiserver"), "").unwrap();
        assert!(Binaries::in_assets(folder.path()).is_ok());
    }

    #[tokio::test]
    async fn lock_is_exclusive_and_released_on_drop() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = lock(&path, &Progress::silent()).await.unwrap();
        assert!(File::open(&path).unwrap().try_lock().is_err());
        drop(held);
        assert!(File::open(&path).unwrap().try_lock().is_ok());
    }
}

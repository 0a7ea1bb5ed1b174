//! The real `kubectl`, for tests of what users see: from `PATH` where it is new enough, else built with Go into the user's
//! cache, of the version of the API server.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use armature_progress::Progress;
use serde_json::Value;
use tokio::process::Command;

use crate::binaries::{build, lock};
use crate::{Error, KUBERNETES_VERSION, cache_root};

const PACKAGE: &str = "k8s.io/kubernetes/cmd/kubectl";

/// Oldest minor version of 1 whose reading of manifests is today's.
const OLDEST_MINOR: u32 = 32;

/// Finds `kubectl`, building it if it is nowhere yet: 2 minutes on two cores, once per version.
///
/// # Errors
/// Says what to install when it can be neither found nor built.
pub async fn locate_or_build_kubectl(progress: &Progress) -> Result<PathBuf, Error> {
    let on_path = Path::new("kubectl");
    if minor_version(on_path)
        .await
        .is_some_and(|minor| minor >= OLDEST_MINOR)
    {
        return Ok(on_path.to_owned());
    }
    let parent = cache_root()?.join("kubectl");
    let folder = parent.join(KUBERNETES_VERSION);
    let program = folder.join("kubectl");
    if program.is_file() {
        return Ok(program);
    }
    std::fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
    let _lock = lock(&parent.join(format!("{KUBERNETES_VERSION}.lock")), progress).await?;
    if !program.is_file() {
        let work = tempfile::Builder::new()
            .prefix("build-")
            .tempdir_in(&parent)
            .map_err(Error::file("create a folder in", &parent))?;
        let built = work.path().join("kubectl");
        build::one_with_go(work.path(), &built, "kubectl", PACKAGE, progress).await?;
        // The program has its name when it is complete.
        std::fs::rename(&built, &program).map_err(Error::file("create", &program))?;
    }
    Ok(program)
}

/// Minor version of a kubectl; `None` where there is none.
async fn minor_version(program: &Path) -> Option<u32> {
    let output = Command::new(program)
        .args(["version", "--client", "--output", "json"])
        .stdin(Stdio::null())
        .output()
        .await
        .ok()?;
    let version: Value = serde_json::from_slice(&output.stdout).ok()?;
    let minor = version["clientVersion"]["minor"].as_str()?;
    minor.trim_end_matches('+').parse().ok()
}

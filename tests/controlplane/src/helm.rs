//! The real `helm`, for tests of the chart: from `PATH`, else built with Go from its module into the user's cache.

use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::Command;

use crate::binaries::lock;
use armature_progress::Progress;

use crate::{Error, LogTail, cache_root};

/// Version of helm that is built where there is none.
pub const HELM_VERSION: &str = "v3.19.0";
const PACKAGE: &str = "helm.sh/helm/v3/cmd/helm";

/// Finds `helm`, building it if it is nowhere yet: 3 minutes on two cores, once per version.
///
/// # Errors
/// Says what to install when it can be neither found nor built.
pub async fn locate_or_build_helm(progress: &Progress) -> Result<PathBuf, Error> {
    if let Some(found) = on_path("helm") {
        return Ok(found);
    }
    let parent = cache_root()?.join("helm");
    let folder = parent.join(HELM_VERSION);
    let program = folder.join("helm");
    if program.is_file() {
        return Ok(program);
    }
    std::fs::create_dir_all(&parent).map_err(Error::file("create", &parent))?;
    let _lock = lock(&parent.join(format!("{HELM_VERSION}.lock")), progress).await?;
    if !program.is_file() {
        progress.line(&format!("building helm {HELM_VERSION} with Go"));
        // A folder with the version's name is always complete: Go moves the finished program into it.
        build(&folder).await?;
    }
    Ok(program)
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
}

async fn build(folder: &PathBuf) -> Result<(), Error> {
    let output = Command::new("go")
        .args(["install", "-ldflags", "-s -w"])
        .arg(format!("{PACKAGE}@{HELM_VERSION}"))
        .env("GOBIN", folder)
        .env("CGO_ENABLED", "0")
        .env("GOFLAGS", "-buildvcs=false")
        .env("GOWORK", "off")
        .stdin(Stdio::null())
        .output()
        .await
        .map_err(|source| Error::HelmMissing { source })?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::GoBuild {
        package: PACKAGE,
        log: LogTail::of(&String::from_utf8_lossy(&output.stderr)),
    })
}

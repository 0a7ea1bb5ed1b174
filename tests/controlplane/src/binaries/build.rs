//! Builds programs of Kubernetes with Go, from their modules.
//!
//! `go/go.mod` pins them as tools, with a `replace` for every `k8s.io` staging module, which their own repository
//! resolves by folders that a module proxy does not serve; `go/go.sum` pins the content.

use std::{path::Path, process::Stdio};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
};

use super::KUBERNETES_VERSION;
use armature_progress::Progress;

use crate::{Error, LogTail};

const GO_MOD: &str = include_str!("../../go/go.mod");
const GO_SUM: &str = include_str!("../../go/go.sum");
/// Oldest Go that builds the pinned versions.
const MINIMUM_GO: &str = "1.24";

/// (program, Go package)
const PACKAGES: [(&str, &str); 2] = [
    ("etcd", "go.etcd.io/etcd/server/v3"),
    ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
];

/// Builds both into `out`, with `work` as the module's folder. `download` says why they were not downloaded.
///
/// # Errors
/// Go is missing or too old, or the build fails.
pub(super) async fn with_go(
    work: &Path,
    out: &Path,
    download: &str,
    progress: &Progress,
) -> Result<(), Error> {
    check_go(download).await?;
    for (program, package) in PACKAGES {
        one_with_go(work, &out.join(program), program, package, progress).await?;
    }
    Ok(())
}

/// Builds one program of the modules, with `work` as the module's folder.
///
/// # Errors
/// The build fails.
pub(crate) async fn one_with_go(
    work: &Path,
    program_path: &Path,
    program: &str,
    package: &'static str,
    progress: &Progress,
) -> Result<(), Error> {
    for (name, text) in [("go.mod", GO_MOD), ("go.sum", GO_SUM)] {
        let path = work.join(name);
        std::fs::write(&path, text).map_err(Error::file("write", &path))?;
    }
    progress.line(&format!("building {program} with Go"));
    build(work, program_path, program, package, progress).await
}

async fn check_go(download: &str) -> Result<(), Error> {
    let missing = || Error::GoMissing {
        download: download.to_owned(),
        minimum: MINIMUM_GO,
    };
    let output = Command::new("go")
        .args(["env", "GOVERSION"])
        .env("GOTOOLCHAIN", "local")
        .output()
        .await
        .map_err(|_| missing())?;
    let found = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if is_at_least(&found, MINIMUM_GO) {
        Ok(())
    } else {
        Err(Error::GoTooOld {
            found,
            minimum: MINIMUM_GO,
        })
    }
}

/// Whether a version as `go env GOVERSION` prints it, such as `go1.26.8`, is `minimum` or newer. Development
/// versions (`devel …`) count as new.
fn is_at_least(found: &str, minimum: &str) -> bool {
    let parse = |text: &str| -> Option<(u32, u32)> {
        let mut parts = text.split(|c: char| !c.is_ascii_digit());
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    match (found.strip_prefix("go").and_then(parse), parse(minimum)) {
        (Some(found), Some(minimum)) => found >= minimum,
        _ => found.starts_with("devel"),
    }
}

async fn build(
    work: &Path,
    program_path: &Path,
    program: &str,
    package: &'static str,
    progress: &Progress,
) -> Result<(), Error> {
    let version_flag =
        format!("-s -w -X k8s.io/component-base/version.gitVersion={KUBERNETES_VERSION}");
    let mut child = Command::new("go")
        .args(["build", "-v", "-ldflags", &version_flag, "-o"])
        .arg(program_path)
        .arg(package)
        .current_dir(work)
        .env("CGO_ENABLED", "0")
        .env("GOFLAGS", "-mod=mod -buildvcs=false")
        .env("GOWORK", "off")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|source| Error::Spawn {
            program: "go".to_owned(),
            source,
        })?;
    let mut log = String::new();
    let mut compiled = 0_u32;
    if let Some(stderr) = child.stderr.take() {
        let mut lines = BufReader::new(stderr).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some(module) = line.strip_prefix("go: downloading ") {
                progress.update(&format!("{program}: fetching {module}"));
            } else {
                compiled += 1;
                progress.update(&format!("{program}: {compiled} packages compiled, {line}"));
            }
            log.push_str(&line);
            log.push('\n');
        }
    }
    let status = child.wait().await.map_err(|source| Error::Spawn {
        program: "go".to_owned(),
        source,
    })?;
    if status.success() {
        return Ok(());
    }
    Err(Error::GoBuild {
        package,
        log: LogTail::of(&log),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ETCD_VERSION;

    #[test]
    fn compares_go_versions() {
        for (found, expected) in [
            ("go1.24.0", true),
            ("go1.26.8", true),
            ("go1.25rc1", true),
            ("go1.9", false),
            ("go1.23.9", false),
            ("devel go1.27-abc", true),
            ("", false),
        ] {
            assert_eq!(is_at_least(found, MINIMUM_GO), expected, "{found}");
        }
    }

    #[test]
    fn module_file_pins_the_versions_of_the_constants() {
        let pins = |module: &str, version: &str| {
            GO_MOD
                .lines()
                .any(|line| line.trim().starts_with(&format!("{module} {version}")))
        };
        assert!(pins("k8s.io/kubernetes", KUBERNETES_VERSION));
        assert!(pins("go.etcd.io/etcd/server/v3", ETCD_VERSION));
    }
}

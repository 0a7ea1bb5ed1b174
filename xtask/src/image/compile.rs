//! The static binary: `cargo build` for musl.

use anyhow::Context;
use armature_progress::Progress;
use camino::{Utf8Path, Utf8PathBuf};
use tokio::process::Command;

use crate::{programs::Profile, workspace};

/// Addresses are settled by the linker: `operator/build.rs` says why, and does it for glibc.
const RUSTFLAGS: &str = "['-Crelocation-model=static']";

/// Builds the operator for a target, with its symbols, and returns where it is.
pub async fn binary(
    root: &Utf8Path,
    target: &str,
    progress: &Progress,
) -> anyhow::Result<Utf8PathBuf> {
    add_target(target).await?;
    progress.line(&format!("building armature for {target}"));
    let status = Command::new(workspace::cargo())
        .args(["build", "--locked", "--package", "armature"])
        .args(["--profile", Profile::Image.name(), "--target", target])
        .args([
            "--config",
            &format!("profile.{}.strip=false", Profile::Image.name()),
        ])
        .args([
            "--config",
            &format!("target.{target}.rustflags={RUSTFLAGS}"),
        ])
        .current_dir(root)
        .status()
        .await
        .context("cannot start cargo")?;
    anyhow::ensure!(
        status.success(),
        "cargo build for {target} failed; it needs a C compiler for that target, such as the Debian package musl-tools"
    );
    let folder = std::env::var("CARGO_TARGET_DIR")
        .map_or_else(|_| root.join("target"), |folder| root.join(folder));
    let folder = folder.join(target).join(Profile::Image.name());
    Ok(folder.join("armature"))
}

/// Gets the standard library for a target. Toolchains without rustup are expected to have it.
async fn add_target(target: &str) -> anyhow::Result<()> {
    match Command::new("rustup")
        .args(["target", "add", target])
        .output()
        .await
    {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).context("cannot start rustup"),
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => anyhow::bail!(
            "rustup target add {target} failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ),
    }
}

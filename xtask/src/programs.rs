//! Builds programs of the workspace and finds out where cargo put them.

use std::path::PathBuf;

use anyhow::Context;
use camino::Utf8Path;
use serde::Deserialize;
use tokio::process::Command;

use crate::workspace;

/// The lines of `--message-format=json` that matter here.
#[derive(Deserialize)]
struct Message {
    target: Option<Target>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

/// How programs are built. Each is a profile of the workspace's Cargo.toml.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// As `cargo build` does.
    Dev,
    /// Optimised, and linked quickly.
    Release,
    /// As users get it.
    Image,
}

impl Profile {
    /// Its name for `cargo build --profile`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Release => "release",
            Self::Image => "image",
        }
    }
}

/// Builds packages whose programs have their names, and returns the programs in the same order. Cargo shows its own
/// progress.
///
/// # Errors
/// When cargo cannot be run or the build fails.
pub async fn build<const N: usize>(
    root: &Utf8Path,
    packages: [&str; N],
    profile: Profile,
) -> anyhow::Result<[PathBuf; N]> {
    let mut command = Command::new(workspace::cargo());
    command.args(["build", "--message-format=json-render-diagnostics"]);
    for package in packages {
        command.args(["--package", package]);
    }
    command.args(["--bins", "--profile", profile.name()]);
    let output = command
        .current_dir(root)
        .stderr(std::process::Stdio::inherit())
        .kill_on_drop(true)
        .output()
        .await
        .context("cannot run cargo build")?;
    anyhow::ensure!(output.status.success(), "cargo build failed, see above");
    let messages = String::from_utf8_lossy(&output.stdout);
    let mut programs = packages.map(|_| PathBuf::new());
    for (program, package) in programs.iter_mut().zip(packages) {
        *program = executable(&messages, package)?;
    }
    Ok(programs)
}

fn executable(messages: &str, name: &str) -> anyhow::Result<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok())
        .filter(|message| {
            message
                .target
                .as_ref()
                .is_some_and(|target| target.name == name)
        })
        .find_map(|message| message.executable)
        .with_context(|| format!("cargo built no program `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_program_among_cargos_messages() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"armature"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"armature"},"executable":"/t/armature"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(
            executable(messages, "armature").unwrap(),
            PathBuf::from("/t/armature")
        );
        assert!(executable(messages, "armature-simulator").is_err());
    }
}

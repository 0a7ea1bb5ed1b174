//! `cargo xtask test`: every test of the workspace, with what they need made ready first, and `parity` after them.

use std::process::ExitCode;

use anyhow::Context;
use armature_controlplane::Binaries;
use armature_progress::Progress;
use clap::Args;

use crate::{parity, workspace};

/// Arguments of `test`.
#[derive(Debug, Args)]
pub struct TestArguments {
    /// Try every version of every kind in tests of properties, not only the newest.
    #[arg(long)]
    all: bool,

    /// Arguments for `cargo test` in place of --workspace, for example `-p armature-reconcile` and a test's name.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    rest: Vec<String>,
}

/// Gets the control plane first, with progress, so that no test seems to hang while it is built; then `cargo test`,
/// and after all tests the comparison with Azure Service Operator.
pub async fn run(arguments: &TestArguments) -> anyhow::Result<ExitCode> {
    let root = workspace::root()?;
    Binaries::locate_or_install(&Progress::new()).await?;
    let mut command = tokio::process::Command::new(workspace::cargo());
    command.arg("test");
    if arguments.rest.is_empty() {
        command.arg("--workspace");
    }
    if arguments.all {
        command.env("ARMATURE_ALL_VERSIONS", "1");
    }
    let status = command
        .args(&arguments.rest)
        .current_dir(root)
        .status()
        .await
        .context("cannot run cargo test")?;
    if !status.success() {
        return Ok(ExitCode::FAILURE);
    }
    match arguments.rest.is_empty() {
        true => parity::check().await,
        false => Ok(ExitCode::SUCCESS),
    }
}

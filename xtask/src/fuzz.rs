//! `cargo xtask fuzz`: changed specs for the generator, from those on this machine, or random histories for the operator.
//!
//! Cases and their watching are `armature-fuzz` and `armature-history`, which this builds optimised; here is only what
//! they start from.

use std::process::ExitCode;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use crate::{sources, survey, workspace};

/// Our small specs, relative to the workspace.
const SMALL: &str = "generator/tests/specs";

/// Arguments of `fuzz`.
#[derive(Debug, Args)]
pub struct FuzzArguments {
    /// Start from our small specs only, not from those of Azure on this machine.
    #[arg(long)]
    small: bool,
    #[command(flatten)]
    copy: sources::CopyArguments,
    /// Random histories of objects for the operator, in place of specs for the generator.
    #[arg(long, conflicts_with = "small")]
    histories: bool,
    /// Further arguments: --minutes N, --seed N, --jobs N, --limit SECONDS; --case NUMBER runs one case again. With
    /// --histories: --minutes N, --seed N, --jobs N, --kind KIND; --replay FILE runs one history again.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    rest: Vec<String>,
}

/// Folders of specs to start from.
fn trees(root: &Utf8Path, arguments: &FuzzArguments) -> anyhow::Result<Vec<Utf8PathBuf>> {
    let mut trees = vec![root.join(SMALL)];
    if !arguments.small {
        let folders = survey::folders(root, arguments.copy.from.as_deref())?;
        trees.extend(folders.into_iter().map(|(_, folder)| folder));
    }
    Ok(trees)
}

/// Runs `fuzz`. It fails when something was found.
pub async fn run(arguments: &FuzzArguments) -> anyhow::Result<ExitCode> {
    let root = workspace::root()?;
    let mut command = tokio::process::Command::new(workspace::cargo());
    command.args(["run", "--release", "--package"]);
    if arguments.histories {
        command.args(["armature-history", "--"]);
    } else {
        command.args(["armature-fuzz", "--"]);
        for tree in trees(&root, arguments)? {
            command.args(["--tree", tree.as_str()]);
        }
    }
    let status = command
        .args(&arguments.rest)
        .current_dir(&root)
        .status()
        .await
        .context("cannot run cargo")?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

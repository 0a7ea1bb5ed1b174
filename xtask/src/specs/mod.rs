//! `cargo xtask specs`: says how the copy of Azure's spec files here compares with what is pinned ([`status`]), gets one
//! ([`fetch`]), and moves to another commit ([`update`]).
//!
//! What does not live here: what is pinned and where a copy is ([`crate::sources`]), and reading specs, which is the
//! generator's part.

mod fetch;
mod status;
mod update;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::sources::{CopyArguments, Lock, upstream};
use crate::workspace;

/// Arguments of `specs`.
#[derive(Debug, Args)]
pub struct SpecsArguments {
    #[command(subcommand)]
    command: SpecsCommand,
}

#[derive(Debug, Subcommand)]
enum SpecsCommand {
    /// Say what is pinned, where a copy was found, and whether it is complete.
    Status(CopyArguments),
    /// Get the pinned files into the cache folder, from GitHub or from a local copy, checking every hash.
    Fetch(fetch::FetchArguments),
    /// Hash every pinned file of the copy; exit 1 and list those that are missing or differ.
    Verify(CopyArguments),
    /// Get another commit, say in words what it changes for users, and pin it. When anything is wrong with it, the lock
    /// stays as it is.
    Update(update::UpdateArguments),
}

/// Where files are downloaded from.
#[derive(Debug, Args)]
pub struct MirrorArguments {
    /// Server to download from, with files at REPOSITORY/COMMIT/FILE below this URL.
    #[arg(long, value_name = "URL", default_value = upstream::GITHUB)]
    pub mirror: String,
}

/// Runs `specs`.
pub async fn run(arguments: SpecsArguments) -> anyhow::Result<ExitCode> {
    let root = workspace::root()?;
    let lock = Lock::read(&root)?;
    match arguments.command {
        SpecsCommand::Status(copy) => status::status(&root, &lock, copy.from.as_deref()),
        SpecsCommand::Verify(copy) => status::verify(&root, &lock, copy.from.as_deref()),
        SpecsCommand::Fetch(arguments) => fetch::fetch(&root, &lock, &arguments).await,
        SpecsCommand::Update(arguments) => update::update(&root, &lock, &arguments).await,
    }
}

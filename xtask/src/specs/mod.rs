//! `cargo xtask specs`: which of Azure's spec files the project is generated from, and where they are here.
//!
//! The lock ([`lock`]) pins each source's repository, commit and files. Spec files are not committed: [`locate`] finds
//! a copy on this machine, [`fetch`] gets one, [`update`] moves to another commit. Reading specs is the generator's part.

mod fetch;
mod locate;
mod lock;
mod status;
mod update;
mod upstream;

use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

pub use locate::{Origin, current, data_folder, locate, pinned};
pub use lock::{LOCK_FILE, Lock, Source, hash};

use crate::workspace;

/// Reasons for what all groups differ in from Azure Service Operator's, beside the folders of groups.
pub const PARITY_FILE: &str = "specs/parity.toml";
/// The source of OpenAPI documents.
pub const AZURE_SPECS: &str = "azure-rest-api-specs";
/// The source of Bicep types.
pub const BICEP_TYPES: &str = "bicep-types";

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

/// Which copy to use.
#[derive(Debug, Args)]
pub struct CopyArguments {
    /// Folder that holds azure-rest-api-specs and bicep-types. Default: $ARMATURE_AZURE_DATA, else ../shared/azure beside
    /// the workspace, else what `specs fetch` put into the cache folder.
    #[arg(long, value_name = "DIR")]
    pub from: Option<Utf8PathBuf>,
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

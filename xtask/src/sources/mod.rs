//! Which of Azure's spec files the project is generated from, and where they are here.
//!
//! The lock ([`lock`]) pins each source's repository, commit and files. Spec files are not committed: [`locate`] finds
//! a copy on this machine, and [`upstream`] downloads one.
//!
//! What does not live here: the command that people give ([`crate::specs`]).

pub mod locate;
mod lock;
pub mod upstream;

use camino::Utf8PathBuf;
use clap::Args;

pub use locate::{Origin, current, data_folder, locate, pinned};
pub use lock::{LOCK_FILE, Lock, Source, hash};

/// Reasons for what all groups differ in from Azure Service Operator's, beside the folders of groups.
pub const EXCEPTIONS_FILE: &str = "specs/exceptions.toml";

/// What of Azure Service Operator is lacking, and why, relative to the workspace.
pub const LACKING_FILE: &str = "specs/lacking.toml";

/// What later releases of Azure Service Operator have changed, relative to the workspace.
pub const RELEASES_FILE: &str = "specs/releases.toml";

/// The source of OpenAPI documents.
pub const AZURE_SPECS: &str = "azure-rest-api-specs";
/// The source of Bicep types.
pub const BICEP_TYPES: &str = "bicep-types";

/// Which copy to use.
#[derive(Debug, Args)]
pub struct CopyArguments {
    /// Folder that holds azure-rest-api-specs and bicep-types. Default: $ARMATURE_AZURE_DATA, else ../shared/azure beside
    /// the workspace, else what `specs fetch` put into the cache folder.
    #[arg(long, value_name = "DIR")]
    pub from: Option<Utf8PathBuf>,
}

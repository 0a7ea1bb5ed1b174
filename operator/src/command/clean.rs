//! `armature clean crds`, for who is used to `asoctl`: [`super::crd_storage`] does it.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::cluster::ClusterArguments;
use super::crd_storage::MigrateArguments;

/// Arguments of `armature clean`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature clean crds --dry-run")]
pub struct CleanArguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The same as `armature crds migrate` for all CRDs, under the name that asoctl has for it.
    Crds(CleanCrdsArguments),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature clean crds --dry-run           Which stored versions of which CRDs would be cleaned
  armature clean crds                     Writes objects anew that may be stored at these, and has the CRDs forget them

`armature crds migrate --help` says what it does and when nothing of it is needed.")]
struct CleanCrdsArguments {
    /// Only tell what would be done.
    #[arg(long)]
    dry_run: bool,

    /// Nothing: what is done is told anyway.
    #[arg(long, hide = true, conflicts_with = "quiet")]
    verbose: bool,

    /// Tell only what could not be done.
    #[arg(long, hide_short_help = true, conflicts_with = "dry_run")]
    quiet: bool,

    #[command(flatten)]
    way: ClusterArguments,
}

impl CleanArguments {
    /// Cleans, or tells what would be cleaned.
    ///
    /// # Errors
    /// When the cluster cannot be read, or has no such CRD.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let What::Crds(arguments) = self.what;
        MigrateArguments::of_all(arguments.dry_run, arguments.quiet, arguments.way).run()
    }
}

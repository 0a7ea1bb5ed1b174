//! `armature version`.

use std::process::ExitCode;

use clap::Args;

/// Arguments of `armature version`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature version")]
pub struct VersionArguments {}

impl VersionArguments {
    /// Prints the version.
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        super::output::print(concat!("armature ", env!("CARGO_PKG_VERSION"), "\n"))?;
        Ok(ExitCode::SUCCESS)
    }
}

//! `cargo xtask new-kind`: proposes the lines of a curation file that export an ARM type, from specs or from Bicep types.
//!
//! The search is `armature_generator::propose`; here is only finding the input, printing and writing.

use std::process::ExitCode;

use armature_generator::curation::GroupConfig;
use armature_generator::propose::propose;
use armature_progress::Progress;
use clap::Args;

use crate::generate::{curation_files, state::spec_root};
use crate::{output, sources, workspace};

/// Arguments of `new-kind`.
#[derive(Debug, Args)]
pub struct NewKindArguments {
    /// ARM type, by provider or group: `Microsoft.Network/routeTables` or `network/routeTables`.
    #[arg(value_name = "GROUP/TYPE")]
    wanted: String,
    /// Also write the lines into the curation file. They have been tried: the group can be generated with them.
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    copy: sources::CopyArguments,
}

/// Runs `new-kind`.
pub fn run(arguments: &NewKindArguments) -> anyhow::Result<ExitCode> {
    let root = workspace::root()?;
    let lock = sources::Lock::read(&root)?;
    let from = arguments.copy.from.as_deref();
    let spec_root = spec_root(&lock, |source| {
        Ok(sources::locate(&root, source, from)?.path)
    })?;
    let progress = Progress::new();
    progress.line(&format!(
        "looking for `{}` in Azure's specs and Bicep types, and trying the lines for it",
        arguments.wanted
    ));
    let mut configs = Vec::new();
    for (path, text) in curation_files(&root)? {
        configs.push((GroupConfig::parse(path.as_str(), &text)?, text));
    }
    let proposal = propose(&spec_root, &configs, &arguments.wanted)?;
    drop(progress);
    output::print(&proposal.text())?;
    if arguments.write {
        let mut configs = configs.iter();
        let known = configs.find(|(config, _)| config.path == proposal.path);
        let text = proposal.merged(known.map(|(_, text)| text.as_str()));
        workspace::replace(&root.join(&proposal.path), text)?;
        eprintln!("{} is written; run `cargo xtask gen` next", proposal.path);
    }
    Ok(ExitCode::SUCCESS)
}

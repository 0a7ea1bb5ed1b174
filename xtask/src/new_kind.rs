//! `cargo xtask new-kind`: proposes the lines of a curation file that export an ARM type, or a whole group as Azure Service
//! Operator has it, from specs or from Bicep types.
//!
//! The search is `armature_generator::propose`; here is only finding the input, printing and writing.

use std::process::ExitCode;

use armature_generator::curation::GroupConfig;
use armature_generator::load::SpecRoot;
use armature_generator::propose::{
    GroupProposal, Proposal, Target, TargetKind, TargetSchema, propose, propose_group,
    propose_replacement,
};
use armature_progress::Progress;
use camino::Utf8Path;
use clap::Args;

use crate::generate::{curation_files, state::spec_root};
use crate::{output, parity, sources, workspace};

/// Arguments of `new-kind`.
#[derive(Debug, Args)]
pub struct NewKindArguments {
    /// ARM type, by provider or group: `Microsoft.Network/routeTables` or `network/routeTables`. A group alone: all of its
    /// kinds as Azure Service Operator has them.
    #[arg(value_name = "GROUP[/TYPE]")]
    wanted: String,
    /// Also write the lines into the curation file. They have been tried: the group can be generated with them.
    #[arg(long)]
    write: bool,
    /// The kind of Azure Service Operator that stands for the type, where their names do not tell.
    #[arg(long, value_name = "NAME", conflicts_with = "newest")]
    kind: Option<String>,
    /// Propose the newest api-version under the generator's own name, whatever Azure Service Operator has.
    #[arg(long)]
    newest: bool,
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
    if !arguments.wanted.contains('/') {
        let target = target(&root, from, &arguments.wanted)?;
        let target = target.ok_or_else(|| no_target(&arguments.wanted))?;
        let proposal = propose_group(&spec_root, &target)?;
        drop(progress);
        return group(&root, &proposal, arguments.write);
    }
    let mut configs = Vec::new();
    for (path, text) in curation_files(&root)? {
        configs.push((GroupConfig::parse(path.as_str(), &text)?, text));
    }
    let replacement = match target_of_type(&root, arguments)? {
        Some(target) => replacement(&spec_root, &configs, &target, arguments)?,
        None => None,
    };
    let proposal = match replacement {
        Some(proposal) => proposal,
        None => propose(&spec_root, &configs, &arguments.wanted)?,
    };
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

/// Lines for the kind that Azure Service Operator has for a type, if it has one.
fn replacement(
    specs: &SpecRoot,
    configs: &[(GroupConfig, String)],
    target: &Target,
    arguments: &NewKindArguments,
) -> anyhow::Result<Option<Proposal>> {
    let (wanted, kind) = (&arguments.wanted, arguments.kind.as_deref());
    let found = propose_replacement(specs, configs, target, wanted, kind)?;
    if found.is_none() {
        eprintln!(
            "no kind of group `{}` of Azure Service Operator looks like `{wanted}`: this is its newest api-version; \
             --kind says which kind it is",
            target.group
        );
    }
    Ok(found)
}

/// The group of Azure Service Operator that a type belongs to, if its shapes are here and wanted.
fn target_of_type(root: &Utf8Path, arguments: &NewKindArguments) -> anyhow::Result<Option<Target>> {
    if arguments.newest {
        return Ok(None);
    }
    let provider = arguments.wanted.split('/').next().unwrap_or_default();
    let provider = provider.to_lowercase();
    let from = arguments.copy.from.as_deref();
    let last = provider.rsplit('.').next().unwrap_or_default();
    let found = match target(root, from, &provider)? {
        Some(found) => Some(found),
        None => target(root, from, last)?,
    };
    anyhow::ensure!(
        found.is_some() || arguments.kind.is_none(),
        "--kind names a kind of Azure Service Operator, and there is no crd-shapes/{last}.azure.com.json: point --from or \
         $ARMATURE_AZURE_DATA at a folder that holds it"
    );
    Ok(found)
}

/// Prints a group, and writes it unless there is a file already.
fn group(root: &Utf8Path, proposal: &GroupProposal, is_write: bool) -> anyhow::Result<ExitCode> {
    let notes = proposal.notes.iter();
    let notes: String = notes
        .flat_map(|note| note.lines())
        .map(|line| format!("# {line}\n"))
        .collect();
    output::print(&format!("{notes}{}", proposal.text))?;
    let (kinds, versions) = (proposal.kinds, proposal.versions);
    eprintln!(
        "{} of {} kinds, {} of {} api-versions of kinds",
        kinds.0, kinds.1, versions.0, versions.1
    );
    for fault in &proposal.faults {
        eprintln!("error: {fault}");
    }
    if is_write {
        let file = root.join(&proposal.path);
        anyhow::ensure!(
            !file.exists(),
            "{} is there already, and what it says would be lost; move it away, or ask for one type of the group",
            proposal.path
        );
        anyhow::ensure!(
            proposal.faults.is_empty(),
            "{} is not written, because the group cannot be generated with these lines; save them from the output, and \
             mend what is told above",
            proposal.path
        );
        workspace::replace(&file, &proposal.text)?;
        eprintln!("{} is written; run `cargo xtask gen` next", proposal.path);
    }
    Ok(match proposal.faults.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn no_target(group: &str) -> anyhow::Error {
    anyhow::anyhow!(
        "a whole group is proposed as Azure Service Operator has it, and there is no crd-shapes/{group}.azure.com.json: \
         point --from or $ARMATURE_AZURE_DATA at a folder that holds it, or ask for one type, as {group}/TYPE"
    )
}

/// A group of Azure Service Operator, if its shapes are here.
fn target(root: &Utf8Path, from: Option<&Utf8Path>, group: &str) -> anyhow::Result<Option<Target>> {
    let Some(kinds) = parity::target::of_group(root, from, group)? else {
        return Ok(None);
    };
    let kinds = kinds.into_iter().map(|(kind, versions)| {
        let plural = versions.values().find_map(|version| {
            let plural = version.definition.get("names.plural")?;
            plural.as_str().map(str::to_owned)
        });
        let versions = versions.into_iter().map(|(name, version)| {
            let paths = version.paths.into_iter();
            let paths = paths.map(|(path, facts)| (path, facts.value_type));
            (name, paths.collect::<TargetSchema>())
        });
        let found = TargetKind {
            plural: plural.unwrap_or_default(),
            versions: versions.collect(),
        };
        (kind, found)
    });
    Ok(Some(Target {
        group: group.to_owned(),
        kinds: kinds.collect(),
    }))
}

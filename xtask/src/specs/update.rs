//! `specs update COMMIT`: gets another commit of a source, says what it changes for users, and moves the lock.
//!
//! The lock is the last thing written, and only when everything loaded, generated and could be compared.

use std::collections::BTreeSet;
use std::process::ExitCode;

use armature_generator::{
    curation::GroupConfig,
    diff,
    load::SpecRoot,
    pipeline::{self, NoProgress, Options},
};
use armature_progress::Progress;
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::MirrorArguments;
use crate::generate::{
    diff::render,
    group_configs,
    state::{State, listed_files, spec_root},
};
use crate::sources::{
    self, AZURE_SPECS, CopyArguments, LOCK_FILE, Lock, Source, locate::cache_folder,
    upstream::Upstream,
};
use crate::{git, output, output::Format, workspace};

/// Arguments of `specs update`.
#[derive(Debug, Args)]
pub struct UpdateArguments {
    /// Full id of the commit to move to.
    #[arg(value_name = "COMMIT", value_parser = commit_id)]
    commit: String,
    /// Source that moves.
    #[arg(long, value_name = "NAME", default_value = AZURE_SPECS)]
    source: String,
    #[command(flatten)]
    copy: CopyArguments,
    #[command(flatten)]
    mirror: MirrorArguments,
    /// Get the commit and say what it changes, and leave the lock as it is.
    #[arg(long)]
    dry_run: bool,
    /// Format of what changes.
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    output: Format,
}

fn commit_id(text: &str) -> Result<String, &'static str> {
    if text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(text.to_ascii_lowercase());
    }
    Err("expected the 40 hex digits of a commit: branches and tags move, and a lock must not")
}

/// Runs `specs update`.
pub async fn update(
    root: &Utf8Path,
    lock: &Lock,
    arguments: &UpdateArguments,
) -> anyhow::Result<ExitCode> {
    let pinned = lock.source(&arguments.source)?;
    anyhow::ensure!(
        pinned.commit != arguments.commit,
        "{LOCK_FILE} is at commit {} of {} already; `cargo xtask specs fetch` gets its files",
        pinned.commit,
        pinned.name
    );
    let next = Source {
        commit: arguments.commit.clone(),
        ..pinned.clone()
    };
    let before = before(root)?.groups()?;
    let configs = group_configs(root, &[])?;
    let folder = get(&next, arguments, &configs).await?;
    let after = State {
        name: format!("commit {}", next.commit),
        specs: spec_root(lock, |source| {
            if source.name == next.name {
                return Ok(folder.clone());
            }
            sources::pinned(root, source)
        })?,
        configs,
    };
    let report = diff::compare(&before, &after.groups()?)?;
    // The last passes can fail, too, and read no more files.
    pipeline::generate(
        &after.specs,
        &after.configs,
        Options::default(),
        &NoProgress,
    )?;
    let files = next.own(after.specs.files());
    let next_lock = lock.moved(&next.name, &next.commit, &folder, &files)?;
    output::print(&render(&report, arguments.output)?)?;
    if arguments.dry_run {
        eprintln!("{LOCK_FILE} is as it was; the commit's files are in {folder}");
        return Ok(ExitCode::SUCCESS);
    }
    next_lock.write(root)?;
    let counts = counts(pinned, next_lock.source(&next.name)?);
    eprintln!("{LOCK_FILE} is at commit {}: {counts}", next.commit);
    eprintln!("`cargo xtask gen` writes what follows from it; commit both together");
    Ok(ExitCode::SUCCESS)
}

/// What is committed, since only that is sure to build with the pinned commit: curation files may be edited for the
/// new one. Without git, the working tree.
fn before(root: &Utf8Path) -> anyhow::Result<State> {
    if git::has_commits(root) {
        State::committed(root, "HEAD", &[])
    } else {
        State::pinned(root)
    }
}

/// How the list of files moved.
fn counts(old: &Source, new: &Source) -> String {
    let names = |source: &Source| source.files.keys().cloned().collect::<BTreeSet<_>>();
    let (old_names, new_names) = (names(old), names(new));
    let changed = old_names
        .intersection(&new_names)
        .filter(|file| old.files.get(*file) != new.files.get(*file))
        .count();
    format!(
        "{} files, {changed} changed, {} new, {} not read any more",
        new_names.len(),
        new_names.difference(&old_names).count(),
        old_names.difference(&new_names).count()
    )
}

/// Gets what the curation files list, and what these files refer to, into the cache folder. A file that does not exist
/// is not missed here: building the model says who asks for it.
async fn get(
    source: &Source,
    arguments: &UpdateArguments,
    configs: &[GroupConfig],
) -> anyhow::Result<Utf8PathBuf> {
    let from = arguments.copy.from.as_deref();
    let upstream = Upstream::new(source, from, &arguments.mirror.mirror)?;
    let folder = cache_folder(source)?.join(&source.name);
    let progress = Progress::new();
    let mut seen = BTreeSet::new();
    let mut waiting = source.own(listed_files(configs));
    while !waiting.is_empty() {
        waiting.retain(|file| seen.insert(file.clone()));
        let take = |file: &str, bytes: Option<Vec<u8>>| {
            progress.update(&format!("{} files, {file}", seen.len()));
            match bytes {
                Some(bytes) => workspace::replace(&folder.join(file), bytes),
                None => workspace::remove(&folder.join(file)),
            }
        };
        upstream.read_all(&waiting, take).await?;
        let specs = SpecRoot::new(folder.clone()).with_bicep(folder.clone());
        waiting = references(&specs, &waiting);
    }
    Ok(folder)
}

/// Files that others refer to. One that cannot be parsed refers to nothing; building the model says what is wrong.
fn references(specs: &SpecRoot, files: &[String]) -> Vec<String> {
    let documents = files.iter().filter_map(|file| specs.document(file).ok());
    let files = documents.flat_map(|document| {
        let targets = document.references.iter();
        let files = targets.map(|(_, target)| target.file.to_string());
        files.collect::<BTreeSet<_>>()
    });
    files.collect()
}

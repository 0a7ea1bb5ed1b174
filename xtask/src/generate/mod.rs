//! `cargo xtask gen`: runs the generator and makes `generated/`, `docs/reference/` and the spec lock what it returns.
//! `gen diff` and `gen explain` write nothing and answer questions ([`diff`], [`explain`]).
//!
//! The passes live in `armature_generator`; here is only finding the input, comparing with the tree ([`tree`]),
//! writing, and telling about it ([`figures`], [`ahead`]).

mod ahead;
pub mod diff;
mod explain;
mod figures;
mod notes;
pub mod state;
mod tree;

use std::{process::ExitCode, time::Instant};

use armature_generator::{
    curation::GroupConfig,
    pipeline::{self, Generated, GroupSummary, Options},
};
use armature_progress::Progress;
use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Subcommand};

use self::tree::{Change, Scope};
use crate::{sources, workspace};

/// Arguments of `gen`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct GenerateArguments {
    #[command(subcommand)]
    question: Option<Question>,
    #[command(flatten)]
    input: InputArguments,
    /// Write nothing; exit 1 and list the files that are stale.
    #[arg(long)]
    check: bool,
    /// Keep the spec's own text about types and properties, for `kubectl explain`. It more than doubles CRDs.
    #[arg(long)]
    descriptions: bool,
}

/// What `gen` and its questions read.
#[derive(Debug, Args)]
struct InputArguments {
    /// Only this group, for example `kusto`; may be repeated. The crate of all groups and the spec lock stay as they
    /// are.
    #[arg(long, value_name = "GROUP")]
    group: Vec<String>,
    #[command(flatten)]
    copy: sources::CopyArguments,
}

impl InputArguments {
    /// The folder of copies of specs, where one is named.
    fn from(&self) -> Option<&Utf8Path> {
        self.copy.from.as_deref()
    }
}

/// What can be asked of the generator without writing anything.
#[derive(Debug, Subcommand)]
enum Question {
    /// Say in words what would change for users since the last commit, by new specs (--from) or by edited
    /// specs/*/group.toml, and which of it breaks them.
    Diff(diff::DiffArguments),
    /// Say which source, heuristic and rule made a kind or a property what it is.
    Explain(explain::ExplainArguments),
}

/// Runs `gen`.
pub fn run(arguments: &GenerateArguments) -> anyhow::Result<ExitCode> {
    let root = workspace::root()?;
    match &arguments.question {
        Some(Question::Diff(arguments)) => diff::run(&root, arguments),
        Some(Question::Explain(arguments)) => explain::run(&root, arguments),
        None => generate(&root, arguments),
    }
}

fn generate(root: &Utf8Path, arguments: &GenerateArguments) -> anyhow::Result<ExitCode> {
    let started = Instant::now();
    let groups = &arguments.input.group;
    let from = arguments.input.from();
    let lock = sources::Lock::read(root)?;
    let folder = |source: &sources::Source| anyhow::Ok(sources::current(root, source, from)?.path);
    let configs = group_configs(root, groups)?;
    let spec_root = state::spec_root(&lock, folder)?;
    let scope = Scope::new(groups);
    let options = Options {
        descriptions: arguments.descriptions,
        notes: notes::read(root)?,
    };
    let reporter = Reporter::new(configs.len());
    let mut generated = pipeline::generate(&spec_root, &configs, options, &reporter)?;
    generated.files.retain(|path, _| scope.contains(path));
    if scope.is_everything() {
        let mut next = lock.clone();
        for source in &lock.source {
            let files = source.own(spec_root.files());
            next = next.for_files(&source.name, &folder(source)?, &files)?;
        }
        let book = workspace::read(&root.join(figures::SUMMARY))?;
        let book = figures::summary(&book, &generated.groups, &generated.files)?;
        generated.files.extend([
            (sources::LOCK_FILE.into(), next.render()?),
            (figures::PAGE.into(), figures::page(&generated.groups)),
            (ahead::PAGE.into(), ahead::page(&generated.groups)),
            (figures::SUMMARY.into(), book),
        ]);
    }
    let changes = tree::changes(root, &scope, &generated.files)?;
    if arguments.check {
        return Ok(check(&changes, groups));
    }
    tree::apply(root, &generated.files, &changes)?;
    summarise(&generated, &changes, started);
    Ok(ExitCode::SUCCESS)
}

fn check(changes: &[Change], groups: &[String]) -> ExitCode {
    if changes.is_empty() {
        println!("generated files are up to date");
        return ExitCode::SUCCESS;
    }
    for change in changes {
        println!("{change}");
    }
    let groups: String = groups
        .iter()
        .map(|group| format!(" --group {group}"))
        .collect();
    println!(
        "{} generated files are stale; run `cargo xtask gen{groups}` and commit the result",
        changes.len()
    );
    ExitCode::FAILURE
}

/// Name of the curation file in the folder of a group.
const CURATION: &str = "group.toml";

/// The curation files of `groups`, or all of them.
pub fn group_configs(root: &Utf8Path, groups: &[String]) -> anyhow::Result<Vec<GroupConfig>> {
    parse_configs(curation_files(root)?, groups)
}

/// The curation files of the workspace with their text.
pub fn curation_files(root: &Utf8Path) -> anyhow::Result<Vec<(Utf8PathBuf, String)>> {
    let files = workspace::files_below(&root.join("specs"))?.into_iter();
    let paths: Vec<Utf8PathBuf> = files
        .map(|file| Utf8Path::new("specs").join(file))
        .collect();
    let paths = curation_paths(paths)?.into_iter();
    paths
        .map(|path| {
            let text = workspace::read(&root.join(&path))?;
            Ok((path, text))
        })
        .collect()
}

/// The curation files among the files of the folder `specs`.
///
/// # Errors
/// When a file is where curation files were before groups had folders.
fn curation_paths(mut paths: Vec<Utf8PathBuf>) -> anyhow::Result<Vec<Utf8PathBuf>> {
    for path in &paths {
        let of_all = [
            sources::LOCK_FILE,
            sources::EXCEPTIONS_FILE,
            sources::LACKING_FILE,
            sources::RELEASES_FILE,
        ];
        let is_file_of_all = of_all.contains(&path.as_str());
        let is_above = path.parent() == Some(Utf8Path::new("specs"));
        anyhow::ensure!(
            !is_above || is_file_of_all || path.extension() != Some("toml"),
            "{path} is not read: everything about a group is in its folder; move it to specs/{}/{CURATION}",
            path.file_stem().unwrap_or_default()
        );
    }
    paths.retain(|path| path.file_name() == Some(CURATION));
    Ok(paths)
}

/// What the curation files of `groups`, or all of them, say.
fn parse_configs(
    files: Vec<(Utf8PathBuf, String)>,
    groups: &[String],
) -> anyhow::Result<Vec<GroupConfig>> {
    let mut configs = Vec::new();
    let mut known = Vec::new();
    for (path, text) in files {
        let config = GroupConfig::parse(path.as_str(), &text)?;
        let folder = path.parent().and_then(Utf8Path::file_name);
        anyhow::ensure!(
            folder == Some(config.rules.group.as_str()),
            "{path} is for group `{}`; name the folder so, for all about a group is found by it",
            config.rules.group
        );
        if groups.is_empty() || groups.contains(&config.rules.group) {
            configs.push(config);
        } else {
            known.push(config.rules.group);
        }
    }
    for group in groups {
        let found = configs.iter().any(|config| config.rules.group == *group);
        anyhow::ensure!(
            found,
            "there is no group `{group}` in specs/*/{CURATION}; there are: {}",
            known.join(", ")
        );
    }
    Ok(configs)
}

/// Shows which groups are done.
struct Reporter {
    progress: Progress,
    total: usize,
    done: std::sync::atomic::AtomicUsize,
}

impl Reporter {
    fn new(total: usize) -> Self {
        let progress = Progress::new();
        progress.steps("", 0, total);
        Self {
            progress,
            total,
            done: std::sync::atomic::AtomicUsize::new(0),
        }
    }
}

impl pipeline::Progress for Reporter {
    fn group(&self, summary: &GroupSummary) {
        let done = 1 + self.done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.progress.steps(&summary.group, done, self.total);
    }
}

fn summarise(generated: &Generated, changes: &[Change], started: Instant) {
    print!("{}", figures::table(&generated.groups));
    let written = changes.iter().filter(|change| change.is_write()).count();
    println!(
        "{} files in {:.1} s; {written} written, {} deleted",
        generated.files.len(),
        started.elapsed().as_secs_f64(),
        changes.len() - written
    );
}

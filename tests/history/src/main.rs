//! Draws histories for some minutes, or runs one again from its file. `cargo xtask fuzz --histories` builds it optimised.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use armature_history::plan::History;
use armature_history::search::{Finding, Findings, search};
use armature_history::world::subject::{all_kinds, name_of};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

/// Histories of one kind that are drawn from one seed.
const BATCH: u32 = 25;

/// How often a line tells how far it is where there is no terminal.
const PLAIN: Duration = Duration::from_secs(30);

/// Draws histories of objects at random and tells after which of them Azure does not hold what the last manifest says.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask fuzz --histories",
    bin_name = "cargo xtask fuzz --histories"
)]
struct CommandLine {
    /// How long to go on.
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// First seed; each round over all kinds takes the next one. Chosen by the time when it is not given.
    #[arg(long)]
    seed: Option<u64>,
    /// Threads.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Only this kind; of several of one name all, or `Workspace.synapse.azure.com`.
    #[arg(long)]
    kind: Option<String>,
    /// Run the history of this file again, and tell all of it.
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Folder for the histories that are found.
    #[arg(long, value_name = "DIR", default_value = "target/histories")]
    folder: PathBuf,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = CommandLine::parse();
    match &arguments.replay {
        Some(file) => replay(file),
        None => fuzz(&arguments),
    }
}

fn replay(file: &Path) -> anyhow::Result<ExitCode> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let history: History = serde_json::from_str(&text)
        .with_context(|| format!("{} holds no history", file.display()))?;
    let outcome = armature_history::run(&history);
    let is_fine = outcome.faults.is_empty();
    let finding = Finding {
        history,
        faults: outcome.faults,
        transcript: outcome.transcript,
    };
    print!("{finding}");
    Ok(code(is_fine))
}

fn code(is_fine: bool) -> ExitCode {
    if is_fine {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// How far a run is.
struct Progress {
    bar: Option<ProgressBar>,
    said: Mutex<Instant>,
    histories: AtomicU64,
    started: Instant,
}

impl Progress {
    fn new(minutes: f64) -> anyhow::Result<Self> {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {elapsed}/{msg}")?;
            let seconds = Duration::from_secs_f64(minutes * 60.0).as_secs();
            anyhow::Ok(ProgressBar::new(seconds).with_style(style))
        });
        Ok(Self {
            bar: bar.transpose()?,
            said: Mutex::new(Instant::now()),
            histories: AtomicU64::new(0),
            started: Instant::now(),
        })
    }

    fn add(&self, kind: &str, found: usize) {
        let count = self
            .histories
            .fetch_add(u64::from(BATCH), Ordering::Relaxed)
            + u64::from(BATCH);
        let text = format!("{count} histories, {found} sorts of findings, at {kind}");
        match &self.bar {
            Some(bar) => {
                bar.set_position(self.started.elapsed().as_secs());
                bar.set_message(text);
            }
            None => {
                let Ok(mut said) = self.said.lock() else {
                    return;
                };
                if said.elapsed() >= PLAIN {
                    *said = Instant::now();
                    eprintln!(
                        "{:.1} min: {text}",
                        self.started.elapsed().as_secs_f64() / 60.0
                    );
                }
            }
        }
    }

    fn tell(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => eprintln!("{text}"),
        }
    }
}

fn fuzz(arguments: &CommandLine) -> anyhow::Result<ExitCode> {
    let by_time = || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(1, |since| since.as_secs())
    };
    let first = arguments.seed.unwrap_or_else(by_time);
    let mut kinds = all_kinds();
    if let Some(wanted) = &arguments.kind {
        kinds.retain(|kind| kind.kind == wanted || name_of(kind) == *wanted);
        anyhow::ensure!(!kinds.is_empty(), "there is no kind {wanted}");
    }
    let progress = Progress::new(arguments.minutes)?;
    progress.tell(&format!("seed {first}"));
    let end = Instant::now() + Duration::from_secs_f64(arguments.minutes * 60.0);
    let findings = Mutex::new(Findings::default());
    let next = AtomicU64::new(0);
    std::fs::create_dir_all(&arguments.folder)
        .with_context(|| format!("cannot make {}", arguments.folder.display()))?;
    let work = || {
        while Instant::now() < end {
            let task = next.fetch_add(1, Ordering::Relaxed);
            let round = task / kinds.len() as u64;
            let index = usize::try_from(task % kinds.len() as u64).unwrap_or(0);
            let seed = first.wrapping_add(round);
            let found = search(kinds[index], seed, BATCH).err();
            let Ok(mut findings) = findings.lock() else {
                return;
            };
            if let Some(finding) = found {
                note(&arguments.folder, &progress, &mut findings, finding, seed);
            }
            progress.add(&name_of(kinds[index]), findings.0.len());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs.max(1) {
            scope.spawn(work);
        }
    });
    let histories = progress.histories.load(Ordering::Relaxed);
    let minutes = progress.started.elapsed().as_secs_f64() / 60.0;
    let findings = findings.into_inner().unwrap_or_default();
    println!(
        "{histories} histories in {minutes:.1} minutes, {} sorts of findings",
        findings.0.len()
    );
    for (sort, (_, count)) in &findings.0 {
        println!("{count:>6} {sort}");
    }
    Ok(code(findings.0.is_empty()))
}

/// Tells a finding of a new sort, and keeps it for `--replay`.
fn note(
    folder: &Path,
    progress: &Progress,
    findings: &mut Findings,
    finding: Box<Finding>,
    seed: u64,
) {
    let text = finding.to_string();
    let file = folder.join(format!("{}-{seed}.json", finding.history.kind));
    let json = serde_json::to_string_pretty(&finding.history).unwrap_or_default();
    if findings.add(finding) {
        let kept = match std::fs::write(&file, json) {
            Ok(()) => format!("kept in {}", file.display()),
            Err(error) => format!("cannot be kept in {}: {error}", file.display()),
        };
        progress.tell(&format!("{text}{kept}"));
    }
}

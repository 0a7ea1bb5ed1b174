//! Runs cases for some minutes, or one by its number. `cargo xtask fuzz` builds it optimised and names the specs.

mod watch;
mod worker;

use std::process::ExitCode;
use std::time::Duration;

use armature_fuzz::Corpus;
use camino::Utf8PathBuf;
use clap::{Args, Parser};

/// Feeds changed specs to the generator and tells which of them it does not survive.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask fuzz", bin_name = "cargo xtask fuzz")]
struct CommandLine {
    #[command(flatten)]
    cases: Cases,
    /// Run this one case only, and write its input to the folder for temporary files.
    #[arg(long, value_name = "NUMBER")]
    case: Option<u64>,
    /// How long to go on.
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// Processes side by side.
    #[arg(long, default_value_t = 2)]
    jobs: u64,
    /// Longest that a case may take, in seconds.
    #[arg(long, default_value_t = 30)]
    limit: u64,
    /// Run cases in this process; for the watching one.
    #[arg(long, hide = true)]
    worker: bool,
    /// First case.
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    first: u64,
    /// Distance to the next case.
    #[arg(long, hide = true, default_value_t = 1)]
    step: u64,
}

/// What makes a case the same again, beside its number.
#[derive(Clone, Debug, Args)]
struct Cases {
    /// Seed of the run.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder of specs to start from; may be repeated. The order matters.
    #[arg(long = "tree", value_name = "DIR", required = true)]
    trees: Vec<Utf8PathBuf>,
}

impl Cases {
    fn corpus(&self) -> anyhow::Result<Corpus> {
        let mut corpus = Corpus::default();
        for tree in &self.trees {
            corpus.add(tree)?;
        }
        anyhow::ensure!(!corpus.is_empty(), "the folders hold no JSON file");
        Ok(corpus)
    }
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = CommandLine::parse();
    if let Some(case) = arguments.case {
        return worker::one(&arguments.cases, case);
    }
    if arguments.worker {
        let time = Duration::from_secs_f64(arguments.minutes * 60.0);
        return worker::many(&arguments.cases, arguments.first, arguments.step, time);
    }
    let summary = watch::run(&arguments)?;
    print!("{summary}");
    Ok(if summary.findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

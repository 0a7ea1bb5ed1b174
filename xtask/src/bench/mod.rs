//! `cargo xtask bench`: figures of this machine beside the bars they have to stay under.
//!
//! A benchmark is a row of [`table`]. It runs a built program as users run it, several times, and returns figures:
//! samples with a unit and, where the design names one, a bar ([`figure`]). A time or size over its bar is a result, not a
//! failure: machines differ, and tests do not time anything. A count over its bar is one: it is the same on all of them.
//!
//! | module | what lives here |
//! |---|---|
//! | [`process`] | runs a program to its end and reads what the kernel counted for it |
//! | [`rebuild`] | times the operator's development build after a change |
//! | [`engines`] | asks `armature-bench`, which links what the operator is made of |
//! | [`scene`] | a real API server, a simulated Azure and the operator as processes, and objects for them |
//! | [`load`] | many resource groups and virtual networks: applied, waited for, deleted |
//! | [`apply`] | until they are Ready, and gone: times, and what the API server was asked; also of another operator |
//! | [`drift`] | what objects that nobody changes cost Azure, and how soon a change is found |
//! | [`scale`] | further benchmarks of a scene |
//! | [`served`] | what the API server was asked, by its own metrics |
//! | [`crds`] | what all CRDs cost an API server |
//! | [`webhook`] | times conversion through the operator's webhook |
//! | [`report`] | prints and keeps results |

mod apply;
mod crds;
mod drift;
mod engines;
mod figure;
mod load;
mod process;
mod rebuild;
mod report;
mod scale;
mod scene;
mod served;
mod table;
mod webhook;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use armature_progress::Progress;
use camino::{Utf8Path, Utf8PathBuf};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use tokio::process::Command;

use self::report::{Machine, Measured};
use self::table::Benchmark;
use crate::programs::{self, Profile};
use crate::{output, workspace};

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub struct BenchArguments {
    /// Which benchmarks; all when none is named.
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(table::BENCHMARKS.iter().map(|it| it.name)))]
    names: Vec<String>,
    /// Runs of each that count, after one that warms caches.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Format of the result.
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    output: Format,
    /// Measure this operator instead of one built as for the image, for this machine: the static one, or an older one.
    #[arg(long, value_name = "FILE")]
    operator: Option<PathBuf>,
    /// Measure another operator in `apply`, too, after this one, on a control plane and a simulated Azure of its own. The
    /// command is run by `sh -c exec …` with KUBECONFIG, the credential in AZURE_…, and the authority of the simulated
    /// Azure in SSL_CERT_FILE; it installs its CRDs and becomes the operator, whose processor time is counted.
    #[arg(long, value_name = "NAME=COMMAND", value_parser = beside)]
    beside: Vec<Beside>,
    /// Fewer sets of a resource group and a virtual network than a benchmark has, to try it; its figures say little then.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sets: Option<u32>,
    /// Also put the figures into docs/performance.md, in place of earlier ones.
    #[arg(long)]
    write: bool,
}

/// Another operator to compare with.
#[derive(Clone, Debug)]
struct Beside {
    name: String,
    command: String,
}

fn beside(text: &str) -> Result<Beside, String> {
    match text.split_once('=') {
        Some((name, command)) if !name.trim().is_empty() && !command.trim().is_empty() => {
            Ok(Beside {
                name: name.trim().to_owned(),
                command: command.trim().to_owned(),
            })
        }
        _ => {
            Err("expected a name, `=` and a command, such as aso='aso-controller --v=0'".to_owned())
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table.
    Text,
    /// One JSON object.
    Json,
    /// The same as YAML.
    Yaml,
    /// One line of JSON for each figure.
    Jsonl,
}

/// What every benchmark may use.
struct Context {
    /// The workspace.
    root: Utf8PathBuf,
    /// Runs that count.
    runs: u32,
    /// The operator, where it is not to be built.
    operator: Option<PathBuf>,
    /// Other operators to compare with.
    beside: Vec<Beside>,
    /// Most sets of a group and a network, where there are to be fewer.
    sets: Option<usize>,
    /// What is going on, for whoever waits.
    progress: Progress,
}

impl Context {
    /// How many sets of a group and a network a benchmark has.
    fn sets(&self, usual: usize) -> usize {
        self.sets.map_or(usual, |sets| sets.min(usual))
    }

    /// The operator as users get it, or one of [`INSTRUMENTS`] as a release build; built if need be.
    async fn build(&self, package: &str) -> anyhow::Result<PathBuf> {
        if package == OPERATOR {
            let [operator] = programs::build(&self.root, [OPERATOR], Profile::Image).await?;
            return Ok(operator);
        }
        instrument(&self.root, package).await
    }
}

/// What is measured.
const OPERATOR: &str = "armature";

/// What measures. Always built together: cargo chooses the features of shared crates by what it builds at once, and one
/// program after the other would have most crates built anew each time.
const INSTRUMENTS: [&str; 3] = ["armature-simulator", "armature-bench", "xtask"];

async fn instrument(root: &Utf8Path, package: &str) -> anyhow::Result<PathBuf> {
    let built = programs::build(root, INSTRUMENTS, Profile::Release).await?;
    let mut built = INSTRUMENTS.iter().zip(built);
    let found = built.find_map(|(name, program)| (*name == package).then_some(program));
    found.with_context(|| format!("`{package}` is no program of the benchmarks"))
}

/// Runs `bench`, as a release build: clients and clocks are in this process.
pub async fn run(arguments: &BenchArguments) -> anyhow::Result<ExitCode> {
    let root = workspace::root()?;
    let wanted = |benchmark: &&Benchmark| {
        arguments.names.is_empty() || arguments.names.iter().any(|name| name == benchmark.name)
    };
    let benchmarks: Vec<&Benchmark> = table::BENCHMARKS.iter().filter(wanted).collect();
    if cfg!(debug_assertions) && benchmarks.iter().any(|benchmark| benchmark.is_inside) {
        return again_as_release(&root).await;
    }
    let machine = Machine::this()?;
    let runs = arguments.runs;
    let context = Context {
        root: root.clone(),
        runs,
        operator: arguments.operator.clone(),
        beside: arguments.beside.clone(),
        sets: arguments.sets.map(|sets| sets as usize),
        progress: Progress::new(),
    };
    let mut measured = Vec::new();
    for benchmark in benchmarks {
        let name = benchmark.name;
        context.progress.line(&format!("{name}: {runs} runs"));
        let figures = (benchmark.run)(&context).await;
        let figures = figures.with_context(|| format!("benchmark {name}"))?;
        measured.push(Measured { benchmark, figures });
    }
    drop(context);
    output::print(&match arguments.output {
        Format::Text => report::text(&machine, runs, &measured),
        Format::Json => {
            serde_json::to_string_pretty(&report::json(&machine, runs, &measured))? + "\n"
        }
        Format::Yaml => serde_saphyr::to_string(&report::json(&machine, runs, &measured))?,
        Format::Jsonl => report::jsonl(&measured),
    })?;
    if arguments.write {
        report::keep(&root, &machine, runs, &measured)?;
    }
    let missed: Vec<String> = measured.iter().flat_map(Measured::missed_counts).collect();
    for line in &missed {
        eprintln!("{line}");
    }
    Ok(match missed.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Runs the same command line with the release build of this program.
async fn again_as_release(root: &Utf8Path) -> anyhow::Result<ExitCode> {
    let program = instrument(root, "xtask").await?;
    let arguments = std::env::args_os().skip(1);
    let status = Command::new(&program).args(arguments).status().await;
    let status = status.with_context(|| format!("cannot run {}", program.display()))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

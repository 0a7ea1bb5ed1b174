//! Results for people, for machines and for docs/performance.md.

use std::fmt::Write as _;

use anyhow::Context as _;
use camino::Utf8Path;
use serde::Serialize;
use serde_json::{Value, json};

use super::figure::{Figure, Summary, Unit};
use super::table::Benchmark;
use crate::workspace;

/// The page that keeps figures.
const PAGE: &str = "docs/performance.md";

/// A benchmark with what it measured.
pub struct Measured<'a> {
    /// The benchmark.
    pub benchmark: &'a Benchmark,
    /// Its figures.
    pub figures: Vec<Figure>,
}

impl Measured<'_> {
    fn summaries(&self) -> impl Iterator<Item = Summary> {
        self.figures.iter().map(Figure::summary)
    }

    /// What is counted and over its bar, a sentence each. Counts do not depend on the machine.
    pub fn missed_counts(&self) -> Vec<String> {
        let counts = self.figures.iter().filter(|it| it.unit == Unit::Count);
        let missed = counts
            .map(Figure::summary)
            .filter(|it| it.met == Some(false));
        let sentence = |summary: Summary| {
            let (name, figure, median) = (self.benchmark.name, &summary.figure, summary.median);
            let bar = bar(&summary);
            format!("benchmark {name}: {figure} is {median}, and {bar} is the most")
        };
        missed.map(sentence).collect()
    }
}

/// What the figures were measured on.
#[derive(Debug, Serialize)]
pub struct Machine {
    /// Processors that a process may use.
    cores: usize,
    /// Name of the processor, where the system tells.
    processor: Option<String>,
    /// Operating system and architecture.
    platform: String,
    /// Processes that wanted to run in the minute before, on average; figures of a busy machine say little.
    load: Option<f64>,
}

impl Machine {
    /// This machine.
    pub fn this() -> anyhow::Result<Self> {
        let cores = std::thread::available_parallelism()
            .context("the system does not tell its number of processors")?;
        let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let named = |line: &str| {
            Some(
                line.strip_prefix("model name")?
                    .split_once(':')?
                    .1
                    .trim()
                    .to_owned(),
            )
        };
        Ok(Self {
            cores: cores.get(),
            processor: processors.lines().find_map(named),
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            load: load(),
        })
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {} cores", self.platform, self.cores)?;
        if let Some(processor) = &self.processor {
            write!(f, " ({processor})")?;
        }
        match self.load {
            Some(load) => write!(f, ", load {load} before"),
            None => Ok(()),
        }
    }
}

/// The system's load average over one minute.
fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// A table for a terminal.
pub fn text(machine: &Machine, runs: u32, measured: &[Measured<'_>]) -> String {
    let mut text = format!("{runs} runs after a warm-up, {machine}\n\n");
    let _ = writeln!(
        text,
        "{:<10} {:<28} {:>11} {:>10} {:>10} {:>10} {:>8}",
        "benchmark", "figure", "unit", "median", "min", "max", "at most"
    );
    for one in measured {
        for summary in one.summaries() {
            let _ = writeln!(
                text,
                "{:<10} {:<28} {:>11} {:>10.3} {:>10.3} {:>10.3} {:>8}{}",
                one.benchmark.name,
                summary.figure,
                summary.unit,
                summary.median,
                summary.min,
                summary.max,
                bar(&summary),
                if summary.met == Some(false) {
                    "  MISSED"
                } else {
                    ""
                },
            );
        }
    }
    text
}

fn bar(summary: &Summary) -> String {
    summary
        .at_most
        .map_or_else(String::new, |bar| bar.to_string())
}

/// Everything as one value.
pub fn json(machine: &Machine, runs: u32, measured: &[Measured<'_>]) -> Value {
    let benchmarks = measured.iter().map(|one| {
        json!({
            "name": one.benchmark.name,
            "about": one.benchmark.about,
            "figures": one.summaries().collect::<Vec<_>>(),
        })
    });
    json!({
        "build": "release",
        "machine": machine,
        "runs": runs,
        "benchmarks": benchmarks.collect::<Vec<_>>(),
    })
}

/// A line for each figure.
pub fn jsonl(measured: &[Measured<'_>]) -> String {
    let figures = measured.iter().flat_map(|one| {
        one.summaries().map(|summary| {
            let mut line = json!({ "benchmark": one.benchmark.name });
            if let (Value::Object(line), Value::Object(figure)) = (&mut line, json!(summary)) {
                line.extend(figure);
            }
            format!("{line}\n")
        })
    });
    figures.collect()
}

/// Puts each benchmark's figures into its place on the page.
///
/// # Errors
/// When the page cannot be read or written, or has no place for a benchmark.
pub fn keep(
    root: &Utf8Path,
    machine: &Machine,
    runs: u32,
    measured: &[Measured<'_>],
) -> anyhow::Result<()> {
    let path = root.join(PAGE);
    let mut page = workspace::read(&path)?;
    for one in measured {
        let name = format!("bench {}", one.benchmark.name);
        page = workspace::with_section(&page, &name, &section(machine, runs, one))
            .with_context(|| format!("cannot write the figures into {PAGE}"))?;
    }
    workspace::write(&path, page)
}

fn section(machine: &Machine, runs: u32, measured: &Measured<'_>) -> String {
    let mut text = format!(
        "{}\n\nMedian of {runs} runs on {machine}.\n\n\
         | figure | median | min | max | at most |\n|---|--:|--:|--:|--:|\n",
        measured.benchmark.about
    );
    for summary in measured.summaries() {
        let value = |value: f64| format!("{value} {}", summary.unit).trim_end().to_owned();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            summary.figure,
            value(summary.median),
            value(summary.min),
            value(summary.max),
            summary.at_most.map(value).unwrap_or_default(),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::table::BENCHMARKS;

    fn measured() -> Measured<'static> {
        let figure = |name| Figure::new(name, Unit::Seconds, vec![0.5, 0.1, 0.25]);
        Measured {
            benchmark: &BENCHMARKS[0],
            figures: vec![figure("wall").at_most(0.2), figure("cpu")],
        }
    }

    fn machine() -> Machine {
        Machine {
            cores: 2,
            processor: None,
            platform: "linux x86_64".to_owned(),
            load: Some(0.5),
        }
    }

    #[test]
    fn the_table_says_which_bar_is_missed() {
        let text = text(&machine(), 3, &[measured()]);
        assert!(text.starts_with("3 runs after a warm-up, linux x86_64, 2 cores, load 0.5 before"));
        let wall = text.lines().find(|line| line.contains("wall")).unwrap();
        assert!(wall.ends_with("0.2  MISSED"), "{wall}");
        let cpu = text.lines().find(|line| line.contains("cpu")).unwrap();
        assert!(!cpu.contains("MISSED"), "{cpu}");
    }

    #[test]
    fn counts_are_gates_and_times_are_not() {
        let one = |unit, sample| Figure::new("writes", unit, vec![sample]).at_most(4.0);
        for (figure, expected) in [
            (
                one(Unit::Count, 5.0),
                vec!["benchmark gen: writes is 5, and 4 is the most"],
            ),
            (one(Unit::Count, 4.0), vec![]),
            (one(Unit::Seconds, 5.0), vec![]),
            (Figure::new("writes", Unit::Count, vec![5.0]), vec![]),
        ] {
            let measured = Measured {
                benchmark: &BENCHMARKS[0],
                figures: vec![figure],
            };
            assert_eq!(measured.missed_counts(), expected);
        }
    }

    #[test]
    fn machines_get_medians_and_bars() {
        let value = json(&machine(), 3, &[measured()]);
        let wall = &value["benchmarks"][0]["figures"][0];
        assert_eq!(
            (wall["median"].as_f64(), wall["met"].as_bool()),
            (Some(0.25), Some(false))
        );
        let lines = jsonl(&[measured()]);
        let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
        assert_eq!(
            (&first["benchmark"], &first["figure"]),
            (&json!("gen"), &json!("wall"))
        );
        assert_eq!(lines.lines().count(), 2);
    }

    #[test]
    fn figures_replace_earlier_ones_on_the_page() {
        let section = section(&machine(), 3, &measured());
        assert!(
            section.contains("| wall | 0.25 s | 0.1 s | 0.5 s | 0.2 s |\n"),
            "{section}"
        );
        assert!(
            section.contains("| cpu | 0.25 s | 0.1 s | 0.5 s |  |\n"),
            "{section}"
        );
    }
}

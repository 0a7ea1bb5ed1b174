//! Watches over workers: what they find, where they die, and which case does not end.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::CommandLine;

/// What a run came to.
#[derive(Debug, Default)]
pub struct Summary {
    seed: u64,
    minutes: f64,
    cases: u64,
    reached: BTreeMap<String, u64>,
    slowest: (Duration, u64),
    /// Most memory of a worker, in KiB.
    memory: u64,
    /// By what was found: the first case, and how many there were.
    pub findings: BTreeMap<String, (u64, u64)>,
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (slowest, case) = self.slowest;
        writeln!(
            formatter,
            "{} cases of seed {} in {:.1} minutes; slowest {:.1} s (case {case}), most memory {} MiB",
            self.cases,
            self.seed,
            self.minutes,
            slowest.as_secs_f64(),
            self.memory / 1024
        )?;
        for (reached, count) in &self.reached {
            writeln!(formatter, "{count:>9} {reached}")?;
        }
        for (finding, (case, count)) in &self.findings {
            writeln!(
                formatter,
                "FOUND in case {case} and {} others: {finding}",
                count - 1
            )?;
        }
        Ok(())
    }
}

impl Summary {
    fn found(&mut self, finding: &str, case: u64) {
        let entry = self.findings.entry(sort(finding)).or_insert((case, 0));
        entry.1 += 1;
        if entry.1 == 1 {
            eprintln!("case {case}: {finding}");
        }
    }

    fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.slowest = self.slowest.max(other.slowest);
        self.memory = self.memory.max(other.memory);
        for (reached, count) in other.reached {
            *self.reached.entry(reached).or_default() += count;
        }
        for (finding, (case, count)) in other.findings {
            let entry = self.findings.entry(finding).or_insert((case, 0));
            entry.1 += count;
        }
    }
}

/// A finding without what its spec calls things, so that those of one sort count as one.
fn sort(finding: &str) -> String {
    let plain = finding.split('`').step_by(2);
    plain
        .collect::<Vec<_>>()
        .join("…")
        .chars()
        .take(200)
        .collect()
}

/// Runs workers side by side until the time is over.
pub fn run(arguments: &CommandLine) -> anyhow::Result<Summary> {
    let started = Instant::now();
    let jobs = arguments.jobs.max(1);
    let parts = std::thread::scope(|scope| {
        let jobs = (0..jobs).map(|job| scope.spawn(move || watch(arguments, job)));
        let jobs: Vec<_> = jobs.collect();
        jobs.into_iter().map(|job| job.join()).collect::<Vec<_>>()
    });
    let mut summary = Summary {
        seed: arguments.cases.seed,
        ..Summary::default()
    };
    for part in parts {
        let part = part.map_err(|_| anyhow::anyhow!("a watching thread panicked"))??;
        summary.add(part);
    }
    summary.minutes = started.elapsed().as_secs_f64() / 60.0;
    Ok(summary)
}

/// Keeps one worker going: a new one goes on after the case that ended the one before.
fn watch(arguments: &CommandLine, job: u64) -> anyhow::Result<Summary> {
    let step = arguments.jobs.max(1);
    let end = Instant::now() + Duration::from_secs_f64(arguments.minutes * 60.0);
    let mut summary = Summary::default();
    let mut first = arguments.first + job;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(summary);
        }
        let mut worker = spawn(arguments, first, step, left)?;
        let limit = Duration::from_secs(arguments.limit);
        let last = listen(&mut worker, limit, first, &mut summary)?;
        first = last + step;
    }
}

fn spawn(arguments: &CommandLine, first: u64, step: u64, left: Duration) -> anyhow::Result<Child> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let mut command = Command::new(program);
    command.args(["--worker", "--seed", &arguments.cases.seed.to_string()]);
    command.args(["--first", &first.to_string(), "--step", &step.to_string()]);
    command.args(["--minutes", &(left.as_secs_f64() / 60.0).to_string()]);
    for tree in &arguments.cases.trees {
        command.args(["--tree", tree.as_str()]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command.spawn().context("cannot start a worker")
}

/// Hears a worker out and returns its last case.
fn listen(
    worker: &mut Child,
    limit: Duration,
    first: u64,
    summary: &mut Summary,
) -> anyhow::Result<u64> {
    let lines = lines(worker)?;
    let mut case = first;
    let mut started = None;
    loop {
        // Reading the specs before the first case may take longer than a case.
        match lines.recv_timeout(if started.is_some() { limit } else { limit * 10 }) {
            Ok(line) => {
                let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
                match word {
                    "start" => {
                        case = rest.parse().context("a worker wrote no number")?;
                        started = Some(Instant::now());
                        continue;
                    }
                    "memory" => summary.memory = summary.memory.max(rest.parse().unwrap_or(0)),
                    "reached" => *summary.reached.entry(rest.to_owned()).or_default() += 1,
                    _ => summary.found(rest, case),
                }
                if let Some(started) = started.take() {
                    summary.cases += 1;
                    summary.slowest = summary.slowest.max((started.elapsed(), case));
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                worker.kill().context("cannot stop a worker")?;
                started = None;
                summary.found(&format!("does not end within {} s", limit.as_secs()), case);
                summary.cases += 1;
                break;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = worker.wait().context("cannot wait for a worker")?;
    if started.is_some() && !status.success() {
        summary.found(&format!("the process died: {status}"), case);
        summary.cases += 1;
    }
    anyhow::ensure!(case >= first, "a worker started no case");
    Ok(case)
}

fn lines(worker: &mut Child) -> anyhow::Result<Receiver<String>> {
    let output = worker.stdout.take().context("a worker has no output")?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}

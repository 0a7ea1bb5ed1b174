//! Runs cases and tells of each on standard output, before and after.

use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Context;
use armature_fuzz::{Choices, Corpus, Reached};

use crate::Cases;

/// Stack of the thread that runs cases: as much as the generator's own threads have.
const STACK: usize = 2 * 1024 * 1024;

/// Where and why the last panic was.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Runs cases from `first` on until `time` is over.
pub fn many(cases: &Cases, first: u64, step: u64, time: Duration) -> anyhow::Result<ExitCode> {
    let corpus = cases.corpus()?;
    let started = Instant::now();
    let mut out = io::stdout().lock();
    let mut case = first;
    while started.elapsed() < time {
        writeln!(out, "start {case}")?;
        out.flush()?;
        match outcome(&corpus, cases.seed, case)? {
            Ok(reached) => writeln!(out, "reached {reached:?}")?,
            Err(finding) => writeln!(out, "found {}", finding.replace('\n', " "))?,
        }
        case += step;
    }
    writeln!(out, "memory {}", peak_memory().unwrap_or_default())?;
    Ok(ExitCode::SUCCESS)
}

/// Runs one case, with its input in a file for whoever looks at it.
pub fn one(cases: &Cases, case: u64) -> anyhow::Result<ExitCode> {
    let corpus = cases.corpus()?;
    let (file, text) = armature_fuzz::input(&corpus, &mut Choices::of_case(cases.seed, case));
    let path = std::env::temp_dir().join(format!("armature-fuzz-{}-{case}.json", cases.seed));
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    println!("{file} is changed to {}", path.display());
    Ok(match outcome(&corpus, cases.seed, case)? {
        Ok(reached) => {
            println!("reached {reached:?}");
            ExitCode::SUCCESS
        }
        Err(finding) => {
            println!("found {finding}");
            ExitCode::FAILURE
        }
    })
}

/// How far a case came, or what was found.
fn outcome(corpus: &Corpus, seed: u64, case: u64) -> anyhow::Result<Result<Reached, String>> {
    panic::set_hook(Box::new(|info| {
        if let Ok(mut last) = PANIC.lock() {
            *last = info.to_string();
        }
    }));
    std::thread::scope(|scope| {
        let run = || {
            panic::catch_unwind(AssertUnwindSafe(|| {
                armature_fuzz::run(corpus, &mut Choices::of_case(seed, case))
            }))
        };
        let thread = std::thread::Builder::new().stack_size(STACK);
        let result = thread.spawn_scoped(scope, run)?.join();
        Ok(match result {
            Ok(Ok(Ok(reached))) => Ok(reached),
            Ok(Ok(Err(fault))) => Err(fault.to_string()),
            _ => Err(PANIC.lock().map(|it| it.clone()).unwrap_or_default()),
        })
    })
}

/// Most memory that this process has had, in KiB, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

//! Runs a program and reads what the kernel counted for it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use wait4::Wait4;

use super::Context;
use super::figure::{Figure, Unit};

/// One finished run of a program. The processes that it waited for count, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    /// From start to end.
    wall: Duration,
    /// Time on processors, in user and system mode.
    cpu: Duration,
    /// Peak resident memory of the largest process, in bytes.
    peak: u64,
}

/// Bars of a program's run, as the design has them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bars {
    /// Seconds from start to end.
    pub wall: Option<f64>,
    /// Megabytes of peak memory.
    pub peak: Option<f64>,
}

/// Runs `program` once to warm caches and then as often as asked, and returns wall time, processor time and peak
/// memory of the whole process.
///
/// # Errors
/// When the program cannot be run, or a run fails.
pub fn figures(
    context: &Context,
    program: &Path,
    arguments: &[&str],
    bars: Bars,
) -> anyhow::Result<Vec<Figure>> {
    once(program, arguments)?;
    let runs = (0..context.runs)
        .map(|_| once(program, arguments))
        .collect::<anyhow::Result<Vec<Run>>>()?;
    let figure = |name, unit, value: fn(&Run) -> f64| {
        Figure::new(name, unit, runs.iter().map(value).collect())
    };
    Ok(vec![
        figure("wall", Unit::Seconds, |run| run.wall.as_secs_f64()).at_most(bars.wall),
        figure("cpu", Unit::Seconds, |run| run.cpu.as_secs_f64()),
        figure("peak memory", Unit::Megabytes, |run| run.peak as f64 / 1e6).at_most(bars.peak),
    ])
}

fn once(program: &Path, arguments: &[&str]) -> anyhow::Result<Run> {
    let name = || format!("`{} {}`", program.display(), arguments.join(" "));
    let started = Instant::now();
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot run {}", name()))?;
    let used = child
        .wait4()
        .with_context(|| format!("cannot wait for {}", name()))?;
    let wall = started.elapsed();
    anyhow::ensure!(
        used.status.success(),
        "{} failed with {}; run it to see why",
        name(),
        used.status
    );
    Ok(Run {
        wall,
        cpu: used.rusage.utime + used.rusage.stime,
        peak: used.rusage.maxrss,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_takes_time_and_memory() {
        let run = once(Path::new("sh"), &["-c", "sleep 0.05"]).unwrap();
        assert!(run.wall >= Duration::from_millis(50), "{run:?}");
        assert!(run.cpu < run.wall, "{run:?}");
        assert!(run.peak > 100_000, "{run:?}");
    }

    #[test]
    fn a_failed_run_is_no_figure() {
        let error = once(Path::new("sh"), &["-c", "exit 3"]).unwrap_err();
        assert!(error.to_string().contains("run it to see why"), "{error}");
    }
}

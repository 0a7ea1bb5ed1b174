//! Figures as `cargo xtask bench` reads them.

use std::time::{Duration, Instant};

use serde::Serialize;

/// One quantity over all rounds.
#[derive(Debug, Serialize)]
pub struct Figure {
    /// What it is.
    pub name: &'static str,
    /// What it is counted in: `µs` or `bytes`.
    pub unit: &'static str,
    /// One value for each round.
    pub samples: Vec<f64>,
}

/// Shortest round: below, the clock and the scheduler would be measured.
const SHORTEST: Duration = Duration::from_millis(200);

/// Mean time of one call in microseconds, for each round. `work` does `calls` calls at once.
///
/// # Errors
/// What `work` fails with.
pub fn time(
    name: &'static str,
    runs: u32,
    calls: usize,
    mut work: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<Figure> {
    let mut samples = Vec::new();
    for _ in 0..=runs {
        let started = Instant::now();
        let mut done = 0;
        while done == 0 || started.elapsed() < SHORTEST {
            work()?;
            done += calls;
        }
        samples.push(started.elapsed().as_secs_f64() * 1e6 / done.max(1) as f64);
    }
    // The first round warms caches.
    samples.remove(0);
    Ok(Figure {
        name,
        unit: "µs",
        samples,
    })
}

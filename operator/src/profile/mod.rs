//! A CPU profile of this process, as `go tool pprof` reads it: `/debug/pprof/profile?seconds=N`.
//!
//! | module | what lives here |
//! |---|---|
//! | `mappings` | which files are mapped where |
//! | `names` | names of functions, from the program or from the file of its symbols |
//! | `proto` | the profile as a document |
//!
//! A timer interrupts the process 100 times in each second of CPU time; the stack of the thread that is interrupted is one sample.
//! Nothing is done between profiles. What samples takes some 70 MB from the first one on.
//!
//! What does not live here: who may ask (`metrics::endpoint`).

mod mappings;
mod names;
mod proto;

use std::time::{Duration, SystemTime};

use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use self::proto::{Samples, Stack};
use crate::platform::{Sampler, SamplerError};

/// Where Go's tools look for it.
pub const PATH: &str = "/debug/pprof/profile";

/// Samples in a second of CPU time, as Go takes them.
const FREQUENCY: i32 = 100;

/// How long a profile takes when nobody says, as in Go.
const USUAL: u64 = 30;

/// How long one takes at most: its reader waits for it, and others wait for theirs.
const LONGEST: u64 = 120;

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The length means nothing.
    #[error("seconds is '{0}': expected a whole number from 1 to {LONGEST}")]
    Seconds(String),
    /// Somebody else is taking one.
    #[error(
        "another profile is being taken, and there is one at a time: ask again when it has ended"
    )]
    Busy,
    /// The profiler does not begin, or has no result.
    #[error(
        "the profiler fails: {0}; it needs a folder for temporary files that can be written (TMPDIR, usually /tmp)"
    )]
    Profiler(SamplerError),
    /// The profile cannot be composed.
    #[error("the profile cannot be composed: {0}")]
    Compose(#[from] std::io::Error),
}

/// Takes profiles, one at a time.
pub struct Profiler {
    turn: Mutex<()>,
    /// Tells that the process stops: a profile ends then.
    stop: CancellationToken,
}

impl Profiler {
    /// Takes none yet.
    pub fn new(stop: CancellationToken) -> Self {
        Self {
            turn: Mutex::new(()),
            stop,
        }
    }

    /// A profile of so many seconds, as a compressed document. It ends early when the process stops, and when nobody waits for it
    /// any more.
    ///
    /// # Errors
    /// When another one is being taken, or the profiler fails.
    pub async fn take(&self, length: Duration) -> Result<Vec<u8>, ProfileError> {
        let _turn = self.turn.try_lock().map_err(|_| ProfileError::Busy)?;
        let started = SystemTime::now();
        // Reads the program for what unwinding needs.
        let guard = unless_lost(spawn_blocking(begin).await)?;
        self.stop
            .run_until_cancelled(tokio::time::sleep(length))
            .await;
        unless_lost(spawn_blocking(move || end(guard, started)).await)
    }
}

/// The length that a query asks for.
///
/// # Errors
/// When it is no number, or no length of a profile.
pub fn length(seconds: Option<&str>) -> Result<Duration, ProfileError> {
    let Some(text) = seconds.filter(|text| !text.is_empty()) else {
        return Ok(Duration::from_secs(USUAL));
    };
    let seconds = text.parse::<u64>().ok();
    let seconds = seconds.filter(|seconds| (1..=LONGEST).contains(seconds));
    let shown = || text.escape_debug().take(20).collect();
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| ProfileError::Seconds(shown()))
}

fn begin() -> Result<Sampler, ProfileError> {
    Sampler::begin(FREQUENCY).map_err(failed)
}

fn failed(error: SamplerError) -> ProfileError {
    match error {
        // One whose reader has gone ends a moment later.
        SamplerError::Running => ProfileError::Busy,
        error => ProfileError::Profiler(error),
    }
}

fn end(sampler: Sampler, started: SystemTime) -> Result<Vec<u8>, ProfileError> {
    let sampled = sampler.end().map_err(failed)?;
    let stacks = sampled.into_iter().map(|(frames, count)| Stack {
        addresses: addresses(frames.into_iter()),
        count: i64::try_from(count).unwrap_or(i64::MAX),
    });
    let samples = Samples {
        stacks: stacks.collect(),
        started,
        length: started.elapsed().unwrap_or_default(),
        frequency: FREQUENCY,
    };
    let mappings = mappings::executable()?;
    let names = names::of(&samples.addresses(), &mappings);
    Ok(proto::compose(&samples, &mappings, &names)?)
}

/// Addresses of instructions that ran or called: a caller is where it called, and not where it goes on, which may be another function's.
fn addresses(frames: impl Iterator<Item = u64>) -> Vec<u64> {
    let of_call = |(depth, address): (usize, u64)| match depth {
        0 => address,
        _ => address.saturating_sub(1),
    };
    frames.enumerate().map(of_call).collect()
}

/// What a task has made; its panic goes on here.
fn unless_lost<T>(
    done: Result<Result<T, ProfileError>, tokio::task::JoinError>,
) -> Result<T, ProfileError> {
    match done {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(std::io::Error::other(error).into()),
        },
    }
}

#[cfg(test)]
mod tests;

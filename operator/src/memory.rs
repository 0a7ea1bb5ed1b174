//! Memory that nobody uses: what the allocator holds, and code that has run.
//!
//! glibc's allocator keeps what was freed for whoever wants it next, except at the very end of its heaps. After all CRDs were
//! compared, or all objects listed, that is tens of megabytes for an operator that needs few from then on. musl's gives pages
//! back by itself.
//!
//! A start runs most of the program, and an operator that waits a tenth of that: of 24 MB of code 19 are in memory after the start, and
//! some 2 are used in a minute. Kernels of Linux that keep files in large pieces (6.18) map each piece as a whole.
//!
//! What does not live here: how much memory anything takes.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::platform::{give_memory_back, release_code};

/// How often memory is given back in the first minute, when most is freed.
const AT_FIRST: Duration = Duration::from_secs(3);

/// How often it is in the long run. A pass over the heap of 30,000 objects takes some milliseconds.
const LATER: Duration = Duration::from_secs(60);

/// Gives memory back now and then until told to stop.
pub async fn keep_small(stop: CancellationToken) {
    let started = Instant::now();
    while stop
        .run_until_cancelled(sleep(pause(started.elapsed())))
        .await
        .is_some()
    {
        give_memory_back();
        // Later the system knows best what is seldom used.
        if started.elapsed() < LATER {
            release_code();
        }
    }
}

fn pause(age: Duration) -> Duration {
    match age < LATER {
        true => AT_FIRST,
        false => LATER,
    }
}

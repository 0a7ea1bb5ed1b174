//! Memory that the allocator holds and nobody uses.
//!
//! glibc's allocator keeps what was freed for whoever wants it next, except at the very end of its heaps. After all CRDs were
//! compared, or all objects listed, that is tens of megabytes for an operator that needs few from then on. musl's gives pages
//! back by itself.
//!
//! What does not live here: how much memory anything takes.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

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
        give_back();
    }
}

fn pause(age: Duration) -> Duration {
    match age < LATER {
        true => AT_FIRST,
        false => LATER,
    }
}

/// Gives pages back to the system that hold nothing but freed memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "the C library's function has no safe form")]
fn give_back() {
    // SAFETY: it takes no pointer, may be called by any thread at any time (malloc_trim(3)), and frees nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Other allocators do it by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_back() {}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    /// Resident memory of this process, in kilobytes.
    fn resident() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let mut words = line.expect("it is there").split_whitespace();
        let size = words.nth(1).expect("a size");
        size.parse().expect("a number")
    }

    #[test]
    fn what_was_freed_between_what_is_used_goes_back() {
        // Too small for pages of their own, and every hundredth is kept, so that no heap ends in free memory.
        let mut small: Vec<Vec<u8>> = (0..400_000).map(|_| vec![1; 256]).collect();
        let mut kept = Vec::new();
        for (position, one) in small.drain(..).enumerate() {
            if position % 100 == 0 {
                kept.push(one);
            }
        }
        let before = resident();
        give_back();
        let after = resident();
        assert!(after + 50_000 < before, "{before} kB, then {after} kB");
        assert_eq!(kept.len(), 4_000);
    }
}

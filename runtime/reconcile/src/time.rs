//! The time by which the operator waits, injected: the machine's, or one that passes faster, so that a test need not
//! wait for as long as Azure asks.
//!
//! What does not live here: limits on requests and on stopping. Those are for what really takes time.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tokio::time::{Instant, sleep};

/// The time of day, injected so that tests know it.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// A time as Kubernetes writes it: UTC, in whole seconds (RFC 3339).
pub fn whole_seconds(at: Timestamp) -> String {
    let at = at.to_zoned(TimeZone::UTC);
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The operator's time.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    start: Instant,
    /// By how much more time passes than on the machine's clock, as a multiple of what passes there.
    extra: u32,
}

impl Default for Time {
    /// The machine's.
    fn default() -> Self {
        Self::times(1)
    }
}

impl Time {
    /// A time that starts at the machine's and passes this many times as fast.
    pub fn times(speed: u32) -> Self {
        Self {
            start: Instant::now(),
            extra: speed.saturating_sub(1),
        }
    }

    /// The moment for deadlines.
    pub fn instant(&self) -> Instant {
        Instant::now() + self.start.elapsed() * self.extra
    }

    /// Waits until a moment of this time.
    pub async fn sleep_until(&self, at: Instant) {
        let left = at.saturating_duration_since(self.instant());
        sleep(left / self.extra.saturating_add(1)).await;
    }
}

impl Clock for Time {
    fn now(&self) -> Timestamp {
        let ahead = self.start.elapsed() * self.extra;
        // Past the end of the calendar there is nothing to tell apart.
        Timestamp::now()
            .saturating_add(ahead)
            .unwrap_or(Timestamp::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waits_are_as_many_times_shorter_as_time_is_faster() {
        for (speed, waited) in [(0, 60_000), (1, 60_000), (1000, 60)] {
            let (time, started) = (Time::times(speed), Instant::now());
            let at = time.instant() + Duration::from_secs(60);
            time.sleep_until(at).await;
            let real = started.elapsed().as_millis();
            assert!((waited..=waited + 1).contains(&real), "{speed}: {real} ms");
            assert!(time.instant() >= at, "{speed}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_of_day_passes_as_fast() {
        let time = Time::times(1000);
        tokio::time::advance(Duration::from_secs(36)).await;
        let ahead = time.now().duration_since(Timestamp::now());
        // The machine's own time of day is not paused.
        assert!((ahead.as_secs() - 999 * 36).abs() <= 1, "{ahead:?}");
    }
}

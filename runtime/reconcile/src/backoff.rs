//! When a key is looked at again: retry classes and their delays (ASO behaviour §1.7).

use std::time::Duration;

use super::annotations::SyncPeriod;
use crate::urgency::Urgency;

/// Randomness, injected so that tests know the outcome.
pub trait Random: Send + Sync {
    /// A number in `[0, 1)`.
    fn unit(&self) -> f64;
}

/// The process's random numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn unit(&self) -> f64 {
        rand::random()
    }
}

/// How patient a retry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RetryClass {
    /// Something in the cluster is missing and may appear at any moment.
    Fast,
    /// Azure refused for a reason that may pass.
    Slow,
    /// Azure refused for a reason that rarely passes: once per sync period.
    VerySlow,
    /// An operation is running and Azure did not say when to ask again, or a plain retry.
    Poll,
}

impl RetryClass {
    /// Longest delay; `None` where the sync period is the delay.
    fn cap(self) -> Option<Duration> {
        match self {
            Self::Fast => Some(Duration::from_secs(30)),
            Self::Slow => Some(Duration::from_secs(180)),
            Self::Poll => Some(Duration::from_secs(60)),
            Self::VerySlow => None,
        }
    }
}

/// When to look at a key again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requeue {
    /// Not before something changes.
    Never,
    /// At once.
    Now,
    /// After a delay that Azure asked for. Counts as progress.
    After(Duration),
    /// After the class's delay, which grows with each one in a row.
    Backoff(RetryClass),
    /// A failure for which Azure named the shortest delay: the longer of it and the class's delay.
    BackoffAtLeast(RetryClass, Duration),
    /// After the sync period, with jitter. Counts as success.
    Sync,
    /// After a sync period of the object's own, with jitter. Counts as success.
    SyncAfter(Duration),
    /// A failure that rarely passes, after a sync period of the object's own, with jitter.
    RetryAfter(Duration),
    /// The budget of requests has room then. Counts neither as a failure nor as progress.
    PutOff(Duration),
}

impl Requeue {
    /// Attempts in a row, when there were `before` ahead of this one.
    pub fn attempts(self, before: u32) -> u32 {
        match self {
            Self::Backoff(_) | Self::BackoffAtLeast(..) | Self::RetryAfter(_) => {
                before.saturating_add(1)
            }
            Self::PutOff(_) => before,
            Self::Never | Self::Now | Self::After(_) | Self::Sync | Self::SyncAfter(_) => 0,
        }
    }

    /// Whether somebody waits for the next pass, after one of this urgency.
    pub fn urgency(self, before: Urgency) -> Urgency {
        match self {
            Self::PutOff(_) => before,
            Self::Never
            | Self::Sync
            | Self::SyncAfter(_)
            | Self::RetryAfter(_)
            | Self::Backoff(RetryClass::VerySlow) => Urgency::Background,
            Self::Now | Self::After(_) | Self::Backoff(_) | Self::BackoffAtLeast(..) => {
                Urgency::Foreground
            }
        }
    }

    /// Whether the pass found everything as it should be.
    pub fn is_well(self) -> bool {
        matches!(self, Self::Sync | Self::SyncAfter(_))
    }

    /// What came of the pass, in a word for figures and traces.
    pub fn result(self) -> &'static str {
        match self {
            Self::Never | Self::Sync | Self::SyncAfter(_) => "done",
            Self::Now | Self::After(_) => "progress",
            Self::Backoff(_) | Self::BackoffAtLeast(..) | Self::RetryAfter(_) => "retry",
            Self::PutOff(_) => "put-off",
        }
    }

    /// The same with a sync period of the object's own, where it has one. What has failed is tried again even where
    /// nothing is looked at otherwise.
    pub fn in_period(self, period: Option<SyncPeriod>) -> Self {
        match (self, period) {
            (Self::Sync, Some(SyncPeriod::Never)) => Self::Never,
            (Self::Sync, Some(SyncPeriod::Every(period))) => Self::SyncAfter(period),
            (Self::Backoff(RetryClass::VerySlow), Some(SyncPeriod::Every(period))) => {
                Self::RetryAfter(period)
            }
            (requeue, _) => requeue,
        }
    }
}

/// Periods that the operator's settings give.
#[derive(Clone, Copy, Debug)]
pub struct Periods {
    /// Time between two looks at a resource that is fine; `None` turns them off.
    pub sync: Option<Duration>,
}

/// Period where `VerySlow` needs one and the sync is turned off.
const DEFAULT_SYNC: Duration = Duration::from_secs(3600);
/// Share of the sync period by which it varies, up and down.
const SYNC_JITTER: f64 = 0.25;
/// Added at most to a moment at which the budget has room: the budget itself spreads these.
const PUT_OFF_JITTER: Duration = Duration::from_millis(500);
/// Share of a backoff delay that is added at most, so that objects that failed together spread.
const BACKOFF_JITTER: f64 = 0.1;

impl Default for Periods {
    fn default() -> Self {
        Self {
            sync: Some(DEFAULT_SYNC),
        }
    }
}

impl Periods {
    /// The delay; `None` means never. `attempts` counts the attempts in a row including this one.
    pub fn delay(&self, requeue: Requeue, attempts: u32, random: &dyn Random) -> Option<Duration> {
        match requeue {
            Requeue::Never => None,
            Requeue::Now => Some(Duration::ZERO),
            Requeue::After(delay) => Some(delay),
            Requeue::Backoff(class) => Some(self.backoff(class, attempts, random)),
            Requeue::BackoffAtLeast(class, least) => {
                Some(self.backoff(class, attempts, random).max(least))
            }
            Requeue::Sync => self.sync.map(|period| spread(period, random)),
            Requeue::SyncAfter(period) | Requeue::RetryAfter(period) => {
                Some(spread(period, random))
            }
            Requeue::PutOff(delay) => Some(delay + PUT_OFF_JITTER.mul_f64(random.unit())),
        }
    }

    fn backoff(&self, class: RetryClass, attempts: u32, random: &dyn Random) -> Duration {
        let Some(cap) = class.cap() else {
            return spread(self.sync.unwrap_or(DEFAULT_SYNC), random);
        };
        // 2^16 s is far above every cap and far below overflow.
        let exponent = attempts.saturating_sub(1).min(16);
        let delay = Duration::from_secs(1 << exponent).min(cap);
        delay.mul_f64(1.0 + BACKOFF_JITTER * random.unit())
    }
}

fn spread(period: Duration, random: &dyn Random) -> Duration {
    period.mul_f64(1.0 + SYNC_JITTER * (2.0 * random.unit() - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(f64);

    impl Random for Fixed {
        fn unit(&self) -> f64 {
            self.0
        }
    }

    #[test]
    fn classes_grow_to_their_caps() {
        let rows = [
            (RetryClass::Fast, 1, 1),
            (RetryClass::Fast, 4, 8),
            (RetryClass::Fast, 60, 30),
            (RetryClass::Slow, 1, 1),
            (RetryClass::Slow, 8, 128),
            (RetryClass::Slow, 9, 180),
            (RetryClass::Poll, 9, 60),
            (RetryClass::VerySlow, 1, 3600),
            (RetryClass::VerySlow, 9, 3600),
        ];
        let middle = |class| {
            if class == RetryClass::VerySlow {
                0.5
            } else {
                0.0
            }
        };
        for (class, attempts, seconds) in rows {
            let delay =
                Periods::default().delay(Requeue::Backoff(class), attempts, &Fixed(middle(class)));
            assert_eq!(
                delay,
                Some(Duration::from_secs(seconds)),
                "{class:?} {attempts}"
            );
        }
    }

    #[test]
    fn sync_varies_by_a_quarter() {
        let periods = Periods::default();
        let seconds = |unit| {
            periods
                .delay(Requeue::Sync, 0, &Fixed(unit))
                .unwrap()
                .as_secs()
        };
        assert_eq!((seconds(0.0), seconds(0.5)), (2700, 3600));
        assert!(seconds(0.999) >= 4490 && seconds(0.999) <= 4500);
    }

    #[test]
    fn sync_can_be_off_and_very_slow_still_returns() {
        let periods = Periods { sync: None };
        assert_eq!(periods.delay(Requeue::Sync, 0, &Fixed(0.5)), None);
        assert_eq!(
            periods.delay(Requeue::Backoff(RetryClass::VerySlow), 1, &Fixed(0.5)),
            Some(DEFAULT_SYNC)
        );
    }

    #[test]
    fn an_object_may_have_a_period_of_its_own() {
        let (minute, very_slow) = (Duration::from_secs(60), RetryClass::VerySlow);
        let (every, never) = (Some(SyncPeriod::Every(minute)), Some(SyncPeriod::Never));
        let slow = Requeue::Backoff(RetryClass::Slow);
        for (requeue, period, expected) in [
            (Requeue::Sync, None, Requeue::Sync),
            (Requeue::Sync, every, Requeue::SyncAfter(minute)),
            (Requeue::Sync, never, Requeue::Never),
            (
                Requeue::Backoff(very_slow),
                every,
                Requeue::RetryAfter(minute),
            ),
            (
                Requeue::Backoff(very_slow),
                never,
                Requeue::Backoff(very_slow),
            ),
            (slow, every, slow),
        ] {
            assert_eq!(
                requeue.in_period(period),
                expected,
                "{requeue:?} {period:?}"
            );
        }
        let delay = |requeue, unit| Periods { sync: None }.delay(requeue, 1, &Fixed(unit));
        for requeue in [Requeue::SyncAfter(minute), Requeue::RetryAfter(minute)] {
            assert_eq!(delay(requeue, 0.5), Some(minute), "{requeue:?}");
            let early = delay(requeue, 0.0);
            assert_eq!(early, Some(Duration::from_secs(45)), "{requeue:?}");
        }
    }

    #[test]
    fn what_is_put_off_neither_fails_nor_succeeds() {
        let wait = Requeue::PutOff(Duration::from_secs(20));
        assert_eq!((wait.attempts(0), wait.attempts(7)), (0, 7));
        assert_eq!(Requeue::Backoff(RetryClass::Slow).attempts(7), 8);
        assert_eq!(Requeue::Sync.attempts(7), 0);
        let delay = |unit| Periods::default().delay(wait, 7, &Fixed(unit)).unwrap();
        assert_eq!(delay(0.0), Duration::from_secs(20));
        assert_eq!(delay(0.5), Duration::from_millis(20_250));
    }

    #[test]
    fn azure_names_the_least_delay_of_a_failure() {
        let periods = Periods::default();
        let least = Requeue::BackoffAtLeast(RetryClass::Slow, Duration::from_secs(17));
        assert_eq!(
            periods.delay(least, 1, &Fixed(0.0)),
            Some(Duration::from_secs(17))
        );
        assert_eq!(
            periods.delay(least, 9, &Fixed(0.0)),
            Some(Duration::from_secs(180))
        );
    }
}

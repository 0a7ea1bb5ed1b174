//! How many workers there are: as many as get quick answers from the API server, within a limit.
//!
//! An API server that has more to do than it can answers everybody late, whole control planes of teams among them, and more
//! passes at once make it no faster. So the pool shrinks while answers take many times as long as they usually do, or are
//! refused (429, API Priority and Fairness), and grows again when there is work for more.

use std::time::Duration;

use tokio::time::Instant;

/// Workers that there are however slow the API server is.
const FEWEST: usize = 4;

/// How often answers are looked at.
const PERIOD: Duration = Duration::from_secs(1);

/// Answers in one period from which something can be told.
const ENOUGH: u32 = 10;

/// No mean time of answers up to this one is slow.
const QUICK: Duration = Duration::from_millis(100);

/// How many times the usual time of an answer is slow.
const TIMES: u32 = 8;

/// By which part the usual time grows in a period unless a quicker one is seen: doubled in some ten minutes.
const FORGETTING: u32 = 1000;

/// What became of requests to the API server in a while.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Requests that were answered, refused ones included.
    pub count: u32,
    /// How long those took, all together.
    pub took: Duration,
    /// Requests that were refused because there were too many (HTTP 429).
    pub refused: u32,
}

impl Answers {
    fn mean(self) -> Option<Duration> {
        (self.count >= ENOUGH).then(|| self.took / self.count)
    }
}

/// Who knows how the API server answers.
pub trait ApiServer: Send + Sync {
    /// What became of requests since this was asked last. Must not block.
    fn answers(&self) -> Answers;
}

/// The size of the pool.
pub(super) struct Pool {
    limit: usize,
    size: usize,
    /// The mean time of answers when the API server has little to do.
    usual: Option<Duration>,
    next: Option<Instant>,
    /// Whether there was work for more since answers were looked at.
    is_short: bool,
}

impl Pool {
    /// As large as may be, until the API server says otherwise.
    pub fn new(limit: usize) -> Self {
        let limit = limit.max(1);
        Self {
            limit,
            size: limit,
            usual: None,
            next: None,
            is_short: false,
        }
    }

    /// Workers that there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Workers that there are at most.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// There was work for more than there are.
    pub fn is_short(&mut self) {
        self.is_short = true;
    }

    /// When it may grow, where there is work for more and more may be.
    pub fn may_grow_at(&self) -> Option<Instant> {
        self.next
            .filter(|_| self.is_short && self.size < self.limit)
    }

    /// Whether it is time to look at answers.
    pub fn is_due(&self, now: Instant) -> bool {
        self.next.is_none_or(|next| next <= now)
    }

    /// Takes in how the API server answered in the period that ends now.
    pub fn adapt(&mut self, now: Instant, answers: Answers) {
        self.next = Some(now + PERIOD);
        let is_short = std::mem::take(&mut self.is_short);
        let mean = answers.mean();
        let is_slow = mean.is_some_and(|mean| self.is_slow(mean));
        self.note_usual(mean);
        let size = if answers.refused > 0 {
            self.size / 2
        } else if is_slow {
            self.size - self.size / 8
        } else if is_short {
            self.size + (self.size / 4).max(1)
        } else {
            self.size
        };
        self.size = size.clamp(FEWEST.min(self.limit), self.limit);
    }

    fn is_slow(&self, mean: Duration) -> bool {
        let usual = self.usual.unwrap_or(mean);
        mean > QUICK.max(usual * TIMES)
    }

    fn note_usual(&mut self, mean: Option<Duration>) {
        let grown = self.usual.map(|usual| usual + usual / FORGETTING);
        self.usual = match (grown, mean) {
            (Some(usual), Some(mean)) => Some(usual.min(mean)),
            (usual, mean) => usual.or(mean),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pool of at most 32 whose answers usually take this many milliseconds, after one period for each of the others.
    fn after(usual: u64, periods: &[(u64, u32, bool)]) -> Vec<usize> {
        let mut pool = Pool::new(32);
        let mut now = Instant::now();
        let mut sizes = Vec::new();
        for (milliseconds, refused, is_short) in std::iter::once(&(usual, 0, false)).chain(periods)
        {
            assert!(pool.is_due(now));
            if *is_short {
                pool.is_short();
            }
            let answers = Answers {
                count: 100,
                took: Duration::from_millis(100 * milliseconds),
                refused: *refused,
            };
            pool.adapt(now, answers);
            assert!(!pool.is_due(now));
            now += PERIOD;
            sizes.push(pool.size());
        }
        sizes
    }

    #[test]
    fn the_pool_shrinks_while_answers_are_slow_and_grows_where_there_is_work_for_more() {
        for (usual, periods, sizes, why) in [
            (5, vec![(99, 0, true)], vec![32, 32], "quick enough"),
            (
                20,
                vec![(159, 0, true)],
                vec![32, 32],
                "not slower than usual",
            ),
            (
                20,
                vec![(161, 0, true), (161, 0, true)],
                vec![32, 28, 25],
                "slow",
            ),
            (
                5,
                vec![(5, 1, true), (5, 0, true), (5, 0, false)],
                vec![32, 16, 20, 20],
                "refused",
            ),
            (
                5,
                vec![(5, 9, true); 6],
                vec![32, 16, 8, 4, 4, 4, 4],
                "never idle",
            ),
        ] {
            assert_eq!(after(usual, &periods), sizes, "{why}");
        }
    }

    #[test]
    fn a_server_that_became_slower_for_good_is_the_usual_one_in_the_end() {
        let sizes = after(20, &vec![(200, 0, true); 500]);
        assert_eq!(sizes[20], 4 + 3, "{sizes:?}");
        assert_eq!(sizes.last(), Some(&32));
    }

    #[test]
    fn a_few_answers_tell_nothing() {
        let mut pool = Pool::new(2);
        let answers = Answers {
            count: 3,
            took: Duration::from_secs(60),
            refused: 0,
        };
        pool.adapt(Instant::now(), answers);
        assert_eq!(pool.size(), 2);
    }
}

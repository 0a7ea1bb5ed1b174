//! The time that one pass may take.
//!
//! Each request has a limit of its own; a pass that meets many of them, or waits for what has none, would keep its worker from
//! others. It is ended between steps or within one, and the object says so. What a step had begun is given up there as it
//! would be if the process ended, with two exceptions: a write that has begun is waited for, and what Azure made of a PUT is
//! read and recorded. So a pass that writes may take longer, up to [`LATEST_WRITE`], after which no write begins.

use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::pass::Pass;
use crate::action::{Action, Finish, warning};
use crate::backoff::RetryClass;
use crate::condition::reason;
use crate::outcome::{Failure, Write};
use crate::port::KubernetesError;

/// How long a pass may take. Azure answers within a minute or two, and few passes send more than a handful of requests.
pub const LONGEST_PASS: Duration = Duration::from_secs(5 * 60);

/// When the last write of a pass may begin. Writes give the pass the time that they take, but not more than up to here.
const LATEST_WRITE: Duration = Duration::from_secs(2 * LONGEST_PASS.as_secs());

/// What the last step has that begins late: once in a pass.
const LEAST: Duration = Duration::from_secs(30);

/// How often it is looked at whether a write of an extension has had its answer.
const MOMENT: Duration = Duration::from_secs(1);

/// A step that was ended before its end.
pub(super) struct Ended {
    /// In words for people.
    step: &'static str,
    /// How long the pass had taken by then.
    after: Duration,
}

/// The time that a pass has left.
pub(super) struct Limit {
    began: Instant,
    deadline: Instant,
    /// Whether a step has had more than that already.
    was_extended: bool,
    /// Whether the pass has let no further write begin.
    has_ended_writes: bool,
}

impl Limit {
    /// Of a pass that begins.
    pub(super) fn new() -> Self {
        let began = Instant::now();
        Self {
            began,
            deadline: began + LONGEST_PASS,
            was_extended: false,
            has_ended_writes: false,
        }
    }

    /// Whether it is too late for a write to begin.
    fn is_too_late_to_write(&self) -> bool {
        self.has_ended_writes || self.began.elapsed() >= LATEST_WRITE
    }

    /// The end of a step, however long that takes. Later steps have as much time as before, until [`LATEST_WRITE`].
    async fn awaited<T>(&mut self, step: impl Future<Output = T>) -> T {
        let began = Instant::now();
        let done = step.await;
        self.deadline = (self.deadline + began.elapsed()).min(self.began + LATEST_WRITE);
        done
    }

    /// The end of a step, unless the pass has taken too long by then. A write that has begun is waited for; `ends_writes`
    /// lets no other begin, and says whether there is one.
    async fn within<T>(
        &mut self,
        mut step: Pin<&mut impl Future<Output = T>>,
        ends_writes: impl Fn() -> bool,
    ) -> Result<T, Duration> {
        // Most need no timer, and whoever only looks ahead has none.
        if let Poll::Ready(done) = futures::poll!(&mut step) {
            return Ok(done);
        }
        let least = Instant::now() + LEAST;
        if self.deadline < least && !self.was_extended {
            self.deadline = least;
            self.was_extended = true;
        }
        let mut deadline = self.deadline;
        loop {
            if let Ok(done) = timeout_at(deadline, &mut step).await {
                return Ok(done);
            }
            self.has_ended_writes = true;
            if !ends_writes() {
                return Err(self.began.elapsed());
            }
            deadline = Instant::now() + MOMENT;
        }
    }
}

impl Pass<'_> {
    /// Performs a step, until the pass has taken too long.
    pub(super) async fn perform_until(
        &mut self,
        action: Action,
        limit: &mut Limit,
    ) -> Result<Result<(), Ended>, KubernetesError> {
        let words = action.words();
        let owes_record = self.owes_record();
        if action.writes() && limit.is_too_late_to_write() && !owes_record {
            let after = limit.began.elapsed();
            return Ok(Err(Ended { step: words, after }));
        }
        let must_end = action.writes() || owes_record;
        let main = self.ways.main.clone();
        let mut step = pin!(async {
            self.perform(action).await?;
            self.tell_outside().await;
            Ok(())
        });
        if must_end {
            return limit.awaited(step).await.map(Ok);
        }
        match limit.within(step.as_mut(), || main.ends_writes()).await {
            Ok(performed) => performed.map(Ok),
            Err(after) => Ok(Err(Ended { step: words, after })),
        }
    }

    /// Whether a PUT was carried out, and what Azure made of it is not noted yet.
    fn owes_record(&self) -> bool {
        let findings = &self.findings;
        findings.writes.put == Some(Write::Completed) && findings.payload.recorded.is_none()
    }
}

impl Ended {
    /// The end of the pass. Another one begins as late as this one ended: what never answers has half of a worker at most.
    pub(super) fn finish(self) -> Finish {
        let Self { step, after } = self;
        let after = Duration::from_secs(after.as_secs());
        let message = format!(
            "the pass was ended after {} s, in the step '{step}': answers were late, or did not come. It is tried again",
            after.as_secs()
        );
        let failure = Failure {
            retry_after: Some(after),
            ..Failure::warning(reason::TIMED_OUT, RetryClass::Slow, message)
        };
        let event = warning(reason::TIMED_OUT, &failure.message);
        Finish::failed(&failure).and(event)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    /// When a pass of so many steps ends, of which each takes so many seconds, in seconds; and whether it was ended. Of some it is
    /// waited for.
    async fn run(steps: usize, seconds: u64, waits: impl Fn(usize) -> bool) -> (u64, bool) {
        let mut limit = Limit::new();
        for step in 0..steps {
            let sleep = sleep(Duration::from_secs(seconds));
            if waits(step) {
                if limit.is_too_late_to_write() {
                    return (limit.began.elapsed().as_secs(), true);
                }
                limit.awaited(sleep).await;
                continue;
            }
            let mut sleep = pin!(sleep);
            if let Err(after) = limit.within(sleep.as_mut(), || false).await {
                assert_eq!(after.as_secs(), limit.began.elapsed().as_secs());
                return (after.as_secs(), true);
            }
        }
        (limit.began.elapsed().as_secs(), false)
    }

    #[tokio::test(start_paused = true)]
    async fn however_many_steps_are_late_a_pass_ends() {
        assert_eq!(run(10, 29, |_| false).await, (290, false));
        assert_eq!(run(11, 29, |_| false).await, (319, false), "one is late");
        assert_eq!(run(40, 29, |_| false).await, (320, true));
        assert_eq!(run(40, 60, |_| false).await, (330, true));
        assert_eq!(run(40, 299, |_| false).await, (329, true));
    }

    /// What took long before, and was waited for, is no later step's fault.
    #[tokio::test(start_paused = true)]
    async fn what_is_waited_for_takes_no_time_of_others() {
        assert_eq!(run(3, 299, |step| step == 0).await, (299 + 329, true));
        assert_eq!(run(12, 29, |step| step < 2).await, (348, false));
        assert_eq!(run(40, 29, |step| step == 39).await, (320, true));
    }

    /// However many of them are slow.
    #[tokio::test(start_paused = true)]
    async fn writes_have_an_end_as_well() {
        assert_eq!(run(10, 60, |_| true).await, (600, false));
        assert_eq!(run(40, 60, |_| true).await, (600, true));
        assert_eq!(
            run(40, 299, |_| true).await,
            (897, true),
            "the last begins at 598 s"
        );
        assert_eq!(run(40, 60, |step| step % 2 == 0).await, (600, true));
    }

    #[tokio::test(start_paused = true)]
    async fn a_step_that_writes_is_waited_for_beyond_the_end() {
        let mut limit = Limit::new();
        let mut step = pin!(sleep(Duration::from_secs(400)));
        assert!(!limit.is_too_late_to_write());
        assert!(limit.within(step.as_mut(), || true).await.is_ok());
        assert_eq!(limit.began.elapsed().as_secs(), 400);
        assert!(limit.is_too_late_to_write(), "this was the last one");
    }
}

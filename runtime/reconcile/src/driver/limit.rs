//! The time that one pass may take.
//!
//! Each request has a limit of its own; a pass that meets many of them, or waits for what has none, would keep its worker from
//! others. It is ended between steps or within one, and the object says so. What a step had begun is given up there as it
//! would be if the process ended, with two exceptions: a write is waited for, and what Azure made of a PUT is read and recorded.

use std::pin::pin;
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
pub(super) const LONGEST_PASS: Duration = Duration::from_secs(5 * 60);

/// What each step has, however late it is.
const LEAST: Duration = Duration::from_secs(30);

/// How often it is looked at whether a write of an extension has had its answer.
const MOMENT: Duration = Duration::from_secs(1);

/// A step that was ended before its end, in words for people.
pub(super) struct Ended(&'static str);

impl Pass<'_> {
    /// Performs a step, until the pass has taken too long.
    pub(super) async fn perform_until(
        &mut self,
        action: Action,
        mut deadline: Instant,
    ) -> Result<Result<(), Ended>, KubernetesError> {
        let words = action.words();
        // What took long before, and was waited for, is not this step's fault.
        deadline = deadline.max(Instant::now() + LEAST);
        let must_end = action.writes() || self.owes_record();
        let gate = self.ways.gate.clone();
        let mut step = pin!(async {
            self.perform(action).await?;
            self.tell_outside().await;
            Ok(())
        });
        if must_end {
            return step.await.map(Ok);
        }
        // Most need no timer, and whoever only looks ahead has none.
        if let Poll::Ready(performed) = futures::poll!(&mut step) {
            return performed.map(Ok);
        }
        loop {
            if let Ok(performed) = timeout_at(deadline, &mut step).await {
                return performed.map(Ok);
            }
            if !gate.is_writing() {
                return Ok(Err(Ended(words)));
            }
            deadline = Instant::now() + MOMENT;
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
        let message = format!(
            "the pass was ended after {} s, in the step '{}': something did not answer. It is tried again",
            LONGEST_PASS.as_secs(),
            self.0
        );
        let failure = Failure {
            retry_after: Some(LONGEST_PASS),
            ..Failure::warning(reason::TIMED_OUT, RetryClass::Slow, message)
        };
        let event = warning(reason::TIMED_OUT, &failure.message);
        Finish::failed(&failure).and(event)
    }
}

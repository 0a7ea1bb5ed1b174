//! Waiting for what Azure may be doing with a resource, for a while.
//!
//! A resource never has two writes in flight, as far as Azure says what it is doing. Where it does not, such as for a
//! resource that is `Updating` without an end or that never appears, the wait has a limit, and then the write is sent: Azure
//! refuses it with 409 if something does run.

use std::ops::ControlFlow::{Break, Continue};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::action::{Action, Finish};
use crate::backoff::Requeue;
use crate::view::{Hold, ResourceView};

use super::Step;

/// How long a wait is nothing worth telling: most end sooner.
const UNSAID: SignedDuration = SignedDuration::from_mins(1);

/// The write that is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// A PUT.
    Put,
    /// A DELETE.
    Delete,
}

impl Held {
    fn limit(self, hold: &Hold) -> (Duration, &'static str) {
        match self {
            Self::Put => (hold.limits.before_put, "longest-hold-before-put"),
            Self::Delete => (hold.limits.before_delete, "longest-hold-before-delete"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

/// Goes on when the write has been held back for long enough. Until then the pass ends as it is told, after a while with the
/// time until which it lasts, and looks again no later than that.
pub(super) fn hold(view: &ResourceView, write: Held, end: impl FnOnce() -> Finish) -> Step<()> {
    let Some(since) = view.hold.since else {
        return Break(Action::BeginHold);
    };
    let (limit, setting) = write.limit(&view.hold);
    let deadline = deadline(since, limit);
    let left = Duration::try_from(deadline.duration_since(view.hold.now)).unwrap_or_default();
    if left.is_zero() {
        return Continue(());
    }
    let mut finish = end();
    let name = write.name();
    let limit = text(limit);
    let is_told = view.hold.now.duration_since(since) >= UNSAID;
    if let Some(verdict) = finish.verdict.as_mut().filter(|_| is_told) {
        let rest = format!("; the {name} is sent all the same at {deadline} ({setting}: {limit})");
        verdict.message.push_str(&rest);
    }
    if let Requeue::After(after) = finish.requeue {
        finish.requeue = Requeue::After(after.min(left));
    }
    Break(Action::Finish(finish))
}

/// A setting may be as long as it likes.
fn deadline(since: Timestamp, limit: Duration) -> Timestamp {
    let limit = SignedDuration::try_from(limit).unwrap_or(SignedDuration::MAX);
    since.checked_add(limit).unwrap_or(Timestamp::MAX)
}

/// `5m`, or `90s` where it is no number of minutes.
fn text(limit: Duration) -> String {
    let seconds = limit.as_secs();
    match seconds % 60 {
        0 => format!("{}m", seconds / 60),
        _ => format!("{seconds}s"),
    }
}

//! What ends a pass before the first request to Azure: annotations that mean nothing, and a pause.

use std::time::Duration;

use crate::action::{Action, Finish};
use crate::backoff::Requeue;
use crate::condition::reason;
use crate::outcome::Failure;
use crate::view::ResourceView;

/// Longest time until a paused object is looked at again, which costs no request.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// The end of the pass, where users say so or cannot be understood. Deletion waits too.
pub(super) fn stop(view: &ResourceView) -> Option<Action> {
    if view.deleting && !view.claimed {
        return None;
    }
    if let Some(message) = &view.mistakes {
        let failure = Failure::error(reason::INVALID_ANNOTATION, message);
        return Some(Action::Finish(Finish::failed(&failure)));
    }
    let paused = view.paused.as_ref()?;
    let requeue = match paused.left {
        Some(left) => Requeue::After(left.min(LONGEST_WAIT)),
        None => Requeue::Never,
    };
    Some(Action::Finish(Finish::paused(&paused.message, requeue)))
}

//! What ends a pass before the first request to Azure: annotations that mean nothing, a pause, and notes that nobody vouches for.

use std::time::Duration;

use armature_shapes::names;

use crate::action::{Action, Finish};
use crate::backoff::{Requeue, RetryClass};
use crate::condition::reason;
use crate::outcome::Failure;
use crate::view::{Paused, ResourceView};

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
    match &view.paused {
        Some(paused) => Some(pause(paused)),
        None => unvouched(view),
    }
}

fn pause(paused: &Paused) -> Action {
    let requeue = match paused.left {
        Some(left) => Requeue::After(left.min(LONGEST_WAIT)),
        None => Requeue::Never,
    };
    Action::Finish(Finish::paused(&paused.message, requeue))
}

/// Nothing is sent while it is not known whose the resource is: to delete it may be wrong, and to leave it behind as well.
fn unvouched(view: &ResourceView) -> Option<Action> {
    let acts = match view.deleting {
        true => view.policy.allows_delete() && view.has_resource_id,
        false => view.policy.allows_put(),
    };
    if !view.unvouched || !acts || view.observe {
        return None;
    }
    let message = format!(
        "the object says that it has made or adopted its resource, and this does not bear the operator's signature: it was changed by \
         somebody else or by another release, or the object comes from a backup. As {} is set, nothing is sent. `armature sign-notes --vouch` \
         vouches for the object as it is; {}: always takes the resource over; {}: detach-on-delete lets the object go",
        names::ADOPT,
        names::ADOPT,
        names::RECONCILE_POLICY
    );
    let failure = Failure::warning(reason::ADOPTION_REFUSED, RetryClass::VerySlow, message);
    Some(Action::Finish(Finish::failed(&failure)))
}

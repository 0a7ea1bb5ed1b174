//! Deleting: ASO behaviour §1.9.

use crate::reconcile::action::{Action, Finish};
use crate::reconcile::backoff::RetryClass;
use crate::reconcile::classify::Failure;
use crate::reconcile::condition::{Verdict, reason};
use crate::reconcile::names;
use crate::reconcile::observed::{Observed, Poll, Resource, Write};
use crate::reconcile::view::{ResourceView, StoredOperation};

use super::{credential, known, policy, wait};

/// The next step towards being gone.
pub(super) fn decide(view: &ResourceView, observed: &Observed) -> Result<Action, Action> {
    if !view.claimed {
        return Ok(Action::Finish(Finish::silent()));
    }
    let policy = policy(view, observed)?;
    // Item 1, and item 3 for what was never created.
    if !policy.allows_delete() || view.observe || !view.has_resource_id {
        return Ok(Action::RemoveFinalizer);
    }
    credential(view, observed, fail)?;
    monitor(view, observed)?;
    if let Some(outcome) = &observed.delete {
        return Ok(delete_outcome(outcome));
    }
    if view.verbs.delete {
        begin(view, observed)
    } else {
        unsupported(observed)
    }
}

/// Item 4: whatever goes wrong here is tried again.
fn fail(failure: &Failure) -> Action {
    let failure = failure.clone().as_warning();
    Action::Finish(Finish::failed(&failure).and_warn(names::event::DELETE_FAILED, failure.message))
}

/// Item 2: follow a running DELETE. A PUT that still runs is left alone: Azure refuses the DELETE while it
/// cannot take it.
fn monitor(view: &ResourceView, observed: &Observed) -> Result<(), Action> {
    match (&observed.poll, view.operation) {
        // What runs was started by this very pass.
        _ if observed.delete.is_some() => Ok(()),
        (None, StoredOperation::None) => Ok(()),
        (None, StoredOperation::Delete) => Err(Action::Poll),
        (None, StoredOperation::Put | StoredOperation::Unreadable) => Err(Action::ForgetOperation),
        (Some(Poll::Running(after)), _) => Err(running(*after)),
        (Some(Poll::Unknown(failure)), _) => Err(fail(failure)),
        (Some(Poll::Succeeded), _) => Err(Action::RemoveFinalizer),
        (Some(_), StoredOperation::Delete) => Err(Action::ForgetOperation),
        (Some(Poll::Failed(failure)), _) => Err(fail(failure)),
        (Some(Poll::Lost), _) => Ok(()),
    }
}

/// Item 3: look, then DELETE. Only a clear "not there" saves the DELETE.
fn begin(view: &ResourceView, observed: &Observed) -> Result<Action, Action> {
    if view.verbs.get {
        match &observed.resource {
            None => return Err(Action::Get),
            Some(Ok(Resource::Missing)) => return Ok(Action::RemoveFinalizer),
            Some(_) => {}
        }
    }
    Ok(Action::Delete)
}

/// Item 2, last part: the type has no DELETE.
fn unsupported(observed: &Observed) -> Result<Action, Action> {
    match known(&observed.resource, Action::Get, fail)? {
        Resource::Missing => Ok(Action::RemoveFinalizer),
        Resource::Found(_) => {
            let message = "Azure cannot delete resources of this type; they go with their owner. Set reconcile-policy to detach-on-delete to let the object go";
            let failure = Failure::warning(
                reason::DELETION_NOT_SUPPORTED,
                RetryClass::VerySlow,
                message,
            );
            Ok(Action::Finish(
                Finish::failed(&failure).and_warn(names::event::NOT_POSSIBLE, message),
            ))
        }
    }
}

fn delete_outcome(outcome: &Write) -> Action {
    match outcome {
        Write::Completed => Action::RemoveFinalizer,
        Write::Running(after) => running(*after),
        Write::Failed(failure) => fail(failure),
    }
}

fn running(after: Option<std::time::Duration>) -> Action {
    Action::Finish(Finish::with(
        Verdict::progress(reason::DELETING, "waiting for Azure"),
        wait(after),
    ))
}

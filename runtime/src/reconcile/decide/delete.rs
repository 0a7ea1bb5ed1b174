//! Deleting: ASO behaviour §1.9.

use std::ops::ControlFlow::{Break, Continue};

use crate::reconcile::action::{Action, Finish};
use crate::reconcile::backoff::RetryClass;
use crate::reconcile::classify::Failure;
use crate::reconcile::condition::{Verdict, reason};
use crate::reconcile::names;
use crate::reconcile::observed::{Observed, Poll, Resource, Write};
use crate::reconcile::view::{ResourceView, StoredOperation};

use super::{Step, credential, known, policy, wait};

/// The next step towards being gone.
pub(super) fn decide(view: &ResourceView, observed: &Observed) -> Step<Action> {
    if !view.claimed {
        return Continue(Action::Finish(Finish::silent()));
    }
    let policy = policy(view, observed)?;
    // Item 1, and item 3 for what was never created.
    if !policy.allows_delete() || view.observe || !view.has_resource_id {
        return Continue(Action::RemoveFinalizer);
    }
    credential(view, observed, fail)?;
    monitor(view, observed)?;
    if let Some(outcome) = &observed.delete {
        return Continue(delete_outcome(outcome));
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

/// Item 2: follow a running DELETE. A PUT that still runs is left alone where the resource shows: Azure refuses the
/// DELETE while it cannot take it.
fn monitor(view: &ResourceView, observed: &Observed) -> Step<()> {
    match (&observed.poll, view.operation) {
        // What runs was started by this very pass.
        _ if observed.delete.is_some() => Continue(()),
        (None, StoredOperation::None) => Continue(()),
        (None, StoredOperation::Delete) => Break(Action::Poll),
        (None, StoredOperation::Put) => Break(running_put(view, observed)),
        (None, StoredOperation::Unreadable) => Break(Action::ForgetOperation),
        (Some(Poll::Running(after)), _) => Break(running(*after)),
        (Some(Poll::Unknown(failure)), _) => Break(fail(failure)),
        (Some(Poll::Succeeded), StoredOperation::Delete) => Break(Action::RemoveFinalizer),
        (Some(_), StoredOperation::Delete | StoredOperation::Put) => Break(Action::ForgetOperation),
        (Some(Poll::Failed(failure)), _) => Break(fail(failure)),
        (Some(Poll::Succeeded | Poll::Lost), _) => Continue(()),
    }
}

/// Azure shows a new resource only at the end of some PUTs (ARM RPC, asynchronous operations). Until then "not there"
/// means "not yet", and letting the object go would leave the resource behind.
fn running_put(view: &ResourceView, observed: &Observed) -> Action {
    match &observed.resource {
        None if view.verbs.get => Action::Get,
        Some(Ok(Resource::Missing)) => Action::Poll,
        _ => Action::ForgetOperation,
    }
}

/// Item 3: look, then DELETE. Only a clear "not there" saves the DELETE.
fn begin(view: &ResourceView, observed: &Observed) -> Step<Action> {
    if view.verbs.get {
        match &observed.resource {
            None => return Break(Action::Get),
            Some(Ok(Resource::Missing)) => return Continue(Action::RemoveFinalizer),
            Some(_) => {}
        }
    }
    Continue(Action::Delete)
}

/// Item 2, last part: the type has no DELETE.
fn unsupported(observed: &Observed) -> Step<Action> {
    match known(&observed.resource, Action::Get, fail)? {
        Resource::Missing => Continue(Action::RemoveFinalizer),
        Resource::Found(_) => {
            let message = "Azure cannot delete resources of this type; they go with their owner. \
                Set reconcile-policy to detach-on-delete to let the object go";
            let failure = Failure::warning(
                reason::DELETION_NOT_SUPPORTED,
                RetryClass::VerySlow,
                message,
            );
            Continue(Action::Finish(
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

//! Deleting: ASO behaviour §1.9.

use std::ops::ControlFlow::{Break, Continue};

use armature_shapes::names;

use super::hold::{Held, hold};
use super::{Step, adopt, credential, holder, identity, known, unless_paused, unproven, wait};
use crate::action::{Action, Finish};
use crate::backoff::{Requeue, RetryClass};
use crate::condition::{Verdict, reason};
use crate::observed::{Holder, Identity, NamedBy, Observed, Resource};
use crate::outcome::{Failure, Poll, Write};
use crate::port::Protection;
use crate::remote::Provisioning;
use crate::view::{ResourceView, StoredOperation};

/// The next step towards being gone.
pub(super) fn decide(view: &ResourceView, observed: &Observed) -> Step<Action> {
    if !view.claimed {
        return Continue(Action::Finish(Finish::silent()));
    }
    // Item 1, item 3 for what was never created, and what the object was not allowed to take over.
    let is_kept = !view.policy.allows_delete() || view.observe || adopt::is_of_others(view);
    if is_kept || !view.has_resource_id {
        return Continue(Action::RemoveFinalizer);
    }
    credential(view, observed, fail)?;
    let identity = identity(observed, fail)?;
    // Azure never had it.
    if identity == Identity::Moved {
        return Continue(Action::RemoveFinalizer);
    }
    // It is another object's, unless that one goes first: what is there after that is this one's.
    if let Some(holder) = holder(view, observed, reason::DELETING)? {
        return Continue(match observed.holder {
            Some(Holder::Leaving(_)) => {
                let message = format!("waiting for {holder}, which stands for the same resource");
                progress(message, Requeue::Backoff(RetryClass::Poll))
            }
            _ => Action::RemoveFinalizer,
        });
    }
    monitor(view, observed)?;
    if let Some(outcome) = &observed.delete {
        return Continue(delete_outcome(view, outcome));
    }
    if view.verbs.delete {
        match begin(view, observed)? {
            // That there is nothing was seen before.
            Action::Delete if identity == Identity::Unproven => Continue(fail(&unproven())),
            Action::Delete => release(view, observed),
            action => Continue(action),
        }
    } else {
        unsupported(observed)
    }
}

/// The last questions before a DELETE: whether the namespace still allows it, and whether it would take along what must
/// not be deleted.
fn release(view: &ResourceView, observed: &Observed) -> Step<Action> {
    if !observed.namespace_is_live {
        return Break(Action::ReadNamespace);
    }
    let message = match &observed.protection {
        _ if view.protected => format!(
            "the resource is not deleted: it is protected ({}: delete)",
            names::PROTECT
        ),
        None => return Break(Action::LookForProtected),
        Some(Protection::None) => return Continue(delete_unless_named(observed)),
        Some(Protection::Of(object)) => format!(
            "the resource is not deleted: {object}, which would go along, is protected ({}: delete)",
            names::PROTECT
        ),
        Some(Protection::Unknown(what)) => {
            let message =
                format!("not deleting yet: {what}, and a resource below this one may be protected");
            return Break(progress(message, Requeue::Backoff(RetryClass::Poll)));
        }
    };
    Break(Action::Finish(Finish::failed(&Failure::warning(
        reason::PROTECTED,
        RetryClass::Slow,
        message,
    ))))
}

/// What the parent's spec names is the parent's from now on.
fn delete_unless_named(observed: &Observed) -> Action {
    match &observed.named_by {
        None => Action::LookForProtected,
        Some(NamedBy::Nobody) => Action::Delete,
        Some(NamedBy::Object(..)) => Action::RemoveFinalizer,
        Some(NamedBy::Unknown(what)) => {
            let message = format!(
                "not deleting yet: {what}, and the resource may be named by the one that it is in"
            );
            progress(message, Requeue::Backoff(RetryClass::Poll))
        }
    }
}

/// Azure's codes where the subscription or tenant may be gone, and what is in it with it: nobody will ever say that the resource is.
const GONE_FOR_GOOD: [&str; 4] = [
    "SubscriptionNotFound",
    "InvalidSubscriptionId",
    "TenantNotFound",
    "InvalidAuthenticationTokenTenant",
];

/// Item 4: whatever goes wrong here is tried again.
fn fail(failure: &Failure) -> Action {
    Action::Finish(failed(failure))
}

fn is_gone_for_good(failure: &Failure) -> bool {
    GONE_FOR_GOOD.contains(&failure.reason.as_str())
}

fn failed(failure: &Failure) -> Finish {
    let mut failure = failure.clone().as_warning();
    if is_gone_for_good(&failure) {
        let way_out = format!(
            "; if it is gone for good, set the annotation {}: detach-on-delete, and the object goes",
            names::RECONCILE_POLICY
        );
        failure.message.push_str(&way_out);
    }
    Finish::failed(&failure).and_warn(names::event::DELETE_FAILED, failure.message)
}

/// Item 2: follow a running DELETE. A PUT that still runs is followed to its end first: a resource never has two
/// writes in flight, and one that Azure does not show before its PUT has ended would be left behind.
fn monitor(view: &ResourceView, observed: &Observed) -> Step<()> {
    match (&observed.poll, view.operation) {
        // What runs was started by this very pass.
        _ if observed.delete.is_some() => Continue(()),
        (None, StoredOperation::None) => Continue(()),
        (None, StoredOperation::Delete | StoredOperation::Put) => Break(Action::Poll),
        (None, StoredOperation::Prerequisite | StoredOperation::Unreadable) => {
            Break(Action::ForgetOperation)
        }
        (Some(Poll::Running(after)), StoredOperation::Put) => Break(progress(
            "waiting for the running PUT to end before the DELETE",
            wait(view, *after),
        )),
        (Some(Poll::Running(after)), _) => Break(running(view, *after)),
        (Some(Poll::Unreported(after)), operation) if operation != StoredOperation::None => {
            let what = match operation {
                StoredOperation::Put => "waiting for the running PUT to end before the DELETE",
                _ => "waiting for Azure",
            };
            hold(view, Held::Delete, || end(what, wait(view, *after)))?;
            Break(Action::ForgetOperation)
        }
        (Some(Poll::Doubtful(failure)), operation) if operation != StoredOperation::None => {
            hold(view, Held::Delete, || failed(failure))?;
            Break(Action::ForgetOperation)
        }
        (Some(Poll::Unknown(failure)), _) => Break(fail(failure)),
        // However the PUT ended: the DELETE takes the place of its state.
        (Some(_), StoredOperation::Put) => Continue(()),
        (Some(Poll::Succeeded), StoredOperation::Delete) => Break(Action::RemoveFinalizer),
        // A PUT that ended in this pass: by now that is recorded, and the object was deleted meanwhile.
        (Some(Poll::Succeeded), _) => Continue(()),
        (Some(_), StoredOperation::Delete) => Break(Action::ForgetOperation),
        (Some(Poll::Failed(failure)), _) => Break(fail(failure)),
        (Some(Poll::Unreported(_) | Poll::Doubtful(_) | Poll::Lost | Poll::Prepared), _) => {
            Continue(())
        }
    }
}

/// Item 3: look, then DELETE. Only a clear "not there" saves the DELETE, and only what Azure itself is doing with the
/// resource holds it back.
fn begin(view: &ResourceView, observed: &Observed) -> Step<Action> {
    if view.verbs.get {
        match &observed.resource {
            None => return Break(Action::Get),
            Some(Ok(Resource::Missing)) if view.put_may_run => {
                let message = "Azure does not show the resource, but may be making it: a PUT had no answer, or the operator \
                    was restarted before it knew what came of it, or another operator has sent one. Looking again for a while";
                return Break(progress(message, Requeue::Backoff(RetryClass::Poll)));
            }
            // A DELETE of what is not there yet would be the end of it.
            Some(Err(failure)) if view.put_may_run => return Break(fail(failure)),
            Some(Ok(Resource::Missing)) => return Continue(Action::RemoveFinalizer),
            Some(Ok(Resource::Found(Provisioning::Running(state)))) => {
                let message = format!(
                    "Azure is working on the resource: provisioningState is {state}; deleting it after that"
                );
                hold(view, Held::Delete, || {
                    end(message, Requeue::Backoff(RetryClass::Poll))
                })?;
            }
            Some(_) => {}
        }
    }
    Continue(unless_paused(view, Action::Delete))
}

/// Item 2, last part: the type has no DELETE.
fn unsupported(observed: &Observed) -> Step<Action> {
    match known(&observed.resource, Action::Get, fail_without_delete)? {
        Resource::Missing => Continue(Action::RemoveFinalizer),
        Resource::Found(_) => {
            let message = format!("{NO_DELETE}. {LET_GO}");
            let failure = Failure::warning(
                reason::DELETION_NOT_SUPPORTED,
                RetryClass::VerySlow,
                message.as_str(),
            );
            Continue(Action::Finish(
                Finish::failed(&failure).and_warn(names::event::NOT_POSSIBLE, message),
            ))
        }
    }
}

const NO_DELETE: &str = "Azure cannot delete resources of this type; they go with their owner";
const LET_GO: &str = "Set reconcile-policy to detach-on-delete to let the object go";

/// Whether the resource is still there is not known. That nothing will delete it is.
fn fail_without_delete(failure: &Failure) -> Action {
    let mut failure = failure.clone();
    // An error that has a way out of its own tells it.
    if !is_gone_for_good(&failure) {
        failure
            .message
            .push_str(&format!("; {NO_DELETE}. {LET_GO}"));
    }
    fail(&failure)
}

fn delete_outcome(view: &ResourceView, outcome: &Write) -> Action {
    match outcome {
        Write::Completed => Action::RemoveFinalizer,
        Write::Running(after) => running(view, *after),
        Write::Failed(failure) => fail(failure),
    }
}

fn running(view: &ResourceView, after: Option<std::time::Duration>) -> Action {
    progress("waiting for Azure", wait(view, after))
}

/// Item 5.
fn progress(message: impl Into<String>, requeue: Requeue) -> Action {
    Action::Finish(end(message, requeue))
}

fn end(message: impl Into<String>, requeue: Requeue) -> Finish {
    let verdict = Verdict::progress(reason::DELETING, message);
    Finish::with(verdict, requeue)
}

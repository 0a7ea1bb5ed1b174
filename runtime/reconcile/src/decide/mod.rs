//! The decision: from what the object says and what the pass has found out to the one next step.
//!
//! Pure. Each function answers "what is still missing here?": `Break` is the step that is missing,
//! `Continue` goes on to the next question. The order of the questions is the state machine of ASO behaviour
//! §1.3 (create, update) and §1.9 (delete). What we do otherwise than ASO: a GET comes before the PUT, and the
//! PUT only follows when something differs.

mod adopt;
mod apply;
mod delete;
mod hold;
mod stop;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow::{self, Break, Continue};
use std::time::Duration;

use armature_shapes::names;

use super::action::{Action, Finish};
use super::backoff::{Requeue, RetryClass};
use super::condition::{Verdict, reason};
use super::observed::{Holder, Identity, Observed};
use super::outcome::Failure;
use super::view::{Manager, ResourceView};
use super::young;

/// How long to wait for the first list of all objects to be complete.
const UNTIL_LISTED: Duration = Duration::from_secs(1);

/// Time between two looks at a resource that is missing, before it is created again where others have made something in it.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// How long an object does not say that it waits for that.
const LISTED_SILENTLY: Duration = Duration::from_secs(30);

/// The answer to one question: the step that is missing, or what is known.
type Step<T> = ControlFlow<Action, T>;

/// The next step of the pass.
pub fn decide(view: &ResourceView, observed: &Observed) -> Action {
    if let Some(action) = take_ownership(view) {
        return action;
    }
    if let Some(action) = stop::stop(view) {
        return action;
    }
    let step = if view.deleting {
        delete::decide(view, observed)
    } else {
        apply::decide(view, observed)
    };
    match step {
        Break(action) | Continue(action) => action,
    }
}

/// The end of a pass whose next request has to wait for the budget. A periodic look leaves no trace; where
/// somebody waits, the condition says why.
pub fn put_off(view: &ResourceView, is_background: bool, wait: Duration) -> Finish {
    let requeue = Requeue::PutOff(wait);
    if is_background {
        return Finish {
            requeue,
            ..Finish::silent()
        };
    }
    let reason = if view.deleting {
        reason::DELETING
    } else {
        reason::RECONCILING
    };
    let message = "waiting for the subscription's limit of requests to Azure";
    Finish::with(Verdict::progress(reason, message), requeue)
}

/// Step 2: one operator per object.
fn take_ownership(view: &ResourceView) -> Option<Action> {
    match &view.manager {
        Manager::Us => None,
        Manager::Nobody if view.deleting => None,
        Manager::Nobody => Some(Action::TakeOwnership),
        Manager::Other(namespace) => Some(Action::Finish(Finish::silent().and_warn(
            names::event::OVERLAP,
            format!(
                "the operator in namespace {namespace} manages this object; remove the annotation {} to hand it over",
                names::OPERATOR_NAMESPACE
            ),
        ))),
    }
}

/// Steps 4a and 11: there is a credential, and it is for the resource's subscription.
fn credential(view: &ResourceView, observed: &Observed, fail: fn(&Failure) -> Action) -> Step<()> {
    let credential = known(&observed.credential, Action::SelectCredential, fail)?;
    match &view.subscription {
        Some(subscription) if !subscription.eq_ignore_ascii_case(&credential.subscription) => {
            Break(fail(&Failure::error(
                reason::SUBSCRIPTION_MISMATCH,
                format!(
                    "the resource is in subscription {subscription}, but the credential is for {}; \
                     use a credential for {subscription}",
                    credential.subscription
                ),
            )))
        }
        _ => Continue(()),
    }
}

/// The recorded ARM id is believed where it fits the spec.
fn identity(observed: &Observed, fail: fn(&Failure) -> Action) -> Step<Identity> {
    known(&observed.identity, Action::CheckIdentity, fail).map_continue(|identity| *identity)
}

/// Nothing is sent to an id that somebody else may have written, while nobody can tell whether it is the right one.
fn unproven() -> Failure {
    let message = format!(
        "the ARM id in the object does not bear the operator's signature, and the owner, or the ConfigMap with its name, that \
         would tell whether it is right is not there: nothing is sent. Create that; or `armature sign-notes --vouch` vouches for \
         the object as it is; or {}: detach-on-delete lets it go",
        names::RECONCILE_POLICY
    );
    Failure::warning(reason::WAITING_FOR_OWNER, RetryClass::Fast, message)
}

/// The other object that writes this resource, if there is one. `reason` is what is going on until that is known.
fn holder<'o>(view: &ResourceView, observed: &'o Observed, reason: &str) -> Step<Option<&'o str>> {
    match &observed.holder {
        None => Break(Action::FindHolder),
        // Soon after a start.
        Some(Holder::Unknown(_)) if view.looked_at_for < LISTED_SILENTLY => {
            Break(Action::Finish(Finish {
                requeue: Requeue::After(UNTIL_LISTED),
                ..Finish::silent()
            }))
        }
        Some(Holder::Unknown(why)) => {
            let message = format!("{why}, and one of them may stand for the same resource");
            let verdict = Verdict::progress(reason, message);
            Break(Action::Finish(Finish::with(
                verdict,
                Requeue::Backoff(RetryClass::Fast),
            )))
        }
        Some(Holder::Us | Holder::Disputed(_)) => Continue(None),
        Some(Holder::Other(holder) | Holder::Leaving(holder)) => Continue(Some(holder)),
    }
}

/// The value, or the step that finds it out, or the end of the pass when that failed.
fn known<T>(
    asked: &Option<Result<T, Failure>>,
    ask: Action,
    fail: fn(&Failure) -> Action,
) -> Step<&T> {
    match asked {
        None => Break(ask),
        Some(Err(failure)) => Break(fail(failure)),
        Some(Ok(value)) => Continue(value),
    }
}

/// Shortest time between two looks at an operation, whatever Azure says, once the object is not young any more.
const SHORTEST_WAIT: Duration = Duration::from_secs(2);

/// A running operation: ask again when Azure said so, else with growing delays. Of a young object most operations end soon,
/// and so does the one that Azure wants to be asked about at once.
fn wait(view: &ResourceView, after: Option<Duration>) -> Requeue {
    match after {
        None => Requeue::Backoff(RetryClass::Poll),
        Some(after) if view.is_looked_at_often && after < SHORTEST_WAIT => {
            Requeue::After(young::SOON)
        }
        Some(after) => Requeue::After(after.max(SHORTEST_WAIT)),
    }
}

/// The write, unless operations that Azure had accepted failed and it is not yet time for another: then what the condition
/// says stays.
fn unless_paused(view: &ResourceView, write: Action) -> Action {
    match view.pause {
        None => write,
        Some(left) => Action::Finish(Finish {
            requeue: Requeue::After(left),
            ..Finish::silent()
        }),
    }
}

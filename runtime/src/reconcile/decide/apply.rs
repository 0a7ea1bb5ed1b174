//! Creating and updating: ASO behaviour §1.3.

use crate::extension::{PostCheck, PreCheck};
use crate::reconcile::action::{Action, Finish, normal};
use crate::reconcile::backoff::{Requeue, RetryClass};
use crate::reconcile::classify::Failure;
use crate::reconcile::condition::{Verdict, reason};
use crate::reconcile::names;
use crate::reconcile::observed::{
    Comparison, Observed, OwnerState, Poll, Provisioning, Resource, Write,
};
use crate::reconcile::view::{OwnerForm, ResourceView, StoredOperation};

use super::{credential, known, policy, wait};

/// The next step towards Ready.
pub(super) fn decide(view: &ResourceView, observed: &Observed) -> Result<Action, Action> {
    claim(view, observed)?;
    let policy = policy(view, observed)?;
    credential(view, observed, fail)?;
    monitor(view, observed)?;
    if policy.allows_put() {
        bring_about(view, observed)?;
    } else {
        found(observed)?;
    }
    conclude(view, observed)
}

fn fail(failure: &Failure) -> Action {
    Action::Finish(Finish::failed(failure))
}

fn progress(message: impl Into<String>, requeue: Requeue) -> Action {
    Action::Finish(Finish::with(
        Verdict::progress(reason::RECONCILING, message),
        requeue,
    ))
}

/// Steps 4 to 4e: owner, credential and every input must be there before the finalizer is.
fn claim(view: &ResourceView, observed: &Observed) -> Result<(), Action> {
    if view.claimed {
        return Ok(());
    }
    if view.owner == OwnerForm::Named {
        match &observed.owner {
            None => return Err(Action::ReadOwner),
            Some(OwnerState::Waiting(message)) => {
                return Err(fail(&Failure::warning(
                    reason::WAITING_FOR_OWNER,
                    RetryClass::Fast,
                    message,
                )));
            }
            Some(OwnerState::Ready) => {}
        }
    }
    credential(view, observed, fail)?;
    known(&observed.inputs, Action::ResolveInputs, fail)?;
    known(&observed.claim, Action::Claim, fail)?;
    // The claim is written, yet the object does not show it: read it again.
    Err(Action::Finish(Finish {
        requeue: Requeue::Now,
        ..Finish::silent()
    }))
}

/// Steps 8 and 14: follow a running PUT, one look per pass.
fn monitor(view: &ResourceView, observed: &Observed) -> Result<(), Action> {
    match (&observed.poll, view.operation) {
        // What runs was started by this very pass.
        _ if observed.put.is_some() => Ok(()),
        (None, StoredOperation::None) => Ok(()),
        (None, StoredOperation::Put) => Err(Action::Poll),
        // What cannot be followed is dropped; the GET that comes next tells how far it is.
        (None, StoredOperation::Delete | StoredOperation::Unreadable) => {
            Err(Action::ForgetOperation)
        }
        (Some(Poll::Running(after)), _) => Err(progress("waiting for Azure", wait(*after))),
        (Some(Poll::Unknown(failure)), _) => Err(fail(failure)),
        (Some(_), StoredOperation::Put) => Err(Action::ForgetOperation),
        (Some(Poll::Failed(failure)), _) => Err(Action::Finish(
            Finish::failed(failure).and_warn(names::event::PUT_FAILED, &failure.message),
        )),
        // Step 14g: the spec has changed while the PUT was running.
        (Some(Poll::Succeeded), _) if !view.was_reconciled() => Err(progress(
            "the spec changed while Azure was working; sending it again",
            Requeue::Now,
        )),
        (Some(Poll::Succeeded | Poll::Lost), _) => Ok(()),
    }
}

/// Step 6s and 15: what must exist, because nothing will be created here.
fn found(observed: &Observed) -> Result<&Provisioning, Action> {
    match known(&observed.resource, Action::Get, fail)? {
        Resource::Found(provisioning) => Ok(provisioning),
        Resource::Missing => Err(fail(&Failure::warning(
            reason::AZURE_RESOURCE_NOT_FOUND,
            RetryClass::Slow,
            "the resource does not exist in Azure",
        ))),
    }
}

/// Steps 9 to 15: checks, GET, comparison, PUT.
fn bring_about(view: &ResourceView, observed: &Observed) -> Result<(), Action> {
    known(&observed.inputs, Action::ResolveInputs, fail)?;
    if observed.wrote() {
        return settle(observed);
    }
    if let Some(put) = &observed.put {
        return Err(put_outcome(put));
    }
    checks(view, observed)?;
    let resource = known(&observed.resource, Action::Get, fail)?;
    pre_check(view, observed)?;
    if let Resource::Found(Provisioning::Running(state)) = resource {
        return Err(progress(
            format!("Azure is working on the resource: provisioningState is {state}"),
            Requeue::Backoff(RetryClass::Poll),
        ));
    }
    known(&observed.payload, Action::BuildPayload, fail)?;
    match resource {
        Resource::Missing if view.observe => found(observed).map(|_| ()),
        Resource::Missing => Err(put("creating the resource in Azure")),
        Resource::Found(provisioning) => correct(view, observed, provisioning),
    }
}

/// Step 10, first half: not one request below the resource's path while its owner blocks.
fn checks(view: &ResourceView, observed: &Observed) -> Result<(), Action> {
    if !view.steps.owner_check {
        return Ok(());
    }
    allow(known(&observed.owner_check, Action::CheckOwner, fail)?)
}

/// Step 10, second half.
fn pre_check(view: &ResourceView, observed: &Observed) -> Result<(), Action> {
    if !view.steps.pre_check {
        return Ok(());
    }
    allow(known(&observed.pre_check, Action::PreCheck, fail)?)
}

fn allow(check: &PreCheck) -> Result<(), Action> {
    match check {
        PreCheck::Proceed => Ok(()),
        PreCheck::Block(message) => Err(fail(&Failure::warning(
            reason::BLOCKED,
            RetryClass::Slow,
            message,
        ))),
        // Nothing is wrong and nothing is done: the next sync looks again.
        PreCheck::Postpone(message) => Err(fail(&Failure::warning(
            reason::POSTPONED,
            RetryClass::VerySlow,
            message,
        ))),
    }
}

/// Steps 12 and 13 where the resource exists: PUT only when something differs.
fn correct(
    view: &ResourceView,
    observed: &Observed,
    provisioning: &Provisioning,
) -> Result<(), Action> {
    let Some(comparison) = &observed.comparison else {
        return Err(Action::Compare);
    };
    match comparison {
        Comparison::Differs(difference) if view.observe => Err(Action::Finish(
            Finish::failed(&Failure::warning(
                names::event::DRIFTED,
                RetryClass::VerySlow,
                format!("Azure differs from the spec: {difference}"),
            ))
            .and_warn(names::event::DRIFTED, difference),
        )),
        Comparison::Differs(difference) if view.was_reconciled() => Err(Action::Put {
            event: crate::reconcile::action::warning(names::event::DRIFTED, difference),
        }),
        Comparison::Differs(difference) => Err(put(&format!("updating in Azure: {difference}"))),
        Comparison::Same if view.observe => Ok(()),
        Comparison::Same if view.always_put => {
            Err(put("sending the spec again: always-put is set"))
        }
        Comparison::Same => match provisioning {
            // The latest operation did not take: the same PUT again is ARM's way out.
            Provisioning::Failed(state) => Err(put(&format!(
                "sending the spec again: provisioningState is {state}"
            ))),
            Provisioning::Settled | Provisioning::Running(_) => Ok(()),
        },
    }
}

fn put(message: &str) -> Action {
    Action::Put {
        event: normal(names::event::BEGIN_PUT, message),
    }
}

fn put_outcome(put: &Write) -> Action {
    match put {
        Write::Running(after) => progress("waiting for Azure", wait(*after)),
        Write::Failed(failure) => Action::Finish(
            Finish::failed(failure).and_warn(names::event::PUT_FAILED, &failure.message),
        ),
        // Handled by `Observed::wrote`; one more look does no harm.
        Write::Completed => Action::Get,
    }
}

/// Step 15 after a PUT: read back, and remember what Azure made of what was sent.
fn settle(observed: &Observed) -> Result<(), Action> {
    let provisioning = found(observed)?;
    known(&observed.payload, Action::BuildPayload, fail)?;
    if !observed.baseline_recorded {
        return Err(Action::RecordBaseline);
    }
    match provisioning {
        Provisioning::Failed(state) => Err(fail(&Failure::warning(
            reason::FAILED,
            RetryClass::VerySlow,
            format!("Azure took the spec, but provisioningState is {state}"),
        ))),
        Provisioning::Settled | Provisioning::Running(_) => Ok(()),
    }
}

/// Steps 16 to 19.
fn conclude(view: &ResourceView, observed: &Observed) -> Result<Action, Action> {
    if view.steps.post_check
        && let PostCheck::Failure(message) = known(&observed.post_check, Action::PostCheck, fail)?
    {
        return Err(fail(&Failure::warning(
            reason::POST_CHECK_FAILED,
            RetryClass::Slow,
            message,
        )));
    }
    if view.steps.export {
        known(&observed.export, Action::Export, fail)?;
    }
    if view.steps.success_hook {
        known(&observed.success_hook, Action::SuccessHook, fail)?;
    }
    Ok(Action::Finish(Finish::with(
        Verdict::succeeded(),
        Requeue::Sync,
    )))
}

//! Creating and updating: ASO behaviour §1.3.

use std::ops::ControlFlow::{Break, Continue};
use std::time::Duration;

use armature_shapes::names;

use super::hold::{Held, hold};
use super::{
    LOOK_AGAIN, Step, adopt, credential, holder, identity, known, unless_paused, unproven, wait,
};
use crate::action::{Action, Finish, drifted, normal, warning};
use crate::backoff::{Requeue, RetryClass};
use crate::condition::{Verdict, reason};
use crate::extension::{PostCheck, PreCheck, Prerequisite};
use crate::observed::{
    Comparison, Differences, Holder, Identity, Observed, OwnerState, Recorded, Resource,
};
use crate::outcome::{Failure, Poll, Write};
use crate::port::EventNote;
use crate::remote::Provisioning;
use crate::view::{OwnerForm, ResourceView, StoredOperation};

/// The next step towards Ready.
pub(super) fn decide(view: &ResourceView, observed: &Observed) -> Step<Action> {
    claim(view, observed)?;
    credential(view, observed, fail)?;
    let writes = view.policy.allows_put() && !view.observe;
    match identity(observed, fail)? {
        Identity::Kept => {}
        Identity::Moved => take(view, observed)?,
        Identity::Unproven if writes => return Break(fail(&unproven())),
        Identity::Unproven => {}
    }
    let holder = match writes {
        true => holder(view, observed, reason::RECONCILING)?,
        false => None,
    };
    monitor(view, observed)?;
    if view.policy.allows_put() && holder.is_none() {
        bring_about(view, observed)?;
    } else {
        found(view, observed)?;
    }
    conclude(view, observed, holder)
}

fn fail(failure: &Failure) -> Action {
    Action::Finish(Finish::failed(failure))
}

fn progress(message: impl Into<String>, requeue: Requeue) -> Action {
    Action::Finish(end(message, requeue))
}

fn end(message: impl Into<String>, requeue: Requeue) -> Finish {
    Finish::with(Verdict::progress(reason::RECONCILING, message), requeue)
}

/// Steps 4 to 4e: owner, credential and every input must be there before the finalizer is.
fn claim(view: &ResourceView, observed: &Observed) -> Step<()> {
    if view.claimed {
        return Continue(());
    }
    take(view, observed)
}

/// The claim itself, or another one for the place that a corrected spec stands for.
fn take(view: &ResourceView, observed: &Observed) -> Step<()> {
    if view.owner == OwnerForm::Named {
        match &observed.owner {
            None => return Break(Action::ReadOwner),
            Some(OwnerState::Waiting(message)) => {
                return Break(fail(&Failure::warning(
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
    // Written again at once, it would be taken off again at once.
    let message = format!(
        "the finalizer {} was written, and the object does not have it: something takes it off, an admission policy most likely. \
         Nothing is sent to Azure without it",
        names::FINALIZER
    );
    Break(fail(&Failure::warning(
        reason::FAILED,
        RetryClass::Slow,
        message,
    )))
}

/// Steps 8 and 14: follow a running PUT, one look per pass.
fn monitor(view: &ResourceView, observed: &Observed) -> Step<()> {
    match (&observed.poll, view.operation) {
        // What runs was started by this very pass.
        _ if observed.put.is_some() || observed.prerequisite.is_some() => Continue(()),
        (None, StoredOperation::None) => Continue(()),
        (None, StoredOperation::Put | StoredOperation::Prerequisite) => Break(Action::Poll),
        // What cannot be followed is dropped; the GET that comes next tells how far it is.
        (None, StoredOperation::Delete | StoredOperation::Unreadable) => {
            Break(Action::ForgetOperation)
        }
        (Some(Poll::Running(after)), _) => Break(progress("waiting for Azure", wait(view, *after))),
        (Some(Poll::Unreported(after)), operation) if operation != StoredOperation::None => {
            hold(view, Held::Put, || {
                end("waiting for Azure", wait(view, *after))
            })?;
            Break(Action::ForgetOperation)
        }
        (Some(Poll::Doubtful(failure)), operation) if operation != StoredOperation::None => {
            hold(view, Held::Put, || Finish::failed(failure))?;
            Break(Action::ForgetOperation)
        }
        (Some(Poll::Unknown(failure)), _) => Break(fail(failure)),
        // While the owner blocks, what Azure made of the PUT cannot be read: the operation is kept until then.
        (Some(Poll::Succeeded), StoredOperation::Put) => {
            checks(view, observed)?;
            Break(Action::ForgetOperation)
        }
        (Some(_), StoredOperation::Put | StoredOperation::Prerequisite) => {
            Break(Action::ForgetOperation)
        }
        (Some(Poll::Failed(failure)), _) => Break(Action::Finish(
            Finish::failed(failure).and_warn(names::event::PUT_FAILED, &failure.message),
        )),
        // Step 14g: the spec has changed while the PUT was running.
        (Some(Poll::Succeeded), _) if !view.was_reconciled() => Break(progress(
            "the spec changed while Azure was working; sending it again",
            Requeue::Now,
        )),
        (
            Some(
                Poll::Succeeded
                | Poll::Prepared
                | Poll::Lost
                | Poll::Unreported(_)
                | Poll::Doubtful(_),
            ),
            _,
        ) => Continue(()),
    }
}

/// The only way to a GET while the object lives: step 10 comes first, under every policy and after a finished
/// operation too.
fn get<'a>(view: &ResourceView, observed: &'a Observed) -> Step<&'a Resource> {
    checks(view, observed)?;
    known(&observed.resource, Action::Get, fail)
}

/// Step 6s and 15: what must exist, because nothing will be created here.
fn found<'a>(view: &ResourceView, observed: &'a Observed) -> Step<&'a Provisioning> {
    match get(view, observed)? {
        Resource::Found(provisioning) => Continue(provisioning),
        Resource::Missing => Break(fail(&Failure::warning(
            reason::AZURE_RESOURCE_NOT_FOUND,
            RetryClass::Slow,
            "the resource does not exist in Azure",
        ))),
    }
}

/// Steps 9 to 15: checks, GET, comparison, PUT.
fn bring_about(view: &ResourceView, observed: &Observed) -> Step<()> {
    known(&observed.inputs, Action::ResolveInputs, fail)?;
    if observed.wrote() {
        return settle(view, observed);
    }
    if let Some(put) = &observed.put {
        return Break(put_outcome(view, observed, put));
    }
    let resource = get(view, observed)?;
    match resource {
        Resource::Found(provisioning) => adopt::existing(view, observed, provisioning)?,
        Resource::Missing => adopt::missing(view)?,
    }
    if let Resource::Found(Provisioning::Running(state)) = resource {
        if would_send(view, observed)? {
            // Whoever knows the service says better what is awaited, and for how long.
            pre_check(view, observed)?;
        }
        let message = format!("Azure is working on the resource: provisioningState is {state}");
        hold(view, Held::Put, || {
            end(message, Requeue::Backoff(RetryClass::Poll))
        })?;
    }
    known(&observed.payload, Action::BuildPayload, fail)?;
    match write(view, observed, resource) {
        Break(put @ Action::Put { .. }) => {
            // What is not sent is not blocked: a cluster that Azure upgrades stays ready.
            pre_check(view, observed)?;
            Break(unless_paused(view, put))
        }
        other => other,
    }
}

/// Whether there is something for a check before the PUT to hold back, where the kind has one: what Azure does of its own accord
/// blocks nobody, and neither does drift that is left for now.
fn would_send(view: &ResourceView, observed: &Observed) -> Step<bool> {
    if !view.steps.pre_check || view.observe {
        return Continue(false);
    }
    known(&observed.payload, Action::BuildPayload, fail)?;
    match &observed.comparison {
        None => Break(Action::Compare),
        Some(Comparison::Edited(_)) => Continue(true),
        Some(Comparison::Differs(_)) => {
            Continue(!view.was_reconciled() || !drift_is_left(observed))
        }
        Some(Comparison::Same | Comparison::Unrecorded | Comparison::Rebuilt(_)) => Continue(false),
    }
}

/// Steps 12 and 13: the PUT, where one is needed.
fn write(view: &ResourceView, observed: &Observed, resource: &Resource) -> Step<()> {
    match resource {
        Resource::Missing if view.observe => found(view, observed).map_continue(|_| ()),
        Resource::Missing if view.asks_twice => Break(look_again()),
        Resource::Missing if view.was_reconciled() => Break(Action::Put {
            event: warning(
                names::event::DRIFTED,
                "the resource no longer exists in Azure; creating it again",
            ),
        }),
        Resource::Missing => Break(put("creating the resource in Azure")),
        Resource::Found(provisioning) => correct(view, observed, provisioning),
    }
}

/// A resource that was there is not. A service may say so of one that is, for a moment.
fn look_again() -> Action {
    let message = "the resource no longer exists in Azure; looking once more before it is created again, since it would be \
                   without what other objects have made in it";
    let verdict = Verdict::progress(reason::AZURE_RESOURCE_NOT_FOUND, message);
    Action::Finish(Finish::with(verdict, Requeue::After(LOOK_AGAIN)))
}

/// Step 10, first half: not one request below the resource's path while its owner blocks.
fn checks(view: &ResourceView, observed: &Observed) -> Step<()> {
    if !view.steps.owner_check {
        return Continue(());
    }
    let check = known(&observed.owner_check, Action::CheckOwner, fail)?;
    allow(view, observed, check)
}

/// Step 10, second half.
fn pre_check(view: &ResourceView, observed: &Observed) -> Step<()> {
    if !view.steps.pre_check {
        return Continue(());
    }
    let check = known(&observed.pre_check, Action::PreCheck, fail)?;
    allow(view, observed, check)
}

fn allow(view: &ResourceView, observed: &Observed, check: &PreCheck) -> Step<()> {
    match check {
        PreCheck::Proceed => Continue(()),
        PreCheck::First(_) if view.observe => Continue(()),
        PreCheck::First(prerequisite) => Break(prepare(view, observed, prerequisite)),
        PreCheck::Block(message) => Break(fail(&Failure::warning(
            reason::BLOCKED,
            RetryClass::Slow,
            message,
        ))),
        // Nothing is wrong and nothing is done: the next sync looks again.
        PreCheck::Postpone(message) => Break(fail(&Failure::warning(
            reason::POSTPONED,
            RetryClass::VerySlow,
            message,
        ))),
    }
}

/// Asks for what has to come before the PUT. It runs on like a PUT would, and the next pass starts from the beginning.
fn prepare(view: &ResourceView, observed: &Observed, prerequisite: &Prerequisite) -> Action {
    let message = prerequisite.message.as_str();
    match &observed.prerequisite {
        None => unless_paused(view, Action::Prepare(prerequisite.clone())),
        Some(Write::Running(after)) => progress(message, wait(view, *after)),
        // Azure may take a moment until it shows.
        Some(Write::Completed) => progress(message, Requeue::Backoff(RetryClass::Poll)),
        Some(Write::Failed(failure)) => Action::Finish(
            Finish::failed(failure).and_warn(names::event::PUT_FAILED, &failure.message),
        ),
    }
}

/// Steps 12 and 13 where the resource exists: PUT only when something differs.
fn correct(view: &ResourceView, observed: &Observed, provisioning: &Provisioning) -> Step<()> {
    let Some(comparison) = &observed.comparison else {
        return Break(Action::Compare);
    };
    match comparison {
        // Azure shows all of the edited spec.
        Comparison::Edited(difference) if view.observe && difference.is_empty() => Continue(()),
        Comparison::Edited(difference) | Comparison::Differs(difference) if view.observe => {
            Break(Action::Finish(
                Finish::failed(&Failure::warning(
                    names::event::DRIFTED,
                    RetryClass::VerySlow,
                    format!("Azure differs from the spec: {difference}"),
                ))
                .and(drifted(difference)),
            ))
        }
        Comparison::Edited(difference) => Break(put(&edited(view, difference))),
        Comparison::Differs(difference) if view.was_reconciled() => {
            Break(correct_drift(observed, difference))
        }
        Comparison::Differs(difference) => Break(put(&format!("updating in Azure: {difference}"))),
        _ if view.observe => Continue(()),
        Comparison::Unrecorded | Comparison::Rebuilt(_) if observed.recorded.is_none() => {
            Break(Action::Record)
        }
        _ if view.always_put => Break(put("sending the spec again: always-put is set")),
        Comparison::Same | Comparison::Unrecorded | Comparison::Rebuilt(_) => match provisioning {
            // The latest operation did not take: the same PUT again is ARM's way out.
            Provisioning::Failed(state) => Break(put(&format!(
                "sending the spec again: provisioningState is {state}"
            ))),
            // It has been for too long: so is this.
            Provisioning::Running(state) => Break(put(&format!(
                "sending the spec again: provisioningState has been {state} for too long"
            ))),
            Provisioning::Settled => Continue(()),
        },
    }
}

/// Whether drift is not put right now: it waits for its pause, or two operators may write it.
fn drift_is_left(observed: &Observed) -> bool {
    let contest = observed.contest.as_ref();
    let waits = contest.is_some_and(|contest| contest.wait.is_some());
    waits || matches!(observed.holder, Some(Holder::Disputed(_)))
}

/// What was put right before waits, and what two operators may write stays.
fn correct_drift(observed: &Observed, difference: &Differences) -> Action {
    let event = drifted(difference);
    if let Some(Holder::Disputed(other)) = &observed.holder {
        return disputed(other, difference);
    }
    let Some(contest) = &observed.contest else {
        return Action::Put { event };
    };
    let by = contest.by.as_ref();
    let by = by.map_or_else(String::new, |by| {
        format!("; the last to write the resource was {by}")
    });
    let Some(wait) = contest.wait else {
        let event = EventNote {
            message: format!(
                "{difference} (put right {} times in the last days{by})",
                contest.times
            ),
            ..event
        };
        return Action::Put { event };
    };
    let why = match contest.is_noise {
        true => "nobody has written the resource since, so Azure changes it by itself",
        false => "it was changed again each time",
    };
    let message = format!(
        "Azure differs from the spec: {difference}. It was put right {} times in the last days, and {why}{by}. It is put right again at {}, or with the next edit. To leave it to Azure, name the path in {}",
        contest.times,
        contest.until,
        names::IGNORE_PATHS
    );
    let (message, wait) = beside_leaving(observed, message, wait);
    let failure = Failure::warning(names::event::DRIFTED, RetryClass::VerySlow, message);
    Action::Finish(Finish::with(Verdict::from(&failure), Requeue::After(wait)))
}

/// What drift waits for, and what items wait for that are to go.
fn beside_leaving(observed: &Observed, message: String, wait: Duration) -> (String, Duration) {
    match &observed.leaving {
        None => (message, wait),
        Some(leaving) => (
            format!("{message}. Besides, {}", leaving.message),
            wait.min(leaving.after),
        ),
    }
}

/// Two operators that each think that they write the resource would send it to and fro: what neither user has edited stays.
fn disputed(other: &str, difference: &Differences) -> Action {
    let message = format!(
        "Azure differs from the spec: {difference}. It is left so: {other} stands for the same resource, and another operator says \
         there that it writes it, with another key than this one's, so it cannot be told who does. Give both operators one key, or \
         set {} to skip on all objects but one",
        names::RECONCILE_POLICY
    );
    let failure = Failure::warning(names::event::DRIFTED, RetryClass::VerySlow, message);
    Action::Finish(Finish::failed(&failure).and(drifted(difference)))
}

/// What the event of an edit says.
fn edited(view: &ResourceView, difference: &Differences) -> String {
    if !difference.is_empty() {
        format!("updating in Azure: {difference}")
    } else if view.was_reconciled() {
        "sending the spec again: what it refers to has changed".to_owned()
    } else {
        "sending the spec: what Azure shows does not tell whether it has all of it".to_owned()
    }
}

fn put(message: &str) -> Action {
    Action::Put {
        event: normal(names::event::BEGIN_PUT, message),
    }
}

/// Error code of a PUT to a provider that the subscription does not use yet.
const NOT_REGISTERED: &str = "MissingSubscriptionRegistration";

fn put_outcome(view: &ResourceView, observed: &Observed, put: &Write) -> Action {
    match put {
        Write::Running(after) => {
            let message = match &observed.comparison {
                Some(Comparison::Differs(difference) | Comparison::Edited(difference))
                    if !difference.is_empty() =>
                {
                    format!("updating in Azure: {difference}")
                }
                _ => "waiting for Azure".to_owned(),
            };
            progress(message, wait(view, *after))
        }
        Write::Failed(failure)
            if failure.reason == NOT_REGISTERED && observed.registration.is_none() =>
        {
            Action::RegisterProvider
        }
        Write::Failed(failure) => Action::Finish(
            Finish::failed(failure).and_warn(names::event::PUT_FAILED, &failure.message),
        ),
        // Handled by `Observed::wrote`; one more look does no harm.
        Write::Completed => Action::Get,
    }
}

/// Step 15 after a PUT: read back, and remember what Azure made of what was sent.
fn settle(view: &ResourceView, observed: &Observed) -> Step<()> {
    let provisioning = found(view, observed)?;
    known(&observed.payload, Action::BuildPayload, fail)?;
    match observed.recorded {
        None => return Break(Action::Record),
        Some(Recorded::Outdated) => {
            return Break(progress(
                "what the spec refers to changed while Azure was working; sending it again",
                Requeue::Now,
            ));
        }
        Some(Recorded::Current) if observed.carries_drift => {
            return Break(progress(
                "what the spec dropped is removed; what else differs in Azure is looked at again",
                Requeue::Now,
            ));
        }
        Some(Recorded::Current) => {}
    }
    match provisioning {
        Provisioning::Failed(state) => Break(fail(&Failure::warning(
            reason::FAILED,
            RetryClass::VerySlow,
            format!("Azure took the spec, but provisioningState is {state}"),
        ))),
        Provisioning::Settled | Provisioning::Running(_) => Continue(()),
    }
}

/// Steps 16 to 19.
fn conclude(view: &ResourceView, observed: &Observed, holder: Option<&str>) -> Step<Action> {
    if view.steps.post_check
        && let PostCheck::Failure(message) = known(&observed.post_check, Action::PostCheck, fail)?
    {
        return Break(fail(&Failure::warning(
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
    if view.has_unsent_edit && observed.has_edit.is_none() {
        return Break(Action::LookForEdit);
    }
    let held = holder.map(|holder| {
        format!(
            "{holder} stands for the same resource and writes it; this object only reads it. Set {} to skip on all of them but one",
            names::RECONCILE_POLICY
        )
    });
    let verdict = Verdict {
        message: message(view, observed, held.as_deref()),
        ..Verdict::succeeded()
    };
    // What builds on the resource need not wait for what leaves it: an object for the item most of all.
    let leaves = observed.leaving.as_ref().map(|leaving| leaving.after);
    let finish = Finish::with(verdict, leaves.map_or(Requeue::Sync, Requeue::After));
    Continue(Action::Finish(match held {
        None => finish,
        Some(held) => finish.and_warn(names::event::HELD_ELSEWHERE, held),
    }))
}

/// What `Ready` says where all is well: nothing, unless the object's words are not all in Azure.
fn message(view: &ResourceView, observed: &Observed, held: Option<&str>) -> String {
    let is_unsent = view.has_unsent_edit && observed.has_edit != Some(true);
    let unsent = is_unsent.then(|| {
        format!(
            "this generation of the spec is not sent: {} lets the object only read the resource",
            names::RECONCILE_POLICY
        )
    });
    let leaving = observed.leaving.as_ref();
    let leaving = leaving.map(|leaving| leaving.message.clone());
    let told: Vec<String> = [unsent, held.map(str::to_owned), leaving]
        .into_iter()
        .flatten()
        .collect();
    told.join("; ")
}

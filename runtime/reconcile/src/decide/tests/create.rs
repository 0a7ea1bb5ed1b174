//! Creating and updating up to the PUT: ASO behaviour §1.3 steps 2 to 13.

use super::*;

const SKIP: Policy = Policy::Skip;

#[test]
fn steps_2_to_4_claim_what_can_be_created() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 15] = [
        ("1.3 2", "nobody manages the object yet", |v, _| v.manager = Manager::Nobody, "TakeOwnership"),
        ("1.3 2", "another operator manages it", |v, _| v.manager = Manager::Other("x".into()), "unsaid, never: Overlap"),
        ("1.3 4", "owner by name", |_, _| {}, "ReadOwner"),
        ("1.3 4", "no owner", |v, _| v.owner = OwnerForm::None, "SelectCredential"),
        ("1.3 4", "owner by ARM id: nothing in the cluster to wait for", |v, _| v.owner = OwnerForm::ArmId, "SelectCredential"),
        ("1.3 4", "owner missing or not ready", |_, o| o.owner = Some(OwnerState::Waiting("no".into())), "False/Warning/WaitingForOwner, fast"),
        ("1.3 4a", "owner ready", |_, o| o.owner = Some(OwnerState::Ready), "SelectCredential"),
        ("1.3 4a", "no credential", |_, o| { o.owner = Some(OwnerState::Ready); o.credential = Some(Err(Failure::warning(reason::FAILED, RetryClass::Slow, "none"))); }, "False/Warning/Failed, slow"),
        ("1.3 4c", "inputs not looked at", |_, o| (o.owner, o.credential) = (Some(OwnerState::Ready), credential()), "ResolveInputs"),
        ("1.3 4c", "a Secret is missing: nothing is claimed", |_, o| { (o.owner, o.credential) = (Some(OwnerState::Ready), credential()); o.inputs = lacks(reason::SECRET_NOT_FOUND); }, "False/Warning/SecretNotFound, fast"),
        ("1.3 4d", "all there", |_, o| { *o = Observed { owner: Some(OwnerState::Ready), inputs: Some(Ok(())), ..signed_in() } }, "Claim"),
        ("1.3 4", "the claimer cannot", |_, o| { *o = Observed { owner: Some(OwnerState::Ready), inputs: Some(Ok(())), claim: Some(Err(conflict())), ..signed_in() }; }, "False/Warning/Conflict, slow"),
        ("1.3 4e", "claimed, and something takes the finalizer off", |_, o| { *o = Observed { owner: Some(OwnerState::Ready), inputs: Some(Ok(())), claim: Some(Ok(())), ..signed_in() }; }, "False/Warning/Failed, slow"),
        ("1.3 4", "claimed before: the owner is not asked again", |v, o| (v.claimed, *o) = (true, signed_in()), "ResolveInputs"),
        ("1.3 3", "deleted before it was claimed", |v, _| v.deleting = true, "unsaid, never"),
    ];
    let unclaimed = ResourceView {
        claimed: false,
        ..claimed()
    };
    check(&rows, &unclaimed, &nothing());
}

#[test]
fn step_6_a_policy_allows_or_only_looks() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 11] = [
        ("1.3 6s", "skip, found, edited", |v, o| (v.policy, v.has_unsent_edit, o.resource) = (SKIP, true, found(Provisioning::Settled)), "LookForEdit"),
        ("1.3 6s", "skip, found, and Azure has the edit", |v, o| (v.policy, v.has_unsent_edit, o.resource, o.has_edit) = (SKIP, true, found(Provisioning::Settled), Some(true)), "True//Succeeded, sync"),
        ("1.3 6", "manage", |_, _| {}, "ResolveInputs"),
        ("1.3 6", "detach-on-delete creates and updates", |v, _| v.policy = Policy::DetachOnDelete, "ResolveInputs"),
        ("1.3 6s", "skip", |v, _| v.policy = SKIP, "Get"),
        ("1.3 6s", "skip, not in Azure", |v, o| (v.policy, o.resource) = (SKIP, missing()), "False/Warning/AzureResourceNotFound, slow"),
        ("1.3 6s", "skip, Azure refuses the GET", |v, o| (v.policy, o.resource) = (SKIP, Some(Err(conflict()))), "False/Warning/Conflict, slow"),
        ("1.3 6s", "skip, other subscription", |v, o| (v.policy, o.credential) = (SKIP, other_credential()), "False/Error/SubscriptionMismatch, never"),
        ("1.3 6s", "skip, found", |v, o| (v.policy, o.resource) = (SKIP, found(Provisioning::Settled)), "True//Succeeded, sync"),
        ("1.3 6s", "skip, found: post-check", |v, o| { (v.policy, o.resource) = (SKIP, found(Provisioning::Settled)); v.steps.post_check = true; }, "PostCheck"),
        ("1.3 6s", "skip, found: exports", |v, o| { (v.policy, o.resource) = (SKIP, found(Provisioning::Settled)); v.steps.export = true; }, "Export"),
    ];
    check(&rows, &claimed(), &signed_in());
}

/// Not one request below the resource's path while its owner blocks: under every policy, and before the result of a
/// finished operation is read. ASO asks only before a PUT.
#[test]
fn step_10_the_owner_is_checked_before_any_get() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 9] = [
        ("1.3 10", "before the PUT", |_, _| {}, "CheckOwner"),
        ("1.3 10", "before the GET of skip", |v, _| v.policy = SKIP, "CheckOwner"),
        ("1.3 10", "after an operation", |_, o| o.poll = Some(Poll::Succeeded), "CheckOwner"),
        ("1.3 10", "after a lost operation", |_, o| o.poll = Some(Poll::Lost), "CheckOwner"),
        ("1.3 10", "blocks", |_, o| o.owner_check = block(), "False/Warning/ReconciliationBlocked, slow"),
        ("1.3 10", "blocks skip too", |v, o| (v.policy, o.owner_check) = (SKIP, block()), "False/Warning/ReconciliationBlocked, slow"),
        ("1.3 10", "postpones", |_, o| o.owner_check = postpone(), "False/Warning/ReconciliationPostponed, very slow"),
        ("1.3 10", "cannot tell", |_, o| o.owner_check = Some(Err(conflict())), "False/Warning/Conflict, slow"),
        ("1.3 10", "proceeds", |_, o| o.owner_check = proceed(), "Get"),
    ];
    let mut view = claimed();
    view.steps.owner_check = true;
    let observed = Observed {
        inputs: Some(Ok(())),
        ..signed_in()
    };
    check(&rows, &view, &observed);
}

#[test]
fn step_10_the_resource_is_checked_before_a_put_and_only_then() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 21] = [
        ("1.3 10", "Azure is at work, and drift waits for its pause: nobody is blocked", |v, o| (o.resource, o.contest, o.pre_check, v.hold) = (updating(), waiting(), block(), held(1)), "False/Info/Reconciling, poll"),
        ("1.3 10", "Azure is at work, and the pause is over", |v, o| (o.resource, o.contest, o.pre_check, v.hold) = (updating(), due(), block(), held(1)), "False/Warning/ReconciliationBlocked, slow"),
        ("1.3 10", "Azure is at work, and drift is disputed", |v, o| (o.resource, o.holder, o.pre_check, v.hold) = (updating(), disputed(), block(), held(1)), "False/Info/Reconciling, poll"),
        ("1.3 10", "Azure is at work, and what is disputed was never sent", |v, o| (v.put_generation, o.resource, o.holder, o.pre_check, v.hold) = (None, updating(), disputed(), block(), held(1)), "False/Warning/ReconciliationBlocked, slow"),
        ("1.3 10", "Azure is at work on what is observed: no body is built", |v, o| (v.observe, o.resource, o.payload, v.hold) = (true, updating(), None, held(1)), "False/Info/Reconciling, poll"),
        ("1.3 10", "Azure is at work, and something waits to be sent", |_, o| (o.resource, o.pre_check) = (updating(), block()), "False/Warning/ReconciliationBlocked, slow"),
        ("1.3 10", "Azure is at work, compared first", |_, o| (o.resource, o.comparison) = (updating(), None), "Compare"),
        ("1.3 10", "Azure is at work of its own accord: nobody is blocked", |v, o| (o.resource, o.comparison, o.pre_check, v.hold) = (updating(), Some(Comparison::Same), block(), held(1)), "False/Info/Reconciling, poll"),
        ("1.3 10", "Azure is at work, and nothing is recorded before it ends", |v, o| (o.resource, o.comparison, v.hold) = (updating(), Some(Comparison::Unrecorded), held(1)), "False/Info/Reconciling, poll"),
        ("1.3 10", "Azure is at work on what is observed", |v, o| (v.observe, o.resource, v.hold) = (true, updating(), held(1)), "False/Info/Reconciling, poll"),
        ("1.3 10", "Azure is at work for too long: the check of the PUT", |v, o| (o.resource, o.comparison, v.hold) = (updating(), Some(Comparison::Same), held(60)), "PreCheck"),
        ("1.3 10", "something to send", |_, _| {}, "PreCheck"),
        ("1.3 10", "nothing to send", |_, o| o.comparison = Some(Comparison::Same), "True//Succeeded, sync"),
        ("1.3 10", "nothing to send is not blocked", |_, o| (o.comparison, o.pre_check) = (Some(Comparison::Same), block()), "True//Succeeded, sync"),
        ("1.3 10", "the body first", |_, o| o.payload = None, "BuildPayload"),
        ("1.3 10", "not in Azure", |_, o| o.resource = missing(), "PreCheck"),
        ("1.3 10", "not under skip", |v, _| v.policy = SKIP, "True//Succeeded, sync"),
        ("1.3 10", "blocks", |_, o| o.pre_check = block(), "False/Warning/ReconciliationBlocked, slow"),
        ("1.3 10", "postpones", |_, o| o.pre_check = postpone(), "False/Warning/ReconciliationPostponed, very slow"),
        ("1.3 10", "cannot tell", |_, o| o.pre_check = Some(Err(conflict())), "False/Warning/Conflict, slow"),
        ("1.3 10", "proceeds", |_, o| o.pre_check = proceed(), "Put: Drifted"),
    ];
    let mut view = claimed();
    view.steps.pre_check = true;
    check(
        &rows,
        &view,
        &Observed {
            comparison: differs(),
            ..equal()
        },
    );
}

/// What ASO's extensions do by waiting in the worker, such as to purge a deleted vault (§2.2).
#[test]
fn step_10_what_has_to_come_before_the_put() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 8] = [
        ("2.2", "asked for", |_, _| {}, "Prepare: purging"),
        ("2.2", "runs", |_, o| o.prerequisite = Some(Write::Running(seconds(9))), "False/Info/Reconciling, after 9 s"),
        ("2.2", "done at once: look again", |_, o| o.prerequisite = Some(Write::Completed), "False/Info/Reconciling, poll"),
        ("2.2", "refused", |_, o| o.prerequisite = Some(Write::Failed(conflict())), "False/Warning/Conflict, slow: CreateOrUpdateActionError"),
        ("2.2", "runs since an earlier pass", |v, _| v.operation = StoredOperation::Prerequisite, "Poll"),
        ("2.2", "has ended", |v, o| (v.operation, o.poll) = (StoredOperation::Prerequisite, Some(Poll::Prepared)), "ForgetOperation"),
        ("2.2", "the check decides anew", |_, o| (o.poll, o.pre_check) = (Some(Poll::Prepared), proceed()), "Put: BeginCreateOrUpdate"),
        ("2.2", "never for an object that is only observed", |v, _| v.observe = true, "False/Warning/AzureResourceNotFound, slow"),
    ];
    let mut view = ResourceView {
        put_generation: None,
        ..claimed()
    };
    view.steps.pre_check = true;
    let observed = Observed {
        resource: missing(),
        pre_check: first(),
        ..equal()
    };
    check(&rows, &view, &observed);
}

#[test]
fn steps_11_and_12_credential_and_payload() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 6] = [
        ("1.3 11", "other subscription", |_, o| o.credential = other_credential(), "False/Error/SubscriptionMismatch, never"),
        ("1.3 11", "no subscription in the id", |v, o| (v.subscription, o.credential) = (None, other_credential()), "True//Succeeded, sync"),
        ("1.3 12", "an input is missing", |_, o| o.inputs = lacks(reason::REFERENCE_NOT_FOUND), "False/Warning/ReferenceNotFound, fast"),
        ("1.3 12", "a ConfigMap is missing", |_, o| o.inputs = lacks(reason::CONFIG_MAP_NOT_FOUND), "False/Warning/ConfigMapNotFound, fast"),
        ("1.3 12", "no body yet", |_, o| o.payload = None, "BuildPayload"),
        ("1.3 12", "the modifier fails", |_, o| o.payload = Some(Err(conflict())), "False/Warning/Conflict, slow"),
    ];
    check(&rows, &claimed(), &equal());
}

/// ASO sends a PUT on every pass.
#[test]
fn step_13_a_put_only_when_something_differs() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 17] = [
        ("1.3 13", "not compared", |_, o| o.comparison = None, "Compare"),
        ("1.3 13", "equal", |_, _| {}, "True//Succeeded, sync"),
        ("1.3 13", "equal when it is adopted", |v, _| v.put_generation = None, "True//Succeeded, sync"),
        ("1.3 13", "differs since the spec was sent", |_, o| o.comparison = differs(), "Put: Drifted"),
        ("1.3 13", "the spec was edited", |v, o| (v.put_generation, o.comparison) = (Some(1), differs()), "Put: BeginCreateOrUpdate"),
        ("1.3 13", "not in Azure", |v, o| (v.put_generation, o.resource) = (None, missing()), "Put: BeginCreateOrUpdate"),
        ("1.3 13", "no longer in Azure", |_, o| o.resource = missing(), "Put: Drifted"),
        ("1.3 13", "the latest operation failed: the same PUT is ARM's way out", |_, o| o.resource = broken(), "Put: BeginCreateOrUpdate"),
        ("1.3 13", "Azure works on it", |_, o| o.resource = updating(), "BeginHold"),
        ("1.3 13", "still so", |v, o| (o.resource, v.hold) = (updating(), held(59)), "False/Info/Reconciling, poll"),
        ("1.3 13", "for too long", |v, o| (o.resource, v.hold) = (updating(), held(60)), "Put: BeginCreateOrUpdate"),
        ("1.3 13", "for too long, and it differs", |v, o| (o.resource, o.comparison, v.hold) = (updating(), differs(), held(60)), "Put: Drifted"),
        ("1.3 13", "differs, but an operation failed a moment ago", |v, o| (o.comparison, v.pause) = (differs(), seconds(8)), "unsaid, after 8 s"),
        ("1.3 13", "equal, although an operation failed a moment ago", |v, _| v.pause = seconds(8), "True//Succeeded, sync"),
        ("1.3 13", "always-put", |v, _| v.always_put = true, "Put: BeginCreateOrUpdate"),
        ("1.3 13", "always-put, Azure works on it", |v, o| (v.always_put, o.resource, v.hold) = (true, updating(), held(59)), "False/Info/Reconciling, poll"),
        ("1.3 13", "the GET is refused", |_, o| o.resource = Some(Err(conflict())), "False/Warning/Conflict, slow"),
    ];
    check(&rows, &claimed(), &equal());
}

/// `armature.azure.com/observe`, which ASO does not have.
#[test]
fn observe_reports_and_never_writes() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 6] = [
        ("observe", "equal", |_, _| {}, "True//Succeeded, sync"),
        ("observe", "always-put does not count", |v, _| v.always_put = true, "True//Succeeded, sync"),
        ("observe", "differs", |_, o| o.comparison = differs(), "False/Warning/Drifted, very slow: Drifted"),
        ("observe", "not in Azure", |_, o| o.resource = missing(), "False/Warning/AzureResourceNotFound, slow"),
        ("observe", "the latest operation failed", |_, o| o.resource = broken(), "True//Succeeded, sync"),
        ("observe", "deleted", |v, _| v.deleting = true, "RemoveFinalizer"),
    ];
    check(
        &rows,
        &ResourceView {
            observe: true,
            ..claimed()
        },
        &equal(),
    );
}

#[test]
fn step_13_outcomes_of_the_put() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 9] = [
        ("1.3 13", "runs, with Retry-After", |_, o| o.put = Some(Write::Running(seconds(15))), "False/Info/Reconciling, after 15 s"),
        ("1.3 13", "runs", |_, o| o.put = Some(Write::Running(None)), "False/Info/Reconciling, poll"),
        ("1.7", "refused, may pass", |_, o| o.put = Some(Write::Failed(conflict())), "False/Warning/Conflict, slow: CreateOrUpdateActionError"),
        ("1.7", "refused, only a change helps", |_, o| o.put = Some(Write::Failed(fatal())), "False/Error/LocationRequired, never: CreateOrUpdateActionError"),
        ("1.7", "no answer", |_, o| o.put = Some(Write::Failed(Failure::unknown("reset"))), "False/Warning/UnknownError, slow: CreateOrUpdateActionError"),
        ("1.7", "the provider is not registered", |_, o| o.put = unregistered(), "RegisterProvider"),
        ("1.7", "registered: later again", |_, o| (o.put, o.registration) = (unregistered(), Some(Ok(()))), "False/Warning/MissingSubscriptionRegistration, slow: CreateOrUpdateActionError"),
        ("1.7", "registration refused", |_, o| (o.put, o.registration) = (unregistered(), Some(Err(conflict()))), "False/Warning/MissingSubscriptionRegistration, slow: CreateOrUpdateActionError"),
        ("1.3 15", "done", |_, o| (o.put, o.resource) = (Some(Write::Completed), None), "Get"),
    ];
    check(&rows, &claimed(), &equal());
}

fn lacks(reason: &str) -> Option<Result<(), Failure>> {
    Some(Err(Failure::warning(reason, RetryClass::Fast, "no")))
}

fn unregistered() -> Option<Write> {
    let code = "MissingSubscriptionRegistration";
    Some(Write::Failed(Failure::warning(
        code,
        RetryClass::Slow,
        "no",
    )))
}

fn disputed() -> Option<Holder> {
    Some(Holder::Disputed("Store a/b".to_owned()))
}

/// Drift that was put right before, and is again at the end of its pause.
fn waiting() -> Option<Contest> {
    let wait = seconds(60);
    due().map(|contest| Contest { wait, ..contest })
}

fn due() -> Option<Contest> {
    Some(Contest {
        until: Timestamp::UNIX_EPOCH,
        wait: None,
        times: 1,
        by: None,
        is_noise: false,
    })
}

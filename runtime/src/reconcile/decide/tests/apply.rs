//! Creating and updating: ASO behaviour §1.3.

use super::*;

#[test]
fn step_2_one_operator_per_object() {
    let mut view = view();
    view.manager = Manager::Nobody;
    assert_eq!(decide(&view, &Observed::default()), TakeOwnership);
    view.manager = Manager::Other("elsewhere".to_owned());
    let Finish(finish) = decide(&view, &Observed::default()) else {
        panic!("another operator's object must be left alone");
    };
    assert_eq!((finish.verdict, finish.requeue), (None, Requeue::Never));
    assert_eq!(finish.event.expect("an event").reason, "Overlap");
}

#[test]
fn step_4_claims_only_what_can_be_created() {
    let mut view = view();
    view.claimed = false;
    let mut observed = Observed::default();
    assert_eq!(decide(&view, &observed), ReadOwner);
    observed.owner = Some(OwnerState::Waiting("no owner".to_owned()));
    ends(
        &view,
        &observed,
        "WaitingForOwner",
        Requeue::Backoff(RetryClass::Fast),
    );
    observed.owner = Some(OwnerState::Ready);
    assert_eq!(decide(&view, &observed), SelectCredential);
    observed.credential = Some(Err(failure()));
    ends(&view, &observed, "Conflict", slow());
    observed.credential = credential();
    assert_eq!(decide(&view, &observed), ResolveInputs);
    let lost = Failure::warning("SecretNotFound", RetryClass::Fast, "no secret");
    observed.inputs = Some(Err(lost));
    ends(
        &view,
        &observed,
        "SecretNotFound",
        Requeue::Backoff(RetryClass::Fast),
    );
    observed.inputs = Some(Ok(()));
    assert_eq!(decide(&view, &observed), Claim);
}

#[test]
fn step_4_an_owner_by_arm_id_is_not_waited_for() {
    for owner in [OwnerForm::None, OwnerForm::ArmId] {
        let view = ResourceView {
            claimed: false,
            owner,
            ..view()
        };
        assert_eq!(decide(&view, &Observed::default()), SelectCredential);
    }
}

#[test]
fn step_6_policy_of_object_before_namespace() {
    let mut view = view();
    view.policy = None;
    let mut observed = Observed::default();
    assert_eq!(decide(&view, &observed), ReadNamespacePolicy);
    observed.default_policy = Some(Policy::Skip);
    observed.credential = credential();
    assert_eq!(
        decide(&view, &observed),
        Get,
        "skip goes straight to the GET"
    );
    view.policy = Some(Policy::Manage);
    assert_eq!(decide(&view, &observed), ResolveInputs);
}

#[test]
fn step_6s_skip_reads_and_never_writes() {
    let mut view = view();
    view.policy = Some(Policy::Skip);
    view.steps.post_check = true;
    let mut observed = Observed {
        credential: credential(),
        resource: missing(),
        ..Observed::default()
    };
    ends(&view, &observed, "AzureResourceNotFound", slow());
    observed.resource = found(Provisioning::Settled);
    assert_eq!(decide(&view, &observed), PostCheck);
    observed.post_check = Some(Ok(PostCheck::Success));
    ends(&view, &observed, "Succeeded", Requeue::Sync);
}

#[test]
fn step_10_owner_check_comes_before_any_get() {
    let mut view = view();
    view.steps.owner_check = true;
    let mut observed = Observed {
        credential: credential(),
        inputs: Some(Ok(())),
        ..Observed::default()
    };
    assert_eq!(decide(&view, &observed), CheckOwner);
    let rows = [
        (
            Ok(PreCheck::Block("updating".to_owned())),
            "ReconciliationBlocked",
            slow(),
        ),
        (
            Ok(PreCheck::Postpone("later".to_owned())),
            "ReconciliationPostponed",
            Requeue::Backoff(RetryClass::VerySlow),
        ),
        (Err(failure()), "Conflict", slow()),
    ];
    for (check, reason, requeue) in rows {
        observed.owner_check = Some(check);
        ends(&view, &observed, reason, requeue);
    }
    observed.owner_check = Some(Ok(PreCheck::Proceed));
    assert_eq!(decide(&view, &observed), Get);
}

#[test]
fn step_10_owner_check_comes_before_the_get_of_step_6s_and_step_15() {
    let mut skip = view();
    skip.policy = Some(Policy::Skip);
    let rows = [
        ("6s: skip", skip.clone(), None),
        (
            "6s: skip, operation done",
            skip,
            Some(crate::reconcile::observed::Poll::Succeeded),
        ),
        (
            "15: operation done",
            view(),
            Some(crate::reconcile::observed::Poll::Succeeded),
        ),
        (
            "15: operation lost",
            view(),
            Some(crate::reconcile::observed::Poll::Lost),
        ),
    ];
    for (step, mut view, poll) in rows {
        view.steps.owner_check = true;
        let mut observed = Observed {
            credential: credential(),
            inputs: Some(Ok(())),
            poll,
            ..Observed::default()
        };
        assert_eq!(decide(&view, &observed), CheckOwner, "{step}");
        let block = crate::extension::PreCheck::Block("updating".to_owned());
        observed.owner_check = Some(Ok(block));
        ends(&view, &observed, "ReconciliationBlocked", slow());
        observed.owner_check = Some(Ok(crate::extension::PreCheck::Proceed));
        assert_eq!(decide(&view, &observed), Get, "{step}");
    }
}

#[test]
fn step_14_a_finished_operation_is_kept_while_the_owner_blocks() {
    let mut running = ResourceView {
        operation: StoredOperation::Put,
        ..view()
    };
    running.steps.owner_check = true;
    let mut observed = Observed {
        credential: credential(),
        ..Observed::default()
    };
    assert_eq!(
        decide(&running, &observed),
        Poll,
        "our own operation is followed"
    );
    observed.poll = Some(crate::reconcile::observed::Poll::Succeeded);
    assert_eq!(decide(&running, &observed), CheckOwner);
    let block = crate::extension::PreCheck::Block("updating".to_owned());
    observed.owner_check = Some(Ok(block));
    ends(&running, &observed, "ReconciliationBlocked", slow());
    observed.owner_check = Some(Ok(crate::extension::PreCheck::Proceed));
    assert_eq!(decide(&running, &observed), ForgetOperation);
}

#[test]
fn step_10_pre_check_comes_after_get_and_before_payload() {
    let mut view = view();
    view.steps.pre_check = true;
    for resource in [found(Provisioning::Settled), missing()] {
        let mut observed = Observed {
            payload: None,
            resource,
            ..same()
        };
        assert_eq!(decide(&view, &observed), PreCheck);
        observed.pre_check = Some(Ok(crate::extension::PreCheck::Block("wait".to_owned())));
        ends(&view, &observed, "ReconciliationBlocked", slow());
        observed.pre_check = Some(Ok(crate::extension::PreCheck::Proceed));
        assert_eq!(decide(&view, &observed), BuildPayload);
    }
}

#[test]
fn step_11_the_credential_must_fit_the_subscription() {
    let mut observed = same();
    observed.credential = Some(Ok(Credential {
        subscription: "other".to_owned(),
    }));
    let (reason, severity, requeue) = end(decide(&view(), &observed));
    assert_eq!(
        (reason.as_str(), severity, requeue),
        ("SubscriptionMismatch", Severity::Error, Requeue::Never)
    );
    // Casing does not count: the fixture has "s" and "S".
    ends(&view(), &same(), "Succeeded", Requeue::Sync);
}

#[test]
fn step_12_and_13_put_only_when_something_differs() {
    assert_eq!(
        decide(
            &view(),
            &Observed {
                comparison: None,
                ..same()
            }
        ),
        Compare
    );
    ends(&view(), &same(), "Succeeded", Requeue::Sync);
    let event = |view: &ResourceView, observed: &Observed| match decide(view, observed) {
        Put { event } => event.reason,
        other => panic!("expected a PUT, got {other:?}"),
    };
    let differs = Observed {
        comparison: Some(Comparison::Differs(Differences::default())),
        ..same()
    };
    assert_eq!(event(&view(), &differs), "Drifted");
    let changed = ResourceView {
        put_generation: Some(1),
        ..view()
    };
    assert_eq!(event(&changed, &differs), "BeginCreateOrUpdate");
    let absent = Observed {
        resource: missing(),
        comparison: None,
        ..same()
    };
    assert_eq!(event(&changed, &absent), "BeginCreateOrUpdate");
    assert_eq!(event(&view(), &absent), "Drifted");
    let broken = Observed {
        resource: found(Provisioning::Failed("Failed".to_owned())),
        ..same()
    };
    assert_eq!(event(&view(), &broken), "BeginCreateOrUpdate");
    let always = ResourceView {
        always_put: true,
        ..view()
    };
    assert_eq!(event(&always, &same()), "BeginCreateOrUpdate");
}

#[test]
fn a_resource_that_azure_works_on_is_left_alone() {
    let observed = Observed {
        resource: found(Provisioning::Running("Updating".to_owned())),
        ..same()
    };
    ends(
        &view(),
        &observed,
        "Reconciling",
        Requeue::Backoff(RetryClass::Poll),
    );
}

#[test]
fn observe_reports_and_never_writes() {
    let view = ResourceView {
        observe: true,
        always_put: true,
        ..view()
    };
    ends(&view, &same(), "Succeeded", Requeue::Sync);
    let very_slow = Requeue::Backoff(RetryClass::VerySlow);
    let differs = Observed {
        comparison: Some(Comparison::Differs(Differences::default())),
        ..same()
    };
    ends(&view, &differs, "Drifted", very_slow);
    let absent = Observed {
        resource: missing(),
        ..same()
    };
    ends(&view, &absent, "AzureResourceNotFound", slow());
    let gone = ResourceView {
        deleting: true,
        ..view
    };
    assert_eq!(decide(&gone, &Observed::default()), RemoveFinalizer);
}

#[test]
fn step_13_outcomes_of_the_put() {
    let after = Duration::from_secs(15);
    let rows = [
        (
            Write::Running(Some(after)),
            "Reconciling",
            Requeue::After(after),
        ),
        (
            Write::Running(None),
            "Reconciling",
            Requeue::Backoff(RetryClass::Poll),
        ),
        (Write::Failed(failure()), "Conflict", slow()),
        (Write::Failed(fatal()), "LocationRequired", Requeue::Never),
    ];
    for (put, reason, requeue) in rows {
        let observed = Observed {
            put: Some(put.clone()),
            ..same()
        };
        // The driver has saved the operation by now.
        let operation = match put {
            Write::Running(_) => StoredOperation::Put,
            _ => StoredOperation::None,
        };
        ends(
            &ResourceView {
                operation,
                ..view()
            },
            &observed,
            reason,
            requeue,
        );
    }
}

#[test]
fn step_14_one_look_per_pass() {
    let running = ResourceView {
        operation: StoredOperation::Put,
        ..view()
    };
    let mut observed = Observed {
        credential: credential(),
        ..Observed::default()
    };
    assert_eq!(decide(&running, &observed), Poll);
    let after = Duration::from_secs(7);
    observed.poll = Some(crate::reconcile::observed::Poll::Running(Some(after)));
    ends(&running, &observed, "Reconciling", Requeue::After(after));
    observed.poll = Some(crate::reconcile::observed::Poll::Failed(failure()));
    assert_eq!(decide(&running, &observed), ForgetOperation);
    ends(&view(), &observed, "Conflict", slow());
    observed.poll = Some(crate::reconcile::observed::Poll::Unknown(failure()));
    ends(&running, &observed, "Conflict", slow());
    observed.poll = Some(crate::reconcile::observed::Poll::Lost);
    assert_eq!(decide(&running, &observed), ForgetOperation);
    assert_eq!(
        decide(&view(), &observed),
        ResolveInputs,
        "only the resource can tell"
    );
}

#[test]
fn an_operation_that_cannot_be_followed_is_dropped() {
    let observed = Observed {
        credential: credential(),
        ..Observed::default()
    };
    for operation in [StoredOperation::Unreadable, StoredOperation::Delete] {
        let view = ResourceView {
            operation,
            ..view()
        };
        assert_eq!(decide(&view, &observed), ForgetOperation, "{operation:?}");
    }
}

#[test]
fn step_14g_a_spec_that_changed_meanwhile_is_sent_again() {
    let changed = ResourceView {
        put_generation: Some(1),
        ..view()
    };
    let observed = Observed {
        credential: credential(),
        poll: Some(crate::reconcile::observed::Poll::Succeeded),
        ..Observed::default()
    };
    ends(&changed, &observed, "Reconciling", Requeue::Now);
}

#[test]
fn step_15_reads_back_after_the_put() {
    for (put, poll) in [
        (Some(Write::Completed), None),
        (None, Some(crate::reconcile::observed::Poll::Succeeded)),
    ] {
        let mut observed = Observed {
            put,
            poll,
            resource: None,
            ..same()
        };
        assert_eq!(decide(&view(), &observed), Get);
        observed.resource = missing();
        ends(&view(), &observed, "AzureResourceNotFound", slow());
        observed.resource = found(Provisioning::Settled);
        assert_eq!(decide(&view(), &observed), RecordBaseline);
        observed.baseline = Some(Recorded::Outdated);
        ends(&view(), &observed, "Reconciling", Requeue::Now);
        observed.baseline = Some(Recorded::Current);
        ends(&view(), &observed, "Succeeded", Requeue::Sync);
        observed.resource = found(Provisioning::Failed("Failed".to_owned()));
        ends(
            &view(),
            &observed,
            "Failed",
            Requeue::Backoff(RetryClass::VerySlow),
        );
    }
}

#[test]
fn steps_16_to_19_in_order() {
    let mut view = view();
    view.steps = Steps {
        post_check: true,
        export: true,
        success_hook: true,
        ..Steps::default()
    };
    let mut observed = same();
    assert_eq!(decide(&view, &observed), PostCheck);
    let pending = crate::extension::PostCheck::Failure("not approved".to_owned());
    observed.post_check = Some(Ok(pending));
    ends(&view, &observed, "PostReconciliationFailure", slow());
    observed.post_check = Some(Ok(crate::extension::PostCheck::Success));
    assert_eq!(decide(&view, &observed), Export);
    observed.export = Some(Err(Failure::error(reason::EXPORT_FAILED, "not ours")));
    ends(
        &view,
        &observed,
        "FailedWritingAdditionalKubernetesObjects",
        Requeue::Never,
    );
    observed.export = Some(Ok(()));
    assert_eq!(decide(&view, &observed), SuccessHook);
    observed.success_hook = Some(Ok(()));
    ends(&view, &observed, "Succeeded", Requeue::Sync);
}

/// ASO behaviour §1.7: the provider is registered, and the PUT is tried again later.
#[test]
fn a_missing_registration_is_asked_for_once() {
    let unregistered = Failure::warning("MissingSubscriptionRegistration", RetryClass::Slow, "no");
    let mut observed = Observed {
        put: Some(Write::Failed(unregistered)),
        ..same()
    };
    assert_eq!(decide(&view(), &observed), RegisterProvider);
    for outcome in [Ok(()), Err(failure())] {
        observed.registration = Some(outcome);
        ends(
            &view(),
            &observed,
            "MissingSubscriptionRegistration",
            slow(),
        );
    }
}

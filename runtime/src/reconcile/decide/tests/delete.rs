//! Deleting: ASO behaviour §1.9.

use super::*;

#[test]
fn item_1_nothing_to_delete_in_azure() {
    let unclaimed = ResourceView {
        claimed: false,
        ..deleting()
    };
    assert_eq!(
        decide(&unclaimed, &Observed::default()),
        Finish(crate::reconcile::action::Finish::silent())
    );
    for policy in [Policy::Skip, Policy::DetachOnDelete] {
        let view = ResourceView {
            policy: Some(policy),
            ..deleting()
        };
        assert_eq!(
            decide(&view, &Observed::default()),
            RemoveFinalizer,
            "{policy:?}"
        );
    }
    let never_created = ResourceView {
        has_resource_id: false,
        ..deleting()
    };
    assert_eq!(
        decide(&never_created, &Observed::default()),
        RemoveFinalizer
    );
}

#[test]
fn item_2_follows_a_running_delete() {
    let running = ResourceView {
        operation: StoredOperation::Delete,
        ..deleting()
    };
    let mut observed = Observed {
        credential: credential(),
        ..Observed::default()
    };
    assert_eq!(decide(&running, &observed), Poll);
    observed.poll = Some(crate::reconcile::observed::Poll::Running(None));
    ends(
        &running,
        &observed,
        "Deleting",
        Requeue::Backoff(RetryClass::Poll),
    );
    observed.poll = Some(crate::reconcile::observed::Poll::Succeeded);
    assert_eq!(decide(&running, &observed), RemoveFinalizer);
    observed.poll = Some(crate::reconcile::observed::Poll::Failed(fatal()));
    assert_eq!(decide(&running, &observed), ForgetOperation);
    let (reason, severity, _) = end(decide(&deleting(), &observed));
    assert_eq!(
        (reason.as_str(), severity),
        ("LocationRequired", Severity::Warning)
    );
    observed.poll = Some(crate::reconcile::observed::Poll::Lost);
    assert_eq!(decide(&deleting(), &observed), Get);
}

#[test]
fn item_2_a_type_without_delete() {
    let mut view = deleting();
    view.verbs.delete = false;
    let mut observed = Observed {
        credential: credential(),
        ..Observed::default()
    };
    assert_eq!(decide(&view, &observed), Get);
    observed.resource = missing();
    assert_eq!(decide(&view, &observed), RemoveFinalizer);
    observed.resource = found(Provisioning::Settled);
    ends(
        &view,
        &observed,
        "DeletionNotSupportedInAzure",
        Requeue::Backoff(RetryClass::VerySlow),
    );
}

#[test]
fn item_3_looks_before_it_deletes() {
    let mut observed = Observed {
        credential: credential(),
        ..Observed::default()
    };
    assert_eq!(decide(&deleting(), &observed), Get);
    observed.resource = missing();
    assert_eq!(decide(&deleting(), &observed), RemoveFinalizer);
    for resource in [found(Provisioning::Settled), Some(Err(failure()))] {
        observed.resource = resource;
        assert_eq!(decide(&deleting(), &observed), Delete);
    }
    observed.delete = Some(Write::Completed);
    assert_eq!(decide(&deleting(), &observed), RemoveFinalizer);
    let after = Duration::from_secs(9);
    observed.delete = Some(Write::Running(Some(after)));
    let running = ResourceView {
        operation: StoredOperation::Delete,
        ..deleting()
    };
    ends(&running, &observed, "Deleting", Requeue::After(after));
}

#[test]
fn item_4_deletion_never_gives_up() {
    let mut observed = Observed {
        credential: credential(),
        resource: found(Provisioning::Settled),
        ..Observed::default()
    };
    observed.delete = Some(Write::Failed(fatal()));
    let (reason, severity, requeue) = end(decide(&deleting(), &observed));
    assert_eq!(
        (reason.as_str(), severity, requeue),
        ("LocationRequired", Severity::Warning, slow())
    );
    let other = Observed {
        credential: Some(Ok(Credential {
            subscription: "t".to_owned(),
        })),
        ..observed
    };
    let (reason, severity, _) = end(decide(&deleting(), &other));
    assert_eq!(
        (reason.as_str(), severity),
        ("SubscriptionMismatch", Severity::Warning)
    );
}

#[test]
fn deleting_leaves_a_running_put_behind() {
    let view = ResourceView {
        operation: StoredOperation::Put,
        ..deleting()
    };
    let observed = Observed {
        credential: credential(),
        ..Observed::default()
    };
    assert_eq!(decide(&view, &observed), Get);
    for resource in [found(Provisioning::Settled), Some(Err(failure()))] {
        let seen = Observed {
            resource,
            ..observed.clone()
        };
        assert_eq!(decide(&view, &seen), ForgetOperation);
    }
    let unreadable = ResourceView {
        operation: StoredOperation::Unreadable,
        ..deleting()
    };
    assert_eq!(decide(&unreadable, &observed), ForgetOperation);
}

#[test]
fn deleting_waits_for_what_a_running_put_has_not_shown_yet() {
    use crate::reconcile::observed::Poll as Look;
    let view = ResourceView {
        operation: StoredOperation::Put,
        ..deleting()
    };
    let mut observed = Observed {
        credential: credential(),
        resource: missing(),
        ..Observed::default()
    };
    assert_eq!(decide(&view, &observed), Poll);
    observed.poll = Some(Look::Running(None));
    let later = Requeue::Backoff(RetryClass::Poll);
    ends(&view, &observed, "Deleting", later);
    for look in [Look::Succeeded, Look::Failed(fatal()), Look::Lost] {
        observed.poll = Some(look);
        assert_eq!(decide(&view, &observed), ForgetOperation);
    }
    // The operation is forgotten, and the look at the resource with it.
    observed.resource = None;
    for look in [Look::Succeeded, Look::Lost] {
        observed.poll = Some(look);
        assert_eq!(decide(&deleting(), &observed), Get);
    }
}

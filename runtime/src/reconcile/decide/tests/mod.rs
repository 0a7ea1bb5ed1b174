//! One table per row of the state machine: ASO behaviour §1.3 (`step …`) and §1.9 (`item …`).

mod apply;
mod delete;

use std::time::Duration;

use super::*;
use crate::extension::{PostCheck, PreCheck};
use crate::kind::Verbs;
use crate::reconcile::action::Action::*;
use crate::reconcile::condition::Severity;
use crate::reconcile::observed::*;
use crate::reconcile::view::{OwnerForm, Steps, StoredOperation};

/// A claimed object whose spec was sent and has not changed.
fn view() -> ResourceView {
    ResourceView {
        generation: 2,
        deleting: false,
        claimed: true,
        manager: Manager::Us,
        policy: Some(Policy::Manage),
        observe: false,
        always_put: false,
        owner: OwnerForm::Named,
        has_resource_id: true,
        subscription: Some("s".to_owned()),
        operation: StoredOperation::None,
        put_generation: Some(2),
        verbs: Verbs {
            get: true,
            put: true,
            delete: true,
            ..Verbs::default()
        },
        steps: Steps::default(),
    }
}

fn deleting() -> ResourceView {
    ResourceView {
        deleting: true,
        ..view()
    }
}

fn credential() -> Option<Result<Credential, Failure>> {
    Some(Ok(Credential {
        subscription: "S".to_owned(),
    }))
}

/// Everything before the PUT is known; the resource is there and equal.
fn same() -> Observed {
    Observed {
        credential: credential(),
        inputs: Some(Ok(())),
        resource: found(Provisioning::Settled),
        payload: Some(Ok(())),
        comparison: Some(Comparison::Same),
        ..Observed::default()
    }
}

fn found(provisioning: Provisioning) -> Option<Result<Resource, Failure>> {
    Some(Ok(Resource::Found(provisioning)))
}

fn missing() -> Option<Result<Resource, Failure>> {
    Some(Ok(Resource::Missing))
}

fn failure() -> Failure {
    Failure::warning("Conflict", RetryClass::Slow, "busy")
}

fn fatal() -> Failure {
    Failure::error("LocationRequired", "no location")
}

/// Reason, severity and requeue of the end of a pass.
fn end(action: Action) -> (String, Severity, Requeue) {
    match action {
        Finish(finish) => {
            let verdict = finish.verdict.expect("a verdict");
            (verdict.reason, verdict.severity, finish.requeue)
        }
        other => panic!("expected the end of the pass, got {other:?}"),
    }
}

fn ends(view: &ResourceView, observed: &Observed, reason: &str, requeue: Requeue) {
    let (found, _, when) = end(decide(view, observed));
    assert_eq!((found.as_str(), when), (reason, requeue));
}

fn slow() -> Requeue {
    Requeue::Backoff(RetryClass::Slow)
}

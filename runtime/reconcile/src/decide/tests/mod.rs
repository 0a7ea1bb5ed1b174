//! The state machine as tables: one row per row of ASO behaviour §1.3 (create and update), §1.4 (long-running
//! operations), §1.7 (conditions and errors) and §1.9 (deletion), and for what we do otherwise.
//!
//! A row says where it comes from, when it holds, the facts, and what is done then: a step (`Get`), a write with its event
//! (`Put: Drifted`), or the end of the pass as `status/severity/reason, requeue` with the event that it records.

mod annotations;
mod create;
mod delete;
mod finish;
mod identity;
mod operations;

use armature_shapes::kind::Verbs;
use jiff::Timestamp;

use super::*;
use crate::action::Action;
use crate::annotations::{Adopt, Adoption};
use crate::condition::Verdict;
use crate::extension::{PostCheck, PreCheck, Prerequisite};
use crate::observed::*;
use crate::outcome::{Poll, Write};
use crate::policy::Policy;
use crate::port::Protection;
use crate::remote::{Credential, Provisioning};
use crate::view::{Hold, OwnerForm, Paused, Steps, StoredOperation};

/// Section, case, facts, outcome.
type Row = (
    &'static str,
    &'static str,
    fn(&mut ResourceView, &mut Observed),
    &'static str,
);

/// Checks every row on its own, starting from this object and this knowledge.
fn check(rows: &[Row], view: &ResourceView, observed: &Observed) {
    for (section, case, facts, expected) in rows {
        let (mut view, mut observed) = (view.clone(), observed.clone());
        facts(&mut view, &mut observed);
        let found = outcome(decide(&view, &observed));
        assert_eq!(found, *expected, "§{section}: {case}");
    }
}

fn outcome(action: Action) -> String {
    match action {
        Action::Put { event } => format!("Put: {}", event.reason),
        Action::NoteAdoption { adoption, event } => {
            let event = event.map(|event| format!(": {}", event.reason));
            format!("Note {}{}", adoption.as_str(), event.unwrap_or_default())
        }
        Action::Prepare(prerequisite) => format!("Prepare: {}", prerequisite.message),
        Action::Finish(finish) => {
            let verdict = finish.verdict.as_ref().map_or("unsaid".to_owned(), said);
            let event = finish.event.map(|event| format!(": {}", event.reason));
            let when = when(finish.requeue);
            let paused = finish.paused.map(|message| format!("paused: {message}, "));
            let paused = paused.unwrap_or_default();
            format!("{paused}{verdict}, {when}{}", event.unwrap_or_default())
        }
        step => format!("{step:?}"),
    }
}

/// As a condition has it.
fn said(verdict: &Verdict) -> String {
    let status = if verdict.ready { "True" } else { "False" };
    format!("{status}/{}/{}", verdict.severity.as_str(), verdict.reason)
}

fn when(requeue: Requeue) -> String {
    let class = |class| match class {
        RetryClass::Fast => "fast",
        RetryClass::Slow => "slow",
        RetryClass::VerySlow => "very slow",
        RetryClass::Poll => "poll",
    };
    match requeue {
        Requeue::Never => "never".to_owned(),
        Requeue::Now => "now".to_owned(),
        Requeue::Sync => "sync".to_owned(),
        Requeue::SyncAfter(period) => format!("sync after {} s", period.as_secs()),
        Requeue::RetryAfter(period) => format!("retry after {} s", period.as_secs()),
        Requeue::PutOff(delay) => format!("put off {} s", delay.as_secs()),
        Requeue::After(delay) => format!("after {} s", delay.as_secs()),
        Requeue::Backoff(retry) => class(retry).to_owned(),
        Requeue::BackoffAtLeast(retry, least) => {
            format!("{}, at least {} s", class(retry), least.as_secs())
        }
    }
}

/// A claimed object whose spec was sent and has not changed.
fn claimed() -> ResourceView {
    ResourceView {
        generation: 2,
        deleting: false,
        claimed: true,
        manager: Manager::Us,
        mistakes: None,
        paused: None,
        policy: Policy::Manage,
        adopt: Adopt::Always,
        adoption: Some(Adoption::Made),
        protected: false,
        observe: false,
        always_put: false,
        owner: OwnerForm::Named,
        has_resource_id: true,
        subscription: Some("s".to_owned()),
        operation: StoredOperation::None,
        has_unsent_edit: false,
        put_generation: Some(2),
        put_may_run: false,
        looked_at_for: Duration::ZERO,
        is_looked_at_often: false,
        asks_twice: false,
        unvouched: false,
        hold: Hold::default(),
        pause: None,
        verbs: Verbs {
            get: true,
            put: true,
            delete: true,
            ..Verbs::default()
        },
        steps: Steps::default(),
    }
}

/// The namespace allows deletion, and nothing below is protected.
fn nothing() -> Observed {
    Observed {
        namespace_is_live: true,
        protection: Some(Protection::None),
        named_by: Some(NamedBy::Nobody),
        ..Observed::default()
    }
}

/// Held back since the first second of 1970, which was so long ago.
fn held(minutes: u64) -> Hold {
    Hold {
        since: Some(Timestamp::UNIX_EPOCH),
        now: Timestamp::UNIX_EPOCH + Duration::from_secs(60 * minutes),
        ..Hold::default()
    }
}

/// The credential fits; casing of the subscription does not count. The ARM id is this object's.
fn signed_in() -> Observed {
    Observed {
        credential: credential(),
        identity: Some(Ok(Identity::Kept)),
        holder: Some(Holder::Us),
        ..nothing()
    }
}

/// Everything before the PUT is known; the resource is there and equal.
fn equal() -> Observed {
    Observed {
        inputs: Some(Ok(())),
        resource: found(Provisioning::Settled),
        payload: Some(Ok(())),
        comparison: Some(Comparison::Same),
        ..signed_in()
    }
}

fn credential() -> Option<Result<Credential, Failure>> {
    Some(Ok(Credential {
        subscription: "S".to_owned(),
    }))
}

fn other_credential() -> Option<Result<Credential, Failure>> {
    Some(Ok(Credential {
        subscription: "other".to_owned(),
    }))
}

fn found(provisioning: Provisioning) -> Option<Result<Resource, Failure>> {
    Some(Ok(Resource::Found(provisioning)))
}

fn missing() -> Option<Result<Resource, Failure>> {
    Some(Ok(Resource::Missing))
}

fn differs() -> Option<Comparison> {
    Some(Comparison::Differs(Differences::default()))
}

fn updating() -> Option<Result<Resource, Failure>> {
    found(Provisioning::Running("Updating".to_owned()))
}

fn broken() -> Option<Result<Resource, Failure>> {
    found(Provisioning::Failed("Failed".to_owned()))
}

fn conflict() -> Failure {
    Failure::warning("Conflict", RetryClass::Slow, "busy")
}

fn fatal() -> Failure {
    Failure::error("LocationRequired", "no location")
}

fn block() -> Option<Result<PreCheck, Failure>> {
    Some(Ok(PreCheck::Block("updating".to_owned())))
}

fn postpone() -> Option<Result<PreCheck, Failure>> {
    Some(Ok(PreCheck::Postpone("later".to_owned())))
}

fn proceed() -> Option<Result<PreCheck, Failure>> {
    Some(Ok(PreCheck::Proceed))
}

fn first() -> Option<Result<PreCheck, Failure>> {
    Some(Ok(PreCheck::First(Prerequisite {
        url: "/purge".to_owned(),
        message: "purging".to_owned(),
    })))
}

fn seconds(count: u64) -> Option<Duration> {
    Some(Duration::from_secs(count))
}

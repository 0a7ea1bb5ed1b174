//! What the decision sees of each finding: one row says what was found out, and what becomes known by that and nothing else.

use armature_engine::compare::SecretVersion;
use armature_shapes::id::ResourceId;
use serde_json::json;

use super::*;
use crate::observed::Differences;
use crate::remote::Provisioning;

/// Case, what is found out, what is known then.
type Row = (&'static str, fn(&mut Findings), fn(&mut Observed));

fn check(rows: &[Row]) {
    for (case, find, know) in rows {
        let (mut findings, mut known) = (Findings::default(), Observed::default());
        find(&mut findings);
        know(&mut known);
        assert_eq!(Observed::from(&findings), known, "{case}");
    }
}

fn failure() -> Failure {
    Failure::error("Refused", "no")
}

fn there(provisioning: Provisioning) -> Reading {
    Reading {
        at: None,
        provisioning,
        body: Some(json!({"location": "westus"})),
        etag: None,
    }
}

#[test]
fn nothing_is_known_before_anything_is_found_out() {
    check(&[("nothing", |_| {}, |_| {})]);
}

#[test]
fn each_finding_is_one_fact() {
    check(&[
        (
            "the namespace as the server has it",
            |findings| findings.namespace.is_live = true,
            |known| known.namespace_is_live = true,
        ),
        (
            "the owner",
            |findings| findings.owner.state = Some(OwnerState::Ready),
            |known| known.owner = Some(OwnerState::Ready),
        ),
        (
            "the recorded id",
            |findings| findings.place.identity = Some(Ok(Identity::Moved)),
            |known| known.identity = Some(Ok(Identity::Moved)),
        ),
        (
            "who writes the resource",
            |findings| findings.place.holder = Some(Holder::Us),
            |known| known.holder = Some(Holder::Us),
        ),
        (
            "the claim",
            |findings| findings.place.claim = Some(Ok(())),
            |known| known.claim = Some(Ok(())),
        ),
        (
            "what is below the resource",
            |findings| findings.place.protection = Some(Protection::None),
            |known| known.protection = Some(Protection::None),
        ),
        (
            "the inputs",
            |findings| findings.inputs.outcome = Some(Err(failure())),
            |known| known.inputs = Some(Err(failure())),
        ),
        (
            "what was desired before",
            |findings| findings.payload.comparison = Some(Comparison::Differs(differences())),
            |known| known.comparison = Some(Comparison::Differs(differences())),
        ),
        (
            "the record",
            |findings| findings.payload.recorded = Some(Recorded::Outdated),
            |known| known.recorded = Some(Recorded::Outdated),
        ),
        (
            "the exports",
            |findings| findings.export = Some(Ok(())),
            |known| known.export = Some(Ok(())),
        ),
        (
            "the hook after success",
            |findings| findings.success_hook = Some(Err(failure())),
            |known| known.success_hook = Some(Err(failure())),
        ),
    ]);
}

fn differences() -> Differences {
    Differences {
        text: "location: 'eastus' is 'westus'".to_owned(),
        paths: vec!["location".to_owned()],
    }
}

#[test]
fn checks_and_writes_are_told_apart() {
    let rows: &[Row] = &[
        (
            "the owner's check",
            |findings| findings.checks.owner = Some(Ok(PreCheck::Proceed)),
            |known| known.owner_check = Some(Ok(PreCheck::Proceed)),
        ),
        (
            "the check before the PUT",
            |findings| findings.checks.before_put = Some(Ok(PreCheck::Proceed)),
            |known| known.pre_check = Some(Ok(PreCheck::Proceed)),
        ),
        (
            "the check after the PUT",
            |findings| findings.checks.after_put = Some(Ok(PostCheck::Success)),
            |known| known.post_check = Some(Ok(PostCheck::Success)),
        ),
        (
            "what comes before the PUT",
            |findings| findings.writes.prerequisite = Some(Write::Completed),
            |known| known.prerequisite = Some(Write::Completed),
        ),
        (
            "the PUT",
            |findings| findings.writes.put = Some(Write::Running(None)),
            |known| known.put = Some(Write::Running(None)),
        ),
        (
            "the registration",
            |findings| findings.writes.registration = Some(Ok(())),
            |known| known.registration = Some(Ok(())),
        ),
        (
            "the look at an operation",
            |findings| findings.writes.poll = Some(Poll::Succeeded),
            |known| known.poll = Some(Poll::Succeeded),
        ),
        (
            "the DELETE",
            |findings| findings.writes.delete = Some(Write::Failed(failure())),
            |known| known.delete = Some(Write::Failed(failure())),
        ),
    ];
    check(rows);
}

/// The decision asks for outcomes alone: what came along is for the steps that follow.
#[test]
fn what_only_steps_need_is_not_told() {
    check(&[
        (
            "the id",
            |findings| {
                let id = ResourceId::parse("/subscriptions/s-1/resourceGroups/g");
                findings.place.id = Some(RemoteId::Arm(id.unwrap()));
            },
            |_| {},
        ),
        (
            "annotations of the namespace from the watch",
            |findings| findings.namespace.annotations = [("a".to_owned(), "b".to_owned())].into(),
            |_| {},
        ),
        (
            "inputs that are there while others are not",
            |findings| {
                let versions = &mut findings.inputs.secret_versions;
                versions.push(SecretVersion {
                    name: "s".to_owned(),
                    uid: "u".to_owned(),
                    resource_version: "1".to_owned(),
                });
            },
            |_| {},
        ),
        (
            "how often the resource changed",
            |findings| findings.writes.overtaken = 2,
            |_| {},
        ),
        (
            "an edit after operations that failed",
            |findings| findings.payload.is_edited = true,
            |_| {},
        ),
        (
            "whose credential it is, and not where it comes from",
            |findings| {
                findings.sign_in = Some(SignIn {
                    key: CredentialRef::Secret {
                        namespace: "n".to_owned(),
                        name: "s".to_owned(),
                    },
                    account: Ok(account()),
                });
            },
            |known| known.credential = Some(Ok(account())),
        ),
        (
            "that there is a body, and not which",
            |findings| findings.payload.body = Some(Ok(json!({"location": "westus"}))),
            |known| known.payload = Some(Ok(())),
        ),
        (
            "why there is no body",
            |findings| findings.payload.body = Some(Err(failure())),
            |known| known.payload = Some(Err(failure())),
        ),
    ]);
}

fn account() -> Credential {
    Credential {
        subscription: "s-1".to_owned(),
    }
}

/// An answer counts as long as nothing was written since, and outlives a look that failed.
#[test]
fn what_is_there_follows_from_the_latest_look() {
    let running = || Provisioning::Running("Updating".to_owned());
    for (case, answer, look, resource) in [
        ("before the first look", None, Look::Due, None),
        (
            "there is none",
            None,
            Look::Answered,
            Some(Ok(Resource::Missing)),
        ),
        (
            "there is one",
            Some(there(running())),
            Look::Answered,
            Some(Ok(Resource::Found(running()))),
        ),
        (
            "the remote does not tell more than that",
            Some(Reading {
                at: None,
                body: None,
                ..there(Provisioning::Settled)
            }),
            Look::Answered,
            Some(Ok(Resource::Found(Provisioning::Settled))),
        ),
        (
            "the second look failed",
            Some(there(running())),
            Look::Failed(failure()),
            Some(Err(failure())),
        ),
        (
            "something was written since",
            Some(there(running())),
            Look::Due,
            None,
        ),
    ] {
        let seen = Seen {
            answer,
            look,
            ..Seen::default()
        };
        assert_eq!(seen.resource(), resource, "{case}");
    }
}

#[test]
fn after_a_write_the_former_answer_still_tells_what_was() {
    let mut findings = Findings::default();
    findings.seen.answer = Some(there(Provisioning::Settled));
    findings.seen.look = Look::Answered;
    findings.seen.expire();
    assert_eq!(Observed::from(&findings).resource, None);
    assert_eq!(findings.remote_body(), Some(&json!({"location": "westus"})));
}

#[test]
fn without_a_credential_requests_would_be_the_operators_own_and_for_no_account() {
    let mut findings = Findings::default();
    for (case, sign_in) in [
        ("none was chosen", None),
        ("none may be used", Some(SignIn::refused(failure()))),
    ] {
        findings.sign_in = sign_in;
        assert_eq!(findings.credential(), &CredentialRef::Global, "{case}");
        assert_eq!(findings.account(), "", "{case}");
    }
}

//! Deleting: ASO behaviour §1.9.

use super::*;

const DELETE: StoredOperation = StoredOperation::Delete;
const PUT: StoredOperation = StoredOperation::Put;

fn deleting() -> ResourceView {
    ResourceView {
        deleting: true,
        ..claimed()
    }
}

#[test]
fn item_1_nothing_to_delete_in_azure() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 6] = [
        ("1.9 1", "never claimed", |v, _| v.claimed = false, "unsaid, never"),
        ("1.9 1", "skip", |v, _| v.policy = Policy::Skip, "RemoveFinalizer"),
        ("1.9 1", "detach-on-delete", |v, _| v.policy = Policy::DetachOnDelete, "RemoveFinalizer"),
        ("1.9 3", "it has no ARM id: never created", |v, _| v.has_resource_id = false, "RemoveFinalizer"),
        ("1.3 2", "another operator manages it", |v, _| v.manager = Manager::Other("x".into()), "unsaid, never: Overlap"),
        ("1.3 2", "nobody manages it: no reason to begin now", |v, _| v.manager = Manager::Nobody, "SelectCredential"),
    ];
    check(&rows, &deleting(), &nothing());
}

/// No row sends a DELETE while another write runs.
#[test]
fn item_2_follows_what_runs() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 23] = [
        ("1.9 2", "a DELETE", |_, _| {}, "Poll"),
        ("1.9 2", "runs", |_, o| o.poll = Some(Poll::Running(None)), "False/Info/Deleting, poll"),
        ("1.9 2", "runs, with Retry-After", |_, o| o.poll = Some(Poll::Running(seconds(7))), "False/Info/Deleting, after 7 s"),
        ("1.9 2", "ended well", |_, o| o.poll = Some(Poll::Succeeded), "RemoveFinalizer"),
        ("1.9 4", "ended badly", |_, o| o.poll = Some(Poll::Failed(fatal())), "ForgetOperation"),
        ("1.9 2", "forgotten by Azure", |_, o| o.poll = Some(Poll::Lost), "ForgetOperation"),
        ("1.9 4", "the look failed", |_, o| o.poll = Some(Poll::Unknown(fatal())), "False/Warning/LocationRequired, slow: DeleteActionError"),
        ("1.9 2", "a PUT, which ASO runs into", |v, _| v.operation = PUT, "Poll"),
        ("1.9 2", "the PUT runs", |v, o| (v.operation, o.poll) = (PUT, Some(Poll::Running(seconds(7)))), "False/Info/Deleting, after 7 s"),
        ("1.9 2", "the PUT ended well", |v, o| (v.operation, o.poll) = (PUT, Some(Poll::Succeeded)), "Get"),
        ("1.9 2", "the PUT ended well, which is recorded, and the object was deleted meanwhile", |v, o| (v.operation, o.poll) = (StoredOperation::None, Some(Poll::Succeeded)), "Get"),
        ("1.9 2", "the PUT ended badly", |v, o| (v.operation, o.poll) = (PUT, Some(Poll::Failed(fatal()))), "Get"),
        ("1.9 2", "the PUT is forgotten by Azure", |v, o| (v.operation, o.poll) = (PUT, Some(Poll::Lost)), "Get"),
        ("1.9 2", "the look at the PUT failed", |v, o| (v.operation, o.poll) = (PUT, Some(Poll::Unknown(conflict()))), "False/Warning/Conflict, slow: DeleteActionError"),
        ("1.9 2", "only the resource tells about the PUT", |v, o| (v.operation, o.poll) = (PUT, Some(Poll::Unreported(None))), "BeginHold"),
        ("1.9 2", "still so", |v, o| (v.operation, o.poll, v.hold) = (PUT, Some(Poll::Unreported(seconds(900))), held(4)), "False/Info/Deleting, after 60 s"),
        ("1.9 2", "for too long", |v, o| (v.operation, o.poll, v.hold) = (PUT, Some(Poll::Unreported(None)), held(5)), "ForgetOperation"),
        ("1.9 2", "nobody can be asked about the PUT", |v, o| (v.operation, o.poll, v.hold) = (PUT, Some(Poll::Doubtful(conflict())), held(4)), "False/Warning/Conflict, slow: DeleteActionError"),
        ("1.9 2", "for too long", |v, o| (v.operation, o.poll, v.hold) = (PUT, Some(Poll::Doubtful(conflict())), held(5)), "ForgetOperation"),
        ("1.9 2", "only the resource tells about the DELETE, for too long", |v, o| (o.poll, v.hold) = (Some(Poll::Unreported(None)), held(5)), "ForgetOperation"),
        ("1.9 2", "the PUT runs, as Azure says, whatever held before", |v, o| (v.operation, o.poll, v.hold) = (PUT, Some(Poll::Running(None)), held(500)), "False/Info/Deleting, poll"),
        ("1.9 2", "what came before a PUT", |v, _| v.operation = StoredOperation::Prerequisite, "ForgetOperation"),
        ("1.9 2", "state that cannot be read", |v, _| v.operation = StoredOperation::Unreadable, "ForgetOperation"),
    ];
    let running = ResourceView {
        operation: DELETE,
        ..deleting()
    };
    check(&rows, &running, &signed_in());
}

#[test]
fn item_2_a_type_without_delete() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 4] = [
        ("1.9 2", "not looked at", |_, _| {}, "Get"),
        ("1.9 2", "gone", |_, o| o.resource = missing(), "RemoveFinalizer"),
        ("1.9 2", "there", |_, o| o.resource = found(Provisioning::Settled), "False/Warning/DeletionNotSupportedInAzure, very slow: NotPossibleInAzure"),
        ("1.9 4", "the GET is refused", |_, o| o.resource = Some(Err(fatal())), "False/Warning/LocationRequired, slow: DeleteActionError"),
    ];
    let mut view = deleting();
    view.verbs.delete = false;
    check(&rows, &view, &signed_in());
}

/// Whether it is there or Azure does not say: what to do is told, once.
#[test]
fn the_way_out_of_a_type_without_delete_is_told_whatever_azure_answers() {
    let mut view = deleting();
    view.verbs.delete = false;
    let gone = Failure::error("SubscriptionNotFound", "no subscription");
    for resource in [
        found(Provisioning::Settled),
        Some(Err(fatal())),
        Some(Err(conflict())),
        Some(Err(gone)),
    ] {
        let mut observed = signed_in();
        observed.resource = resource;
        let Action::Finish(finish) = decide(&view, &observed) else {
            panic!("{observed:?}");
        };
        let message = finish.verdict.expect("a verdict").message;
        assert_eq!(message.matches("detach-on-delete").count(), 1, "{message}");
        let event = finish.event.expect("an event");
        assert!(
            format!("{event:?}").contains("detach-on-delete"),
            "{event:?}"
        );
    }
}

#[test]
fn items_3_to_6_look_then_delete_and_never_give_up() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 22] = [
        ("1.9 3", "other subscription", |_, o| o.credential = other_credential(), "False/Warning/SubscriptionMismatch, slow: DeleteActionError"),
        ("1.9 4", "no credential", |_, o| o.credential = Some(Err(fatal())), "False/Warning/LocationRequired, slow: DeleteActionError"),
        ("1.9 3", "not looked at", |_, _| {}, "Get"),
        ("1.9 3", "no GET for this type", |v, _| v.verbs.get = false, "Delete"),
        ("1.9 3", "gone; 6: whatever became of the owner", |_, o| o.resource = missing(), "RemoveFinalizer"),
        ("1.9 3", "not to be seen, but a killed process may have sent the PUT", |v, o| (v.put_may_run, o.resource) = (true, missing()), "False/Info/Deleting, poll"),
        ("1.9 3", "there", |_, o| o.resource = found(Provisioning::Settled), "Delete"),
        ("1.9 3", "there, its state is Failed", |_, o| o.resource = broken(), "Delete"),
        ("1.9 3", "the GET is refused", |_, o| o.resource = Some(Err(conflict())), "Delete"),
        ("1.9 3", "the GET is refused, but a PUT may have arrived", |v, o| (v.put_may_run, o.resource) = (true, Some(Err(conflict()))), "False/Warning/Conflict, slow: DeleteActionError"),
        ("1.9 3", "Azure works on it, which ASO runs into", |_, o| o.resource = updating(), "BeginHold"),
        ("1.9 3", "still so", |v, o| (o.resource, v.hold) = (updating(), held(4)), "False/Info/Deleting, poll"),
        ("1.9 3", "for too long", |v, o| (o.resource, v.hold) = (updating(), held(5)), "Delete"),
        ("1.9 3", "an operation that could not be followed for too long, there", |v, o| (o.poll, o.resource, v.hold) = (Some(Poll::Unreported(None)), found(Provisioning::Settled), held(5)), "Delete"),
        ("1.9 3", "the last operation failed a moment ago", |v, o| (o.resource, v.pause) = (found(Provisioning::Settled), seconds(8)), "unsaid, after 8 s"),
        ("1.9 3", "it failed, and the resource is gone all the same", |v, o| (o.resource, v.pause) = (missing(), seconds(8)), "RemoveFinalizer"),
        ("1.9 3", "deleted at once", |_, o| o.delete = Some(Write::Completed), "RemoveFinalizer"),
        ("1.9 3", "runs, with Retry-After", |v, o| (v.operation, o.delete) = (DELETE, Some(Write::Running(seconds(9)))), "False/Info/Deleting, after 9 s"),
        ("1.9 5", "runs", |v, o| (v.operation, o.delete) = (DELETE, Some(Write::Running(None))), "False/Info/Deleting, poll"),
        ("1.9 4", "refused, may pass", |_, o| o.delete = Some(Write::Failed(conflict())), "False/Warning/Conflict, slow: DeleteActionError"),
        ("1.9 4", "refused for good: a warning all the same", |_, o| o.delete = Some(Write::Failed(fatal())), "False/Warning/LocationRequired, slow: DeleteActionError"),
        ("1.9 4", "the operation ended badly", |_, o| o.poll = Some(Poll::Failed(fatal())), "False/Warning/LocationRequired, slow: DeleteActionError"),
    ];
    check(&rows, &deleting(), &signed_in());
}

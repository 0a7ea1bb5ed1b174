//! Long-running PUTs: ASO behaviour §1.3 steps 14 and 15, and §1.4.

use super::*;

const PUT: StoredOperation = StoredOperation::Put;

/// No row sends a second PUT while one runs.
#[test]
fn step_14_one_look_per_pass() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 20] = [
        ("1.3 14", "not looked at", |_, _| {}, "Poll"),
        ("1.3 14", "the spec has changed meanwhile", |v, _| v.generation = 3, "Poll"),
        ("1.3 14", "under skip", |v, _| v.policy = Policy::Skip, "Poll"),
        ("1.3 14", "runs, with Retry-After", |_, o| o.poll = Some(Poll::Running(seconds(7))), "False/Info/Reconciling, after 7 s"),
        ("1.3 14", "runs", |_, o| o.poll = Some(Poll::Running(None)), "False/Info/Reconciling, poll"),
        ("1.3 14", "runs, and the spec has changed", |v, o| (v.generation, o.poll) = (3, Some(Poll::Running(None))), "False/Info/Reconciling, poll"),
        ("1.3 14", "the look failed: the operation may well run on", |_, o| o.poll = Some(Poll::Unknown(conflict())), "False/Warning/Conflict, slow"),
        ("1.3 14", "only the resource tells", |_, o| o.poll = Some(Poll::Unreported(None)), "BeginHold"),
        ("1.3 14", "still so", |v, o| (o.poll, v.hold) = (Some(Poll::Unreported(seconds(900))), held(59)), "False/Info/Reconciling, after 60 s"),
        ("1.3 14", "for too long", |v, o| (o.poll, v.hold) = (Some(Poll::Unreported(None)), held(60)), "ForgetOperation"),
        ("1.3 14", "nobody can be asked", |v, o| (o.poll, v.hold) = (Some(Poll::Doubtful(conflict())), held(59)), "False/Warning/Conflict, slow"),
        ("1.3 14", "for too long", |v, o| (o.poll, v.hold) = (Some(Poll::Doubtful(conflict())), held(60)), "ForgetOperation"),
        ("1.3 14", "runs, as Azure says, whatever held before", |v, o| (o.poll, v.hold) = (Some(Poll::Running(None)), held(500)), "False/Info/Reconciling, poll"),
        ("1.3 14", "ended badly", |_, o| o.poll = Some(Poll::Failed(conflict())), "ForgetOperation"),
        ("1.3 14", "Azure has forgotten it", |_, o| o.poll = Some(Poll::Lost), "ForgetOperation"),
        ("1.3 14", "ended well", |_, o| o.poll = Some(Poll::Succeeded), "ForgetOperation"),
        ("1.3 10", "ended well, the owner is to be checked", |v, o| { o.poll = Some(Poll::Succeeded); v.steps.owner_check = true; }, "CheckOwner"),
        ("1.3 10", "ended well, the owner blocks: the operation is kept", |v, o| { (o.poll, o.owner_check) = (Some(Poll::Succeeded), block()); v.steps.owner_check = true; }, "False/Warning/ReconciliationBlocked, slow"),
        ("1.4", "state that cannot be read", |v, _| v.operation = StoredOperation::Unreadable, "ForgetOperation"),
        ("1.4", "a DELETE of an object that is not being deleted", |v, _| v.operation = StoredOperation::Delete, "ForgetOperation"),
    ];
    let running = ResourceView {
        operation: PUT,
        ..claimed()
    };
    check(&rows, &running, &signed_in());
}

#[test]
fn step_14_after_the_operation() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 11] = [
        ("1.3 14", "ended badly, may pass", |_, o| o.poll = Some(Poll::Failed(conflict())), "False/Warning/Conflict, slow: CreateOrUpdateActionError"),
        ("1.3 14", "ended badly, only a change helps", |_, o| o.poll = Some(Poll::Failed(fatal())), "False/Error/LocationRequired, never: CreateOrUpdateActionError"),
        ("1.3 14", "forgotten by Azure: only the resource can tell", |_, o| (o.poll, o.resource) = (Some(Poll::Lost), None), "Get"),
        ("1.4", "forgotten by Azure, which still works on the resource", |_, o| (o.poll, o.resource) = (Some(Poll::Lost), updating()), "BeginHold"),
        ("1.4", "forgotten by Azure, which has worked on the resource for a while", |v, o| (o.poll, o.resource, v.hold) = (Some(Poll::Lost), updating(), held(59)), "False/Info/Reconciling, poll"),
        ("1.4", "could not be followed for too long, and nothing came of it", |v, o| (o.poll, o.resource, v.hold) = (Some(Poll::Unreported(None)), missing(), held(60)), "Put: Drifted"),
        ("1.4", "could not be followed for too long, and Azure works on it ever since", |v, o| (o.poll, o.resource, v.hold) = (Some(Poll::Unreported(None)), updating(), held(60)), "Put: BeginCreateOrUpdate"),
        ("1.3 13", "the last one failed a moment ago", |v, o| (o.resource, v.pause) = (missing(), seconds(8)), "unsaid, after 8 s"),
        ("1.4", "forgotten by Azure, and nothing came of it", |_, o| (o.poll, o.resource) = (Some(Poll::Lost), missing()), "Put: Drifted"),
        ("1.3 14g", "the spec has changed meanwhile", |v, o| (v.put_generation, o.poll) = (Some(1), Some(Poll::Succeeded)), "False/Info/Reconciling, now"),
        ("1.3 15", "ended well", |_, o| (o.poll, o.resource) = (Some(Poll::Succeeded), None), "Get"),
    ];
    check(&rows, &claimed(), &equal());
}

#[test]
fn step_15_reads_back_and_remembers() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 8] = [
        ("1.3 15", "not read", |_, o| o.resource = None, "Get"),
        ("1.3 15", "not there after a good PUT", |_, o| o.resource = missing(), "False/Warning/AzureResourceNotFound, slow"),
        ("1.3 15", "the GET is refused", |_, o| o.resource = Some(Err(conflict())), "False/Warning/Conflict, slow"),
        ("1.3 15", "there", |_, _| {}, "Record"),
        ("1.3 15", "there, the body is not built in this pass", |_, o| o.payload = None, "BuildPayload"),
        ("1.3 14g", "an input has changed meanwhile", |_, o| o.recorded = Some(Recorded::Outdated), "False/Info/Reconciling, now"),
        ("1.3 15", "remembered", |_, o| o.recorded = Some(Recorded::Current), "True//Succeeded, sync"),
        ("1.3 15", "taken, but its state is Failed", |_, o| (o.recorded, o.resource) = (Some(Recorded::Current), broken()), "False/Warning/Failed, very slow"),
    ];
    let put = Observed {
        put: Some(Write::Completed),
        ..equal()
    };
    let operation = Observed {
        poll: Some(Poll::Succeeded),
        ..equal()
    };
    for written in [put, operation] {
        check(&rows, &claimed(), &written);
    }
}

//! What annotations of ours ask for: a pause, whose an existing resource is, and what must not be deleted.

use super::*;

const NEVER: Adopt = Adopt::Never;
const IF_EQUAL: Adopt = Adopt::IfEqual;

fn paused(left: Option<Duration>) -> Option<Paused> {
    Some(Paused {
        left,
        message: "for now".to_owned(),
    })
}

/// Whatever the object needs: nothing is asked of Azure, and a deletion waits too.
#[test]
fn a_pause_and_a_mistake_come_before_everything() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 9] = [
        ("paused", "without an end", |v, _| v.paused = paused(None), "paused: for now, unsaid, never"),
        ("paused", "for a while", |v, _| v.paused = paused(seconds(60)), "paused: for now, unsaid, after 60 s"),
        ("paused", "for years: looked at once a day", |v, _| v.paused = paused(seconds(100_000_000)), "paused: for now, unsaid, after 86400 s"),
        ("paused", "while a PUT runs", |v, _| (v.operation, v.paused) = (StoredOperation::Put, paused(None)), "paused: for now, unsaid, never"),
        ("paused", "not claimed", |v, _| (v.claimed, v.paused) = (false, paused(None)), "paused: for now, unsaid, never"),
        ("paused", "deleting", |v, _| (v.deleting, v.paused) = (true, paused(None)), "paused: for now, unsaid, never"),
        ("paused", "of another operator", |v, _| (v.manager, v.paused) = (Manager::Other("x".into()), paused(None)), "unsaid, never: Overlap"),
        ("mistake", "a word that means nothing", |v, _| v.mistakes = Some("what?".into()), "False/Error/InvalidAnnotation, never"),
        ("mistake", "deleting", |v, _| (v.deleting, v.mistakes) = (true, Some("what?".into())), "False/Error/InvalidAnnotation, never"),
    ];
    check(&rows, &claimed(), &nothing());
}

/// Notes that nobody vouches for say that the resource is the object's own, where `adopt` would ask.
#[test]
fn what_nobody_vouches_for_waits_where_something_would_be_sent() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 9] = [
        ("unvouched", "would write", |_, _| {}, "False/Warning/AdoptionRefused, very slow"),
        ("unvouched", "skip reads", |v, o| (v.policy, o.resource) = (Policy::Skip, None), "Get"),
        ("unvouched", "observe reads", |v, o| (v.observe, o.resource) = (true, None), "Get"),
        ("unvouched", "paused", |v, _| v.paused = paused(None), "paused: for now, unsaid, never"),
        ("unvouched", "deleting", |v, _| v.deleting = true, "False/Warning/AdoptionRefused, very slow"),
        ("unvouched", "deleting, detached", |v, _| (v.deleting, v.policy) = (true, Policy::DetachOnDelete), "RemoveFinalizer"),
        ("unvouched", "deleting, observed only", |v, _| (v.deleting, v.observe) = (true, true), "RemoveFinalizer"),
        ("unvouched", "deleting, without an id", |v, _| (v.deleting, v.has_resource_id) = (true, false), "RemoveFinalizer"),
        ("unvouched", "deleting, of another operator", |v, _| (v.deleting, v.manager) = (true, Manager::Other("x".into())), "unsaid, never: Overlap"),
    ];
    let view = ResourceView {
        adopt: NEVER,
        unvouched: true,
        ..claimed()
    };
    check(&rows, &view, &equal());
}

/// No row sends a PUT before it is noted that the resource is the object's.
#[test]
fn whose_an_existing_resource_is() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 18] = [
        ("always", "differs", |_, o| o.comparison = differs(), "Note adopted: Adopted"),
        ("always", "equal", |_, _| {}, "Note adopted: Adopted"),
        ("always", "refused before", |v, _| v.adoption = Some(Adoption::Refused), "Note adopted: Adopted"),
        ("always", "taken over before, differs", |v, o| (v.adoption, o.comparison) = (Some(Adoption::Adopted), differs()), "Put: BeginCreateOrUpdate"),
        ("never", "equal", |v, _| v.adopt = NEVER, "Note refused"),
        ("never", "noted", |v, _| (v.adopt, v.adoption) = (NEVER, Some(Adoption::Refused)), "False/Warning/AdoptionRefused, very slow"),
        ("never", "the object's own", |v, o| (v.adopt, v.adoption, o.comparison) = (NEVER, Some(Adoption::Made), differs()), "Put: BeginCreateOrUpdate"),
        ("never", "taken over before", |v, o| (v.adopt, v.adoption, o.comparison) = (NEVER, Some(Adoption::Adopted), differs()), "Put: BeginCreateOrUpdate"),
        ("never", "what has to come before a PUT is not asked for", |v, o| { (v.adopt, v.adoption) = (NEVER, Some(Adoption::Refused)); (v.steps.pre_check, o.pre_check) = (true, first()); }, "False/Warning/AdoptionRefused, very slow"),
        ("if-equal", "no body yet", |v, o| (v.adopt, o.payload) = (IF_EQUAL, None), "BuildPayload"),
        ("if-equal", "not compared", |v, o| (v.adopt, o.comparison) = (IF_EQUAL, None), "Compare"),
        ("if-equal", "equal", |v, _| v.adopt = IF_EQUAL, "Note adopted: Adopted"),
        ("if-equal", "equal by now", |v, _| (v.adopt, v.adoption) = (IF_EQUAL, Some(Adoption::Refused)), "Note adopted: Adopted"),
        ("if-equal", "differs", |v, o| (v.adopt, o.comparison) = (IF_EQUAL, differs()), "Note refused"),
        ("if-equal", "differs, noted", |v, o| (v.adopt, v.adoption, o.comparison) = (IF_EQUAL, Some(Adoption::Refused), differs()), "False/Warning/AdoptionRefused, very slow"),
        ("if-equal", "Azure works on it", |v, o| (v.adopt, o.resource) = (IF_EQUAL, updating()), "False/Info/Reconciling, poll"),
        ("observe", "nothing is written, so nothing is taken over", |v, _| (v.adopt, v.observe) = (NEVER, true), "True//Succeeded, sync"),
        ("skip", "nothing is written, so nothing is taken over", |v, _| (v.adopt, v.policy) = (NEVER, Policy::Skip), "True//Succeeded, sync"),
    ];
    let new = ResourceView {
        adoption: None,
        put_generation: None,
        ..claimed()
    };
    check(&rows, &new, &equal());
}

/// Where an existing resource may be refused, it is noted first that the one that will be there is the object's own.
#[test]
fn what_the_object_makes_is_its_own() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 6] = [
        ("always", "no write for what is never asked", |_, _| {}, "Put: BeginCreateOrUpdate"),
        ("always", "refused before, and gone since", |v, _| v.adoption = Some(Adoption::Refused), "Note made"),
        ("never", "not noted", |v, _| v.adopt = NEVER, "Note made"),
        ("never", "noted", |v, _| (v.adopt, v.adoption) = (NEVER, Some(Adoption::Made)), "Put: BeginCreateOrUpdate"),
        ("if-equal", "not noted", |v, _| v.adopt = IF_EQUAL, "Note made"),
        ("if-equal", "refused before, and gone since", |v, _| (v.adopt, v.adoption) = (IF_EQUAL, Some(Adoption::Refused)), "Note made"),
    ];
    let new = ResourceView {
        adoption: None,
        put_generation: None,
        ..claimed()
    };
    let absent = Observed {
        resource: missing(),
        ..equal()
    };
    check(&rows, &new, &absent);
}

#[test]
fn what_is_not_the_objects_is_not_deleted() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 7] = [
        ("adopt", "refused", |v, _| v.adoption = Some(Adoption::Refused), "RemoveFinalizer"),
        ("adopt", "refused, and allowed since", |v, _| (v.adopt, v.adoption) = (Adopt::Always, Some(Adoption::Refused)), "RemoveFinalizer"),
        ("adopt", "never, and not asked yet", |v, _| (v.adopt, v.adoption) = (NEVER, None), "RemoveFinalizer"),
        ("adopt", "if-equal, and not asked yet", |v, _| (v.adopt, v.adoption) = (IF_EQUAL, None), "RemoveFinalizer"),
        ("adopt", "always, and not asked yet", |v, _| v.adoption = None, "Delete"),
        ("adopt", "taken over, and forbidden since", |v, _| (v.adopt, v.adoption) = (NEVER, Some(Adoption::Adopted)), "Delete"),
        ("adopt", "the object's own", |v, _| v.adopt = NEVER, "Delete"),
    ];
    check(&rows, &deleting(), &equal());
}

/// No row sends a DELETE that a protected resource would not survive.
#[test]
fn what_is_protected_is_not_deleted() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 12] = [
        ("policy", "the namespace's is read from the server first", |_, o| o.namespace_is_live = false, "ReadNamespace"),
        ("policy", "which allows no DELETE any more", |v, _| v.policy = Policy::DetachOnDelete, "RemoveFinalizer"),
        ("protect", "the object", |v, _| v.protected = true, "False/Warning/Protected, slow"),
        ("protect", "the object, and it is gone in Azure", |v, o| (v.protected, o.resource) = (true, missing()), "RemoveFinalizer"),
        ("protect", "the object, under detach-on-delete", |v, _| (v.protected, v.policy) = (true, Policy::DetachOnDelete), "RemoveFinalizer"),
        ("protect", "one below, not looked for", |_, o| o.protection = None, "LookForProtected"),
        ("protect", "one below", |_, o| o.protection = Some(Protection::Of("x".into())), "False/Warning/Protected, slow"),
        ("protect", "one below may be, that is not known yet", |_, o| o.protection = Some(Protection::Unknown("x".into())), "False/Info/Deleting, poll"),
        ("items", "the parent's spec names it", |_, o| o.named_by = Some(NamedBy::Object("x".into(), "y".into())), "RemoveFinalizer"),
        ("items", "it may, that is not known yet", |_, o| o.named_by = Some(NamedBy::Unknown("x".into())), "False/Info/Deleting, poll"),
        ("items", "and it is protected", |v, o| (v.protected, o.named_by) = (true, Some(NamedBy::Object("x".into(), "y".into()))), "False/Warning/Protected, slow"),
        ("protect", "nothing", |_, _| {}, "Delete"),
    ];
    check(&rows, &deleting(), &equal());
}

fn deleting() -> ResourceView {
    ResourceView {
        deleting: true,
        ..claimed()
    }
}

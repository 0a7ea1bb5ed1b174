//! Whose resource it is, before anything is asked of Azure.

use super::*;

fn moved() -> Option<Result<Identity, Failure>> {
    Some(Ok(Identity::Moved))
}

fn held() -> Option<Holder> {
    Some(Holder::Other("Store a/b".to_owned()))
}

#[test]
fn a_recorded_id_is_compared_with_the_spec_and_claimed_anew_where_azure_never_had_it() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 8] = [
        ("1.3 11", "not compared", |_, o| o.identity = None, "CheckIdentity"),
        ("1.3 11", "before the GET of skip, too", |v, o| (v.policy, o.identity) = (Policy::Skip, None), "CheckIdentity"),
        ("1.3 11", "of another place", |_, o| o.identity = Some(Err(fatal())), "False/Error/LocationRequired, never"),
        ("1.3 4", "corrected", |_, o| o.identity = moved(), "ReadOwner"),
        ("1.3 4", "corrected, owner ready", |_, o| (o.identity, o.owner) = (moved(), Some(OwnerState::Ready)), "ResolveInputs"),
        ("1.3 4", "corrected, all there", |_, o| { (o.identity, o.owner) = (moved(), Some(OwnerState::Ready)); o.inputs = Some(Ok(())); }, "Claim"),
        ("1.9", "deleted, not compared", |v, o| (v.deleting, o.identity) = (true, None), "CheckIdentity"),
        ("1.9", "deleted after a correction: Azure never had it", |v, o| (v.deleting, o.identity) = (true, moved()), "RemoveFinalizer"),
    ];
    check(&rows, &claimed(), &signed_in());
}

/// Somebody else may have written the id, and the owner is gone.
#[test]
fn to_an_id_that_is_not_proven_nothing_is_sent() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 8] = [
        ("1.3", "differs", |_, o| o.comparison = differs(), "False/Warning/WaitingForOwner, fast"),
        ("1.3", "not looked at", |_, o| o.resource = None, "False/Warning/WaitingForOwner, fast"),
        ("1.3", "skip reads", |v, o| (v.policy, o.resource) = (Policy::Skip, None), "Get"),
        ("1.3", "observe reads", |v, o| (v.observe, o.resource) = (true, None), "Get"),
        ("1.9", "deleted, not looked at", |v, o| (v.deleting, o.resource) = (true, None), "Get"),
        ("1.9", "deleted, there", |v, _| v.deleting = true, "False/Warning/WaitingForOwner, fast: DeleteActionError"),
        ("1.9", "deleted, not there", |v, o| (v.deleting, o.resource) = (true, missing()), "RemoveFinalizer"),
        ("1.9", "deleted, kept", |v, _| (v.deleting, v.policy) = (true, Policy::DetachOnDelete), "RemoveFinalizer"),
    ];
    let observed = Observed {
        identity: Some(Ok(Identity::Unproven)),
        ..equal()
    };
    check(&rows, &claimed(), &observed);
}

/// Another operator may be writing it: only what the user asks for is sent.
#[test]
fn drift_of_a_resource_that_two_operators_may_write_is_left() {
    let disputed = || Some(Holder::Disputed("Store a/b".to_owned()));
    let observed = Observed {
        holder: disputed(),
        ..equal()
    };
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 5] = [
        ("disputed", "equal", |_, _| {}, "True//Succeeded, sync"),
        ("disputed", "drift", |_, o| o.comparison = differs(), "False/Warning/Drifted, very slow: Drifted"),
        ("disputed", "an edit", |_, o| o.comparison = Some(Comparison::Edited(Differences::default())), "Put: BeginCreateOrUpdate"),
        ("disputed", "never sent", |v, o| (v.put_generation, o.comparison) = (None, differs()), "Put: BeginCreateOrUpdate"),
        ("disputed", "deleted", |v, _| v.deleting = true, "Delete"),
    ];
    check(&rows, &claimed(), &observed);
}

fn unknown() -> Option<Holder> {
    Some(Holder::Unknown("they cannot be listed".to_owned()))
}

#[test]
fn of_several_objects_for_one_id_one_writes() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 11] = [
        ("1.3", "not looked for", |_, o| o.holder = None, "FindHolder"),
        ("1.3", "skip reads only", |v, o| (v.policy, o.holder) = (Policy::Skip, None), "Get"),
        ("1.3", "not all objects are known", |_, o| o.holder = unknown(), "unsaid, after 1 s"),
        ("1.3", "not all objects are known, for long", |v, o| (v.looked_at_for, o.holder) = (Duration::from_secs(30), unknown()), "False/Info/Reconciling, fast"),
        ("1.9", "deleted, not all objects are known, for long", |v, o| (v.deleting, v.looked_at_for, o.holder) = (true, Duration::from_secs(30), unknown()), "False/Info/Deleting, fast"),
        ("1.3", "another one writes", |_, o| o.holder = held(), "Get"),
        ("1.3", "another one writes, not there yet", |_, o| (o.holder, o.resource) = (held(), missing()), "False/Warning/AzureResourceNotFound, slow"),
        ("1.3", "another one writes, there", |_, o| (o.holder, o.resource) = (held(), found(Provisioning::Settled)), "True//Succeeded, sync: HeldByAnotherObject"),
        ("1.9", "deleted, not looked for", |v, o| (v.deleting, o.holder) = (true, None), "FindHolder"),
        ("1.9", "deleted, another one writes", |v, o| (v.deleting, o.holder) = (true, held()), "RemoveFinalizer"),
        ("1.9", "deleted, another one that is deleted, too", |v, o| (v.deleting, o.holder) = (true, Some(Holder::Leaving("Store a/b".to_owned()))), "False/Info/Deleting, poll"),
    ];
    check(&rows, &claimed(), &signed_in());
}

#[test]
fn what_was_edited_is_sent_and_what_an_upgrade_builds_is_not() {
    let differences = || Differences {
        text: "tags.a: desired 1, Azure has 2".to_owned(),
        paths: Vec::new(),
    };
    let cases = [
        (Comparison::Same, false, "True//Succeeded, sync"),
        (Comparison::Unrecorded, false, "Record"),
        (Comparison::Rebuilt(differences()), false, "Record"),
        (
            Comparison::Edited(Differences::default()),
            false,
            "Put: BeginCreateOrUpdate",
        ),
        (
            Comparison::Edited(differences()),
            false,
            "Put: BeginCreateOrUpdate",
        ),
        (Comparison::Differs(differences()), false, "Put: Drifted"),
        (Comparison::Unrecorded, true, "True//Succeeded, sync"),
        (
            Comparison::Rebuilt(differences()),
            true,
            "True//Succeeded, sync",
        ),
        (
            Comparison::Edited(Differences::default()),
            true,
            "True//Succeeded, sync",
        ),
        (
            Comparison::Edited(differences()),
            true,
            "False/Warning/Drifted, very slow: Drifted",
        ),
        (
            Comparison::Differs(differences()),
            true,
            "False/Warning/Drifted, very slow: Drifted",
        ),
    ];
    for (comparison, observe, expected) in cases {
        let view = ResourceView {
            observe,
            ..claimed()
        };
        let observed = Observed {
            comparison: Some(comparison.clone()),
            ..equal()
        };
        assert_eq!(
            outcome(decide(&view, &observed)),
            expected,
            "{comparison:?} {observe}"
        );
    }
    let recorded = Observed {
        comparison: Some(Comparison::Rebuilt(differences())),
        recorded: Some(Recorded::Current),
        ..equal()
    };
    assert_eq!(
        outcome(decide(&claimed(), &recorded)),
        "True//Succeeded, sync"
    );
}

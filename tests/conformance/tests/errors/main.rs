//! What each row `[[errors]]` of a group makes of an error that Azure gives: the row is taken, and the object waits as its
//! user needs it.
//!
//! [`cases`] has errors as Azure words them, with the place where that can be read; a row without a case fails, and so does
//! a recorded error that no recording has. Rules are not matched here anew: a row is taken when another class in its place
//! changes the outcome.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

mod cases;

use std::collections::BTreeSet;

use armature_conformance::{data, run};
use armature_generated::KINDS;
use armature_runtime::arm::ArmError;
use armature_runtime::azure::CloudError;
use armature_runtime::kind::{ErrorClass, ErrorRule, KindInfo};
use armature_runtime::reconcile::backoff::{Requeue, RetryClass};
use armature_runtime::reconcile::classify::classify;

use cases::{CASES, Case, Seen};

/// What becomes of the object, as the queue sees it.
fn requeue(rules: &[ErrorRule], error: &CloudError) -> Requeue {
    classify(rules, &ArmError(error.clone()), None).requeue()
}

/// The row of the kind that decides.
fn row_of(kind: &KindInfo, error: &CloudError) -> Option<usize> {
    kind.errors.iter().position(|row| {
        let with = |class| requeue(&[ErrorRule { class, ..*row }], error);
        with(ErrorClass::Fatal) != with(ErrorClass::RetryFast)
    })
}

/// What a class comes to for whoever waits.
fn expected(class: ErrorClass) -> Requeue {
    match class {
        ErrorClass::Fatal => Requeue::Never,
        ErrorClass::RetryFast => Requeue::Backoff(RetryClass::Fast),
        ErrorClass::RetrySlow => Requeue::Backoff(RetryClass::Slow),
        ErrorClass::RetryVerySlow => Requeue::Backoff(RetryClass::VerySlow),
    }
}

fn kinds_of(case: &Case) -> Vec<&'static KindInfo> {
    let of_group = KINDS
        .iter()
        .filter(|kind| run::short(kind.group) == case.group);
    let named = of_group.filter(|kind| case.kinds.is_empty() || case.kinds.contains(&kind.kind));
    let kinds: Vec<&'static KindInfo> = named.copied().collect();
    assert!(
        !kinds.is_empty() && kinds.len() >= case.kinds.len(),
        "{}: one of {:?} is no kind",
        case.group,
        case.kinds
    );
    kinds
}

#[test]
fn every_row_has_an_error_of_azure_that_it_decides() {
    let mut decided = BTreeSet::new();
    let mut wrong = Vec::new();
    for case in CASES {
        let error = case.error();
        for kind in kinds_of(case) {
            let seen = case.seen.place();
            let what = format!("{} {}: {} of {seen}", case.group, kind.kind, case.code);
            match row_of(kind, &error) {
                Some(row) => drop(decided.insert((kind.group, kind.kind, row))),
                None => wrong.push(format!("{what}: no row of the kind is about it")),
            }
            let found = requeue(kind.errors, &error);
            if found != expected(case.class) {
                wrong.push(format!("{what}: {found:?}, and not as {:?}", case.class));
            }
        }
    }
    for kind in KINDS {
        for (row, rule) in kind.errors.iter().enumerate() {
            if !decided.contains(&(kind.group, kind.kind, row)) {
                wrong.push(format!(
                    "{} {}: its row of {:?} {:?} in specs/{0}/group.toml has no case in \
                     tests/conformance/tests/errors/cases.rs",
                    run::short(kind.group),
                    kind.kind,
                    rule.code.unwrap_or_default(),
                    rule.message.unwrap_or_default(),
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A row that decides nothing else than the rules for all kinds would be noise in the file. Where Azure gives the error
/// with a status that the case does not have, the case says so.
#[test]
fn no_row_says_what_holds_anyway() {
    for case in CASES {
        let general = requeue(&[], &case.error());
        let differs = general != expected(case.class);
        assert_eq!(
            differs, !case.holds_anyway,
            "{} {}: without its row it is {general:?}",
            case.group, case.code
        );
    }
}

#[test]
fn recorded_errors_are_in_their_recordings() {
    let Some(folder) = data::folder() else {
        println!("skipped: no recordings, set ARMATURE_AZURE_DATA to their folder");
        return;
    };
    let recordings = data::recordings(&folder).unwrap();
    for case in CASES {
        let Seen::Recorded(name) = case.seen else {
            continue;
        };
        let recording = recordings.iter().find(|recording| recording.name == name);
        let recording = recording.unwrap_or_else(|| panic!("there is no recording {name}"));
        let is_there = recording.exchanges.iter().any(|exchange| {
            let error = &exchange.response["error"];
            let message = error["message"].as_str().unwrap_or_default();
            Some(exchange.status) == case.status
                && error["code"] == case.code
                && message.contains(case.message)
        });
        assert!(is_there, "{name} has no {} of that message", case.code);
    }
}

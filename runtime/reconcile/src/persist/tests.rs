//! The table of the second decision.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::action::normal;
use crate::annotations::Directives;
use crate::backoff::RetryClass;
use crate::condition::Verdict;
use crate::outcome::Failure;
use crate::policy::Policy;

const NOW: &str = "2030-01-01T00:00:00Z";
const SOON: Requeue = Requeue::Backoff(RetryClass::Poll);

/// One row: an object of generation 2, which the pass worked from.
struct Row {
    stored: Value,
    vouches: bool,
    is_deleting: bool,
    has_begun: bool,
    owed: Owed,
    claim: Option<Foretold>,
    finish: Finish,
    /// Seconds since the object was created, while it is young.
    age: Option<u64>,
    of_owner: bool,
}

impl Row {
    fn of(finish: Finish) -> Self {
        Self {
            stored: Value::Null,
            vouches: false,
            is_deleting: false,
            has_begun: false,
            owed: Owed::default(),
            claim: None,
            finish,
            age: None,
            of_owner: false,
        }
    }

    fn persist(&self) -> Persist {
        let stored = Stored {
            status: &self.stored,
            vouches: self.vouches,
        };
        let known = Known {
            status: &self.stored,
            generation: 2,
            is_deleting: self.is_deleting,
            has_begun: self.has_begun,
            owed: self.owed,
            claim: self.claim,
        };
        let silence = Silence::LONGEST;
        let grace = Grace {
            silence,
            youth: self
                .age
                .map(|age| Youth::of(Duration::from_secs(age), silence.created)),
            of_owner: self.of_owner,
        };
        let directives = Directives::of_policy(Policy::Manage);
        let words = Words {
            directives: Some(&directives),
            now: NOW,
        };
        persist(&stored, &known, &self.finish, &words, &grace)
    }

    /// What is written, in words.
    fn shown(&self) -> String {
        match self.persist() {
            Persist::Nothing => "nothing".to_owned(),
            Persist::Defer(_) => "defer".to_owned(),
            Persist::Write {
                metadata,
                event,
                status,
            } => {
                let metadata = metadata.map(|metadata| {
                    let lost = if metadata.must_not_be_lost { "!" } else { "" };
                    match metadata.claim {
                        Claim::Keep => format!("notes{lost}"),
                        claim => format!("notes{lost} {claim:?}"),
                    }
                });
                let event = event.map(|event| event.reason);
                let ready = status.map(|status| {
                    let ready = condition::ready(&status["conditions"]);
                    let (_, reason) = ready.unwrap_or_default();
                    reason.to_owned()
                });
                let all = [metadata, event, ready].into_iter().flatten();
                all.collect::<Vec<_>>().join(", ")
            }
        }
    }
}

fn ready() -> Finish {
    Finish::with(Verdict::succeeded(), Requeue::Sync)
}

fn reconciling() -> Finish {
    Finish::with(Verdict::progress(reason::RECONCILING, "waiting"), SOON)
}

fn failed() -> Finish {
    Finish::failed(&Failure::warning("SkuNotAvailable", RetryClass::Slow, "no"))
}

fn owner() -> Finish {
    let retry = RetryClass::Fast;
    Finish::failed(&Failure::warning(
        reason::WAITING_FOR_OWNER,
        retry,
        "not there",
    ))
}

/// The status after a pass of this generation that ended so.
fn status(verdict: &Verdict, generation: i64) -> Value {
    says_verdict(&json!({"location": "west"}), verdict, generation, NOW)
}

fn owed(set: impl Fn(&mut Owed)) -> Owed {
    let mut owed = Owed::default();
    set(&mut owed);
    owed
}

fn foretold(generation: i64, holds: bool) -> Option<Foretold> {
    Some(Foretold {
        generation: Some(generation),
        holds,
    })
}

#[test]
fn what_an_object_that_said_nothing_says() {
    let rows = [
        (Row::of(ready()), "Succeeded"),
        (Row::of(reconciling()), "Reconciling"),
        (Row::of(failed()), "SkuNotAvailable"),
        (
            Row {
                age: Some(1),
                ..Row::of(reconciling())
            },
            "defer",
        ),
        (
            Row {
                age: Some(1),
                ..Row::of(owner())
            },
            "defer",
        ),
        (
            Row {
                age: Some(5),
                ..Row::of(owner())
            },
            "WaitingForOwner",
        ),
        (
            Row {
                age: Some(1),
                ..Row::of(failed())
            },
            "SkuNotAvailable",
        ),
        (
            Row {
                age: Some(1),
                ..Row::of(ready())
            },
            "Succeeded",
        ),
        (
            Row {
                age: Some(1),
                ..Row::of(owner().and(normal("E", "")))
            },
            "E, WaitingForOwner",
        ),
        (Row::of(Finish::silent()), "nothing"),
        (Row::of(Finish::silent().and(normal("E", ""))), "E"),
        (Row::of(Finish::paused("p", Requeue::Never)), "Paused"),
        (
            Row {
                owed: owed(|owed| owed.owner = true),
                ..Row::of(failed())
            },
            "notes, SkuNotAvailable",
        ),
        // The claim says it, too, and comes soon.
        (
            Row {
                owed: owed(|owed| owed.owner = true),
                of_owner: true,
                ..Row::of(owner())
            },
            "WaitingForOwner",
        ),
    ];
    check(rows);
}

#[test]
fn what_is_said_already_is_not_written_again() {
    let said = status(&Verdict::succeeded(), 2);
    let of = |finish| Row {
        stored: said.clone(),
        ..Row::of(finish)
    };
    let waiting = status(
        &Verdict::from(&Failure::warning(
            reason::SECRET_NOT_FOUND,
            RetryClass::Fast,
            "",
        )),
        2,
    );
    let rows = [
        (of(ready()), "nothing"),
        (of(Finish::silent()), "nothing"),
        (of(failed()), "SkuNotAvailable"),
        (
            Row {
                owed: owed(|owed| owed.others = true),
                ..of(ready())
            },
            "notes",
        ),
        (
            Row {
                owed: owed(|owed| owed.end = true),
                ..of(ready())
            },
            "notes",
        ),
        // That Azure works on an object that is ready stands beside `Ready`, at once.
        (
            Row {
                has_begun: true,
                ..of(reconciling())
            },
            "Succeeded",
        ),
        (
            Row {
                stored: status(&Verdict::succeeded(), 1),
                has_begun: true,
                ..Row::of(reconciling())
            },
            "defer",
        ),
        (
            Row {
                stored: waiting.clone(),
                has_begun: true,
                ..Row::of(reconciling())
            },
            "defer",
        ),
        (
            Row {
                stored: waiting,
                ..Row::of(reconciling())
            },
            "Reconciling",
        ),
    ];
    check(rows);
}

#[test]
fn what_azure_does_or_did_is_never_lost_and_its_end_never_silent() {
    let deferred = owed(|owed| owed.operation = true);
    let ended = owed(|owed| (owed.operation, owed.end) = (true, true));
    let rows = [
        (
            Row {
                owed: deferred,
                age: Some(1),
                ..Row::of(reconciling())
            },
            "defer",
        ),
        (
            Row {
                owed: deferred,
                ..Row::of(reconciling())
            },
            "notes!, Reconciling",
        ),
        (
            Row {
                owed: ended,
                age: Some(1),
                ..Row::of(reconciling())
            },
            "notes!, Reconciling",
        ),
        (
            Row {
                owed: ended,
                ..Row::of(ready())
            },
            "notes!, Succeeded",
        ),
        (
            Row {
                is_deleting: true,
                age: Some(1),
                ..Row::of(Finish::with(Verdict::progress(reason::DELETING, ""), SOON))
            },
            "defer",
        ),
    ];
    check(rows);
}

#[test]
fn the_status_vouches_for_the_claim_where_it_came_true_and_nowhere_else() {
    let said = status(&Verdict::succeeded(), 2);
    let vouching = || Row {
        stored: said.clone(),
        vouches: true,
        claim: foretold(2, true),
        ..Row::of(ready())
    };
    let rows = [
        // It came true in this pass: `Ready` alone says so.
        (
            Row {
                claim: foretold(2, true),
                age: Some(1),
                ..Row::of(ready())
            },
            "Succeeded",
        ),
        (vouching(), "nothing"),
        // `Ready` goes, or is of another generation: then the record is needed.
        (
            Row {
                finish: failed(),
                ..vouching()
            },
            "notes Record, SkuNotAvailable",
        ),
        (
            Row {
                claim: foretold(1, true),
                ..vouching()
            },
            "notes Record",
        ),
        (
            Row {
                finish: Finish::silent(),
                ..vouching()
            },
            "nothing",
        ),
        // It did not come true, and `Ready` would say that it did.
        (
            Row {
                claim: foretold(2, false),
                ..Row::of(ready())
            },
            "notes Silence, Succeeded",
        ),
        (
            Row {
                claim: foretold(1, false),
                ..Row::of(ready())
            },
            "Succeeded",
        ),
        (
            Row {
                claim: foretold(2, false),
                ..Row::of(failed())
            },
            "SkuNotAvailable",
        ),
        // What only this pass knows is not left unsaid.
        (
            Row {
                claim: foretold(2, true),
                age: Some(1),
                ..Row::of(owner())
            },
            "notes Record, WaitingForOwner",
        ),
    ];
    check(rows);
}

#[test]
fn a_pause_keeps_what_was_said_and_serves_nothing() {
    let paused = Finish::paused("until later", Requeue::Never);
    let mut row = Row::of(paused);
    row.stored = status(&Verdict::succeeded(), 2);
    let Persist::Write {
        status: Some(status),
        ..
    } = row.persist()
    else {
        panic!("{}", row.shown());
    };
    assert_eq!(
        condition::ready(&status["conditions"]),
        Some(("True", "Succeeded"))
    );
    let names: Vec<&str> = status["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|item| item["type"].as_str())
        .collect();
    assert_eq!(names, ["Ready", "Paused"]);
    assert_eq!(status["location"], "west");
}

fn check<const N: usize>(rows: [(Row, &str); N]) {
    for (at, (row, expected)) in rows.into_iter().enumerate() {
        assert_eq!(row.shown(), expected, "row {at}: {:?}", row.finish);
    }
}

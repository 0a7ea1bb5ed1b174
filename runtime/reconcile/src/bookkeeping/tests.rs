//! Notes: read, changed, left to a later write, and written as a difference.

use armature_engine::compare::{Comparison, Desired, DigestKey};
use armature_shapes::resource::Kind;
use armature_shapes::testing::kinds::STORE;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};

use super::*;
use crate::remote::Verb;

const UID: &str = "uid-1";

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// A claimed object with these annotations.
fn object(annotations: &[(&str, &str)]) -> Object {
    let entries = annotations.iter();
    let entries = entries.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    Object {
        kind: Kind(&STORE),
        metadata: ObjectMeta {
            uid: Some(UID.to_owned()),
            annotations: Some(entries.collect()),
            finalizers: Some(vec![names::FINALIZER.to_owned()]),
            ..ObjectMeta::default()
        },
        spec: None,
        status: None,
    }
}

fn book(annotations: &[(&str, &str)]) -> Bookkeeping {
    Bookkeeping::of(&object(annotations), Entries::new(), Belief::Signed)
}

fn operation(is_reported: bool) -> Operation {
    Operation {
        verb: Verb::Write,
        is_reported,
        id: "put".to_owned(),
        token: "t".to_owned(),
    }
}

/// Records of one desired state: that of the claim, and the one after Azure answered as it foretold.
fn records(key: &DigestKey) -> (Record, Record) {
    let body = json!({"properties": {"capacity": 5}});
    let now = Desired::new(key.of(UID), 3, &body, &[], "v1");
    let comparison = Comparison::new(STORE.versions[0].spec, &body, &Value::Null);
    let claimed = Record::foretelling(&now, &comparison, key.of(UID));
    let confirmed = claimed.clone().come_true().unwrap();
    (claimed, confirmed)
}

fn differs(book: &Bookkeeping) -> Vec<(String, Option<String>)> {
    book.difference().into_iter().collect()
}

#[test]
fn only_what_changed_is_written() {
    type Change = fn(&mut Bookkeeping);
    type Stored = &'static [(&'static str, &'static str)];
    type Written = &'static [(&'static str, Option<&'static str>)];
    let stored: Stored = &[
        (names::OPERATOR_NAMESPACE, "ours"),
        (names::HELD_SINCE, "1970-01-01T00:00:01Z"),
        (names::ADOPTION, "made"),
        ("somebody/else", "x"),
    ];
    let running: Stored = &[
        (names::POLLER_RESUME_ID, "put"),
        (names::POLLER_RESUME_TOKEN, "t"),
    ];
    let rows: [(Stored, Change, Written); 11] = [
        (stored, |_| {}, &[]),
        (stored, |book| book.take_ownership("ours"), &[]),
        (
            &[],
            |book| book.take_ownership("ours"),
            &[(names::OPERATOR_NAMESPACE, Some("ours"))],
        ),
        (stored, |book| book.note_adoption(Adoption::Made), &[]),
        (
            stored,
            |book| book.note_adoption(Adoption::Refused),
            &[(names::ADOPTION, Some("refused"))],
        ),
        (
            stored,
            |book| book.begin_operation(&operation(true), at(9)),
            &[
                (names::HELD_SINCE, None),
                (names::POLLER_RESUME_ID, Some("put")),
                (names::POLLER_RESUME_TOKEN, Some("t")),
            ],
        ),
        (
            running,
            |book| book.begin_operation(&operation(false), at(9)),
            &[(names::HELD_SINCE, Some("1970-01-01T00:00:09Z"))],
        ),
        (
            running,
            Bookkeeping::forget_operation,
            &[
                (names::POLLER_RESUME_ID, None),
                (names::POLLER_RESUME_TOKEN, None),
            ],
        ),
        // What never came into the object need not be taken out of it.
        (
            &[],
            |book| {
                book.begin_operation(&operation(true), at(9));
                book.end_operation();
            },
            &[],
        ),
        (
            stored,
            |book| {
                book.forget_outdated(&Outdated {
                    hold: true,
                    ..Outdated::default()
                });
            },
            &[(names::HELD_SINCE, None)],
        ),
        (
            stored,
            |book| book.note_claimed_with(ClaimedWith::Namespace),
            &[(names::CLAIMED_WITH, Some("namespace"))],
        ),
    ];
    for (at, (stored, change, expected)) in rows.into_iter().enumerate() {
        let mut book = book(stored);
        change(&mut book);
        let mut expected: Vec<(String, Option<String>)> = expected
            .iter()
            .map(|(name, text)| ((*name).to_owned(), text.map(str::to_owned)))
            .collect();
        expected.sort();
        assert_eq!(differs(&book), expected, "row {at}");
    }
}

#[test]
fn a_difference_is_written_into_whatever_the_object_has_by_then() {
    let mut book = book(&[(names::ADOPTION, "made")]);
    book.begin_operation(&operation(true), at(0));
    let other = object(&[
        (names::ADOPTION, "adopted"),
        (names::HELD_SINCE, "1970-01-01T00:00:01Z"),
    ]);
    book.rebase(&other, Belief::Signed);
    assert_eq!(book.adoption(), Some(Adoption::Adopted));
    let names: Vec<String> = book.difference().into_keys().collect();
    assert_eq!(names, [names::POLLER_RESUME_ID, names::POLLER_RESUME_TOKEN]);
    book.is_written(&object(&[(names::POLLER_RESUME_ID, "put")]), Belief::Signed);
    assert_eq!(differs(&book), []);
}

#[test]
fn what_is_left_to_a_later_write_counts_for_every_pass_until_then() {
    let key = DigestKey::random();
    let (claimed, confirmed) = records(&key);
    let claimed = claimed.encode();
    let stored = object(&[(names::CLAIMED_SPEC, &claimed)]);
    let mut first = Bookkeeping::of(&stored, Entries::new(), Belief::Signed);
    first.begin_operation(&operation(true), at(0));
    first.note_record(&confirmed, 3);
    let left = first.defer();
    let second = Bookkeeping::of(&stored, left, Belief::Signed);
    assert!(second.is_deferred());
    assert_eq!(second.operation(), Some(("put", "t")));
    assert_eq!(second.put_generation(), Some(3));
    assert_eq!(second.record(key.of(UID)), Some(confirmed));
    // The claim's word is needed until the record is written, and goes with that write.
    assert!(second.claimed(key.of(UID)).is_some());
    let written = second.difference();
    assert_eq!(written.get(names::CLAIMED_SPEC), Some(&None));
    assert_eq!(written.len(), 5, "{written:?}");
}

#[test]
fn a_claim_that_came_true_is_the_record_until_another_is_written() {
    let key = DigestKey::random();
    let (claimed, confirmed) = records(&key);
    let text = claimed.encode();
    let mut book = book(&[(names::CLAIMED_SPEC, &text)]);
    assert_eq!(
        (book.record(key.of(UID)), book.put_generation()),
        (None, None)
    );
    book.begin_operation(&operation(true), at(0));
    book.defer();
    book.forget_operation();
    book.confirm_claim();
    assert_eq!(differs(&book), []);
    assert!(!book.is_deferred() && !book.owes_end());
    assert_eq!(book.record(key.of(UID)), Some(confirmed.clone()));
    assert_eq!(book.put_generation(), Some(3));
    book.record_claim(key.of(UID));
    let written = book.difference();
    assert_eq!(written[names::BASELINE], Some(confirmed.encode()));
    assert_eq!(
        written[names::LATEST_RECONCILED_GENERATION].as_deref(),
        Some("3")
    );
    assert_eq!(written[names::CLAIMED_SPEC], None);
    let other = DigestKey::random();
    book.unforetell(key.of(UID));
    assert!(!text.is_empty() && book.foretold_generation().is_none());
    book.unforetell(other.of(UID));
    assert!(!book.has_claimed(), "what cannot be read foretells nothing");
}

#[test]
fn a_claim_takes_away_what_was_noted_before_it() {
    let all: Vec<(&str, &str)> = claim::OF_A_CLAIM.iter().map(|name| (*name, "1")).collect();
    let mut book = book(&all);
    book.begin_claim(Some("spec".to_owned()));
    let written = book.difference();
    for name in claim::OF_A_CLAIM {
        // What children build on is no note: the claim's own patch takes it away.
        let expected = (name != names::CHILD_RESOURCE_ID_OVERRIDE).then_some(&None);
        assert_eq!(written.get(name), expected, "{name}");
    }
    assert_eq!(written[names::CLAIMED_SPEC].as_deref(), Some("spec"));
    assert_eq!(book.adoption(), None);
}

#[test]
fn each_failure_makes_the_next_operation_wait_twice_as_long_until_an_edit() {
    let mut book = book(&[]);
    let mut pauses = Vec::new();
    for second in 0..4 {
        let failures = Failures::and_one(book.failures(1, false), 1, false, at(second));
        pauses.push(failures.pause().as_secs());
        book.note_failures(&failures);
    }
    assert_eq!(pauses, [1, 2, 4, 8]);
    let left = |now| book.failures(1, false)?.left(at(now));
    assert_eq!(left(3).map(|left| left.as_secs()), Some(8));
    assert_eq!(left(11), None);
    assert_eq!(book.failures(2, false), None);
    assert_eq!(book.failures(1, true), None);
}

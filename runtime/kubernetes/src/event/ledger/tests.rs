use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn note(ledger: &mut Ledger, message: &str, seconds: i64) {
    ledger.note(Note {
        regarding: ObjectReference {
            name: Some("web".to_owned()),
            uid: Some("uid-web".to_owned()),
            ..ObjectReference::default()
        },
        warning: true,
        reason: "Drifted".to_owned(),
        message: message.to_owned(),
        at: at(seconds),
    });
}

/// Writes everything that waits: message, count and whether the event is new.
fn write(ledger: &mut Ledger, seconds: i64) -> Vec<(String, i32, bool)> {
    let mut written = Vec::new();
    while let Some(job) = ledger.next() {
        ledger.written(&job.key, Outcome::Written(job.count), at(seconds));
        written.push((job.key.message.clone(), job.count, job.is_new));
    }
    written
}

fn one(message: &str, count: i32, is_new: bool) -> Vec<(String, i32, bool)> {
    vec![(message.to_owned(), count, is_new)]
}

#[test]
fn a_series_is_written_twice_at_once_and_then_once_a_minute() {
    let mut ledger = Ledger::default();
    note(&mut ledger, "a", 0);
    assert_eq!(write(&mut ledger, 0), one("a", 1, true));
    note(&mut ledger, "a", 1);
    assert_eq!(write(&mut ledger, 1), one("a", 2, false));
    for second in 2..60 {
        note(&mut ledger, "a", second);
        assert_eq!(write(&mut ledger, second), []);
    }
    note(&mut ledger, "a", 61);
    assert_eq!(write(&mut ledger, 61), one("a", 61, false));
    note(&mut ledger, "a", 62);
    assert_eq!(write(&mut ledger, 62), []);
    // What was counted last is written when nothing more happens, and then the series is over.
    ledger.sweep(at(121));
    assert_eq!(write(&mut ledger, 121), one("a", 62, false));
    ledger.sweep(at(62 + 360));
    assert!(ledger.events.is_empty());
    note(&mut ledger, "a", 500);
    assert_eq!(write(&mut ledger, 500), one("a", 1, true));
}

#[test]
fn what_happens_again_while_it_waits_is_one_write() {
    let mut ledger = Ledger::default();
    for _ in 0..1000 {
        note(&mut ledger, "a", 0);
    }
    assert_eq!(write(&mut ledger, 0), one("a", 1000, true));
    assert_eq!((ledger.written, ledger.merged, ledger.lost), (1, 999, 0));
}

#[test]
fn other_words_are_another_event_until_an_object_has_too_many() {
    let mut ledger = Ledger::default();
    for number in 0..30 {
        note(&mut ledger, &number.to_string(), 0);
    }
    let written = write(&mut ledger, 0);
    assert_eq!(written.len(), 25);
    assert_eq!(written.last(), Some(&("24".to_owned(), 6, true)));
    note(&mut ledger, "later", 299);
    assert_eq!(ledger.events.len(), 25);
    note(&mut ledger, "later", 301);
    assert!(ledger.events.keys().any(|key| key.message == "later"));
}

#[test]
fn what_fails_is_tried_again_and_what_is_refused_is_not() {
    let mut ledger = Ledger::default();
    note(&mut ledger, "a", 0);
    let job = ledger.next().unwrap();
    // It happens again meanwhile.
    note(&mut ledger, "a", 1);
    ledger.written(&job.key, Outcome::Failed, at(1));
    ledger.sweep(at(5));
    assert_eq!(ledger.next(), None);
    ledger.sweep(at(11));
    assert_eq!(write(&mut ledger, 11), one("a", 2, true));

    note(&mut ledger, "b", 0);
    for round in 0..i64::from(TRIES) {
        let seconds = 20 + round * 10;
        ledger.sweep(at(seconds));
        let job = ledger.next().unwrap();
        ledger.written(&job.key, Outcome::Failed, at(seconds));
    }
    assert_eq!(ledger.lost, 1);
    note(&mut ledger, "c", 0);
    let job = ledger.next().unwrap();
    ledger.written(&job.key, Outcome::Refused, at(0));
    assert_eq!(ledger.lost, 2);
    assert!(ledger.events.keys().all(|key| key.message == "a"));
}

#[test]
fn what_the_api_server_forgot_is_made_anew_under_another_name() {
    let mut ledger = Ledger::default();
    note(&mut ledger, "a", 0);
    let first = ledger.next().unwrap();
    ledger.written(&first.key, Outcome::Written(1), at(0));
    note(&mut ledger, "a", 1);
    let second = ledger.next().unwrap();
    assert_eq!((&second.name, second.is_new), (&first.name, false));
    ledger.written(&second.key, Outcome::Expired, at(1));
    let third = ledger.next().unwrap();
    assert_ne!(third.name, first.name);
    assert_eq!((third.count, third.is_new), (2, true));
}

#[test]
fn nothing_that_was_counted_is_left_behind_at_the_end() {
    let mut ledger = Ledger::default();
    for second in 0..4 {
        note(&mut ledger, "a", second);
        write(&mut ledger, second);
    }
    ledger.flush();
    assert_eq!(write(&mut ledger, 4), one("a", 4, false));
}

#[test]
fn messages_are_cut_to_what_an_event_holds() {
    let mut ledger = Ledger::default();
    note(&mut ledger, &"ü".repeat(2000), 0);
    let job = ledger.next().unwrap();
    assert!(job.key.message.len() <= 1024);
    assert!(job.key.message.ends_with('…'));
}

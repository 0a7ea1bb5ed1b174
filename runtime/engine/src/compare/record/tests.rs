//! The record over its life: what is an edit, what is drift, what is nobody's.

use armature_shapes::testing::gadget::VERSION;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::super::earlier::EarlierRecord;
use super::super::*;
use super::TAG;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;

mod first_release;
mod other_words;
mod shared;
mod whose;

const UID: &str = "uid-1";

/// An object's digests, and the time.
struct Object {
    key: DigestKey,
    at: Timestamp,
    build: &'static str,
    shared: Vec<String>,
}

impl Object {
    fn new() -> Self {
        Self {
            key: DigestKey::random(),
            at: Timestamp::UNIX_EPOCH,
            build: "v1",
            shared: Vec::new(),
        }
    }

    fn keyed(&self) -> Keyed<'_> {
        self.key.of(UID)
    }

    fn now(&self, generation: i64, body: &Value, input: &str) -> Desired {
        let inputs = [["secret", "creds/key", input]];
        Desired::new(self.keyed(), generation, body, &inputs, self.build)
    }

    fn comparison<'a>(&'a self, desired: &'a Value, observed: &'a Value) -> Comparison<'a> {
        Comparison {
            shared: &self.shared,
            ..Comparison::new(VERSION.spec, desired, observed)
        }
    }

    fn settled(
        &self,
        generation: i64,
        desired: &Value,
        observed: &Value,
        again: Option<&Value>,
        before: Option<&Record>,
    ) -> Settled {
        let (now, comparison) = (
            self.now(generation, desired, "x"),
            self.comparison(desired, observed),
        );
        let settled = Record::settled(&now, &comparison, self.keyed(), again, before, self.at);
        let text = settled.record.encode();
        assert_eq!(
            Record::parse(&text, self.keyed()),
            Some(settled.record.clone()),
            "{text}"
        );
        settled
    }

    fn drift(&self, record: &Record, desired: &Value, observed: &Value) -> Vec<String> {
        let comparison = self.comparison(desired, observed);
        let differences = record.drift(&comparison, self.keyed(), self.at);
        differences
            .into_iter()
            .map(|difference| difference.path)
            .collect()
    }
}

fn unstable(settled: &Settled) -> Vec<&str> {
    let places = settled.unstable.iter();
    places.map(|place| place.path.as_str()).collect()
}

fn body() -> Value {
    json!({
        "location": "West US", "zones": ["1", "2"], "tags": {"a": "1", "b": "2"},
        "properties": {
            "accessTier": "Hot", "capacity": 3, "password": "hunter2",
            "network": {"address": "10.0.0.1"},
            "rules": [{"name": "r", "properties": {"priority": 1}}],
        },
    })
}

/// What a service answers to the body: it spells an address its own way and shows no password.
fn answer(address: &str) -> Value {
    let mut answer = body();
    answer["location"] = json!("westus");
    answer["properties"]["network"]["address"] = json!(address);
    answer["properties"]
        .as_object_mut()
        .unwrap()
        .shift_remove("password");
    answer
}

/// `(what happened, record, reconciled generation, desired now, edit)`
/// Sums of flags that go together, as they are written; the others are no record.
#[test]
fn how_far_a_put_has_come_is_one_of_five() {
    let object = Object::new();
    let text = Record::claimed(&object.now(1, &Value::Null, "x"), object.keyed()).encode();
    let (head, bytes) = text.rsplit_once(':').unwrap();
    let mut bytes = BASE64.decode(bytes).unwrap();
    let mut found = Vec::new();
    for flags in 0..=u8::MAX {
        bytes[TAG] = flags;
        let text = format!("{head}:{}", BASE64.encode(&bytes));
        let Some(record) = Record::parse(&text, object.keyed()) else {
            continue;
        };
        let again = record.encode();
        let written = BASE64.decode(again.rsplit_once(':').unwrap().1).unwrap();
        found.push((flags, written[TAG]));
    }
    // Earlier releases wrote 7 for the first PUT that Azure took.
    assert_eq!(found, [(0, 0), (1, 1), (3, 3), (5, 5), (7, 5), (11, 11)]);
}

#[test]
fn what_is_an_edit() {
    let object = Object::new();
    let sent = object.now(2, &body(), "x");
    let record = object.settled(2, &body(), &answer("a"), None, None).record;
    let waits = |was_there| {
        let body = body();
        let unanswered = object.comparison(&body, &Value::Null);
        Record::sent(&sent, &unanswered, object.keyed(), None, was_there)
    };
    let (pending, first) = (waits(true), waits(false));
    let mut reordered = body();
    reordered["zones"] = json!(["2", "1"]);
    let mut rotated = body();
    rotated["properties"]["password"] = json!("hunter3");
    let mut fewer = body();
    fewer["tags"].as_object_mut().unwrap().shift_remove("b");
    let upgraded = Object {
        build: "v2",
        ..Object {
            key: object.key.clone(),
            ..Object::new()
        }
    };
    let none = None::<&Record>;
    let taken = pending.clone().answered();
    let (record, pending, first) = (Some(&record), Some(&pending), Some(&first));
    let taken = Some(&taken);
    let rows = [
        (
            "nothing",
            record,
            Some(2),
            object.now(2, &body(), "x"),
            Edit::None,
        ),
        (
            "a field of the operator",
            record,
            Some(2),
            object.now(3, &body(), "x"),
            Edit::Harmless,
        ),
        (
            "edited and edited back between two looks",
            record,
            Some(2),
            object.now(4, &body(), "x"),
            Edit::Changed,
        ),
        (
            "a Secret that is no part of it",
            record,
            Some(2),
            object.now(2, &body(), "y"),
            Edit::Harmless,
        ),
        (
            "a tag less",
            record,
            Some(2),
            object.now(3, &fewer, "x"),
            Edit::Changed,
        ),
        (
            "another order",
            record,
            Some(2),
            object.now(3, &reordered, "x"),
            Edit::Changed,
        ),
        (
            "a write-only value",
            record,
            Some(2),
            object.now(3, &rotated, "x"),
            Edit::Changed,
        ),
        (
            "a rotated Secret",
            record,
            Some(2),
            object.now(2, &rotated, "y"),
            Edit::Changed,
        ),
        (
            "a restored, older object",
            record,
            Some(2),
            object.now(1, &fewer, "x"),
            Edit::Changed,
        ),
        (
            "an extension asks Azure",
            record,
            Some(2),
            object.now(2, &rotated, "x"),
            Edit::None,
        ),
        (
            "an upgrade",
            record,
            Some(2),
            upgraded.now(2, &rotated, "x"),
            Edit::Rebuilt,
        ),
        (
            "an upgrade without effect",
            record,
            Some(2),
            upgraded.now(2, &body(), "x"),
            Edit::None,
        ),
        (
            "an upgrade and an edit",
            record,
            Some(2),
            upgraded.now(3, &rotated, "x"),
            Edit::Changed,
        ),
        (
            "no answer so far",
            pending,
            Some(2),
            object.now(2, &body(), "x"),
            Edit::Changed,
        ),
        (
            "no answer to the first PUT so far",
            first,
            Some(2),
            object.now(2, &body(), "x"),
            Edit::Unknown,
        ),
        (
            "taken by Azure and not read so far",
            taken,
            Some(2),
            object.now(2, &body(), "x"),
            Edit::Sent,
        ),
        (
            "edited since it was taken",
            taken,
            Some(2),
            object.now(3, &fewer, "x"),
            Edit::Changed,
        ),
        (
            "edited since the first PUT",
            first,
            Some(2),
            object.now(3, &fewer, "x"),
            Edit::Changed,
        ),
        (
            "another operator since, same spec",
            record,
            Some(4),
            object.now(4, &fewer, "x"),
            Edit::Unknown,
        ),
        (
            "another operator since, and an edit",
            record,
            Some(4),
            object.now(5, &body(), "x"),
            Edit::Changed,
        ),
        (
            "taken over",
            none,
            Some(2),
            object.now(2, &body(), "x"),
            Edit::Unknown,
        ),
        (
            "taken over after an edit",
            none,
            Some(2),
            object.now(3, &body(), "x"),
            Edit::Changed,
        ),
        (
            "restored from a backup",
            none,
            Some(7),
            object.now(1, &body(), "x"),
            Edit::Unknown,
        ),
        (
            "new",
            none,
            None,
            object.now(1, &body(), "x"),
            Edit::Unknown,
        ),
    ];
    for (what, record, reconciled, now, expected) in rows {
        assert_eq!(edit(record, None, reconciled, &now), expected, "{what}");
    }
}

/// `(what happened since the claim, reconciled generation, desired now, edit)`
#[test]
fn a_claim_remembers_what_a_put_was_made_from_that_nobody_heard_of() {
    let object = Object::new();
    let claimed = Record::claimed(&object.now(1, &Value::Null, "x"), object.keyed());
    let rows = [
        ("nothing", None, object.now(1, &body(), "x"), Edit::Unknown),
        ("an edit", None, object.now(2, &body(), "x"), Edit::Changed),
        (
            "another Secret",
            None,
            object.now(1, &body(), "y"),
            Edit::Changed,
        ),
        (
            "a PUT that was heard of",
            Some(2),
            object.now(2, &body(), "y"),
            Edit::Unknown,
        ),
    ];
    for (what, reconciled, now, expected) in rows {
        assert_eq!(
            edit(None, Some(&claimed), reconciled, &now),
            expected,
            "{what}"
        );
    }
    assert_eq!(
        Record::parse(&claimed.encode(), object.keyed()),
        Some(claimed)
    );
}

#[test]
fn records_of_other_keys_objects_and_forms_are_none() {
    let object = Object::new();
    let text = object
        .settled(2, &body(), &answer("a"), None, None)
        .record
        .encode();
    assert!(text.len() <= 260, "{} bytes: {text}", text.len());
    assert!(text.starts_with("3:2:"), "{text}");
    assert_eq!(Record::parse(&text, object.key.of("uid-2")), None);
    assert_eq!(Record::parse(&text, DigestKey::random().of(UID)), None);
    let long = format!("{text}AAAA");
    for wrong in [
        "",
        "3:",
        "3:2:",
        "2:AAAA",
        "4:2:AAAA",
        "3:x:AAAA",
        &long,
        &text[..text.len() - 4],
    ] {
        assert_eq!(Record::parse(wrong, object.keyed()), None, "{wrong}");
    }
}

#[test]
fn what_the_service_rewrote_is_no_drift_until_it_changes() {
    let object = Object::new();
    let record = object
        .settled(1, &body(), &answer("010.0.0.1"), None, None)
        .record;
    let mut observed = answer("010.0.0.1");
    observed["etag"] = json!("2");
    observed["tags"]["policy"] = json!("added");
    observed["zones"] = json!(["2", "1"]);
    assert_eq!(
        object.drift(&record, &body(), &observed),
        Vec::<String>::new()
    );
    assert_eq!(
        object.drift(&record, &body(), &answer("b")),
        ["properties.network.address"]
    );
}

#[test]
fn what_was_taken_out_is_drift_when_it_comes_back_and_told_where_azure_keeps_it() {
    let object = Object::new();
    let first = object.settled(1, &body(), &answer("a"), None, None).record;
    let mut fewer = body();
    fewer["tags"].as_object_mut().unwrap().shift_remove("b");
    fewer["properties"]
        .as_object_mut()
        .unwrap()
        .shift_remove("rules");
    let mut gone = answer("a");
    gone["tags"] = json!({"a": "1", "policy": "added"});
    let taken = first.taken_out(&object.comparison(&fewer, &answer("a")), object.keyed());
    let taken: Vec<String> = taken.iter().map(Difference::to_string).collect();
    assert_eq!(
        taken,
        [
            "tags.b: desired nothing, Azure has \"2\"",
            "properties.rules.r.name: desired nothing, Azure has \"r\"",
            "properties.rules.r.properties.priority: desired nothing, Azure has 1",
        ]
    );
    // The service keeps the rules, and drops the tag.
    let settled = object.settled(2, &fewer, &gone, None, Some(&first));
    assert_eq!(
        settled.kept,
        [
            "properties.rules.r.name",
            "properties.rules.r.properties.priority"
        ]
    );
    let second = settled.record;
    assert_eq!(object.drift(&second, &fewer, &gone), Vec::<String>::new());
    let again = object.settled(3, &fewer, &gone, None, Some(&second));
    assert_eq!(again.kept, Vec::<String>::new(), "told once");
    // Somebody puts the tag back.
    gone["tags"]["B"] = json!("2");
    assert_eq!(object.drift(&again.record, &fewer, &gone), ["tags.B"]);
}

#[test]
fn what_changes_by_itself_is_left_alone_for_a_day() {
    let mut object = Object::new();
    let settled = object.settled(1, &body(), &answer("a"), Some(&answer("b")), None);
    assert_eq!(unstable(&settled), ["properties.network.address"]);
    let record = settled.record;
    let mut drifted = answer("c");
    assert_eq!(
        object.drift(&record, &body(), &drifted),
        Vec::<String>::new()
    );
    drifted["properties"]["capacity"] = json!(9);
    assert_eq!(
        object.drift(&record, &body(), &drifted),
        ["properties.capacity"]
    );
    // A repair in between does not make it older, and is not told again.
    object.at += SignedDuration::from_hours(23);
    let later = object.settled(1, &body(), &answer("d"), None, Some(&record));
    assert_eq!(unstable(&later), Vec::<&str>::new());
    assert_eq!(
        object.drift(&later.record, &body(), &answer("e")),
        Vec::<String>::new()
    );
    object.at += SignedDuration::from_hours(2);
    assert_eq!(
        object.drift(&later.record, &body(), &answer("e")),
        ["properties.network.address"]
    );
    // An edit forgets it.
    let mut edited = body();
    edited["properties"]["capacity"] = json!(4);
    let edited = object
        .settled(2, &edited, &answer("f"), None, Some(&record))
        .record;
    let mut observed = answer("g");
    observed["properties"]["capacity"] = json!(4);
    let mut desired = body();
    desired["properties"]["capacity"] = json!(4);
    assert_eq!(
        object.drift(&edited, &desired, &observed),
        ["properties.network.address"]
    );
}

#[test]
fn what_the_same_put_gives_twice_in_two_ways_is_the_services_own() {
    let object = Object::new();
    let before = object.settled(1, &body(), &answer("a"), None, None).record;
    let now = object.now(1, &body(), "x");
    let unanswered = Value::Null;
    let sent = Record::sent(
        &now,
        &object.comparison(&body(), &unanswered),
        object.keyed(),
        Some(&before),
        true,
    );
    let after = object.settled(1, &body(), &answer("b"), None, Some(&sent));
    assert_eq!(unstable(&after), ["properties.network.address"]);
    // A stale look differs from the fresh one, which has what was sent: that is no change by itself.
    let stale = object.settled(1, &body(), &answer("a"), Some(&answer("10.0.0.1")), None);
    assert_eq!(unstable(&stale), Vec::<&str>::new());
}

#[test]
fn the_annotation_stays_small_and_more_rewritten_paths_than_fit_are_in_one_digest() {
    let object = Object::new();
    let rules = |priority: &dyn Fn(usize) -> usize| {
        let rules = (0..150)
            .map(|at| json!({"name": format!("r{at}"), "properties": {"priority": priority(at)}}));
        json!({"properties": {"rules": rules.collect::<Vec<_>>()}})
    };
    let (desired, observed) = (rules(&|at| at), rules(&|_| 1000));
    let record = object.settled(1, &desired, &observed, None, None).record;
    assert!(
        record.encode().len() < 1400,
        "{} bytes",
        record.encode().len()
    );
    assert_eq!(
        object.drift(&record, &desired, &observed),
        Vec::<String>::new()
    );
}

#[test]
fn what_is_not_remembered_one_by_one_is_counted() {
    let object = Object::new();
    let body = |value: &str| {
        let members = (0..20).map(|number| (format!("p{number}"), json!(value)));
        json!({"properties": members.collect::<serde_json::Map<_, _>>()})
    };
    let desired = body("a");
    let settled = object.settled(1, &desired, &body("A of Azure"), None, None);
    assert_eq!(settled.forgotten, 4);
    assert_eq!(
        object.settled(1, &desired, &desired, None, None).forgotten,
        0
    );
}

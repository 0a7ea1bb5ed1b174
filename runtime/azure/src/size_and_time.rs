//! Whatever Azure answers: the time that it takes is that of its size, and what is kept of it is bounded.

use armature_shapes::id::ResourceId;
use armature_shapes::testing::processor::on_processor;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::graph::{Change, Page, Shown};
use crate::operation::{Begun, Style, begin, poll};
use crate::{CloudError, Method, Operation, Response, absence};

const URL: &str = "/subscriptions/s/resourceGroups/g/providers/Microsoft.A/bs/b?api-version=1";
/// Bytes of a large body, for a development build: an error of ARM with 256 KiB, or an outcome of an operation with 32 MiB, is read.
const LARGE: usize = 4 << 20;
/// Bytes that may be told of an answer.
const TOLD: usize = 10 << 10;

/// An answer with about so many bytes.
type Form = fn(usize) -> Value;

fn many(size: usize, item: impl Fn(usize) -> Value) -> Vec<Value> {
    let length = item(0).to_string().len() + 1;
    (0..size / length).map(item).collect()
}

fn text(size: usize) -> String {
    "the same words, again and again. ".repeat(size / 33)
}

/// As wide as deep.
fn tree(size: usize, depth: usize) -> Value {
    if depth == 0 || size < 200 {
        return json!({"code": "Leaf", "message": text(size)});
    }
    let inner: Vec<Value> = (0..8).map(|_| tree(size / 8, depth - 1)).collect();
    json!({"code": "Node", "message": "m", "target": "t", "details": inner})
}

const FORMS: [(&str, Form); 15] = [
    (
        "one message",
        |size| json!({"error": {"code": "A", "message": text(size)}}),
    ),
    (
        "one code",
        |size| json!({"error": {"code": text(size), "message": "m"}}),
    ),
    (
        "one target",
        |size| json!({"error": {"code": "A", "message": "m", "target": text(size)}}),
    ),
    (
        "OData",
        |size| json!({"odata.error": {"code": "A", "message": {"lang": "en", "value": text(size)}}}),
    ),
    ("details", |size| {
        let detail =
            |number| json!({"code": "B", "message": format!("detail {number:9}"), "target": "t"});
        json!({"error": {"code": "A", "message": "m", "details": many(size, detail)}})
    }),
    (
        "details that are alike",
        |size| json!({"error": {"code": "A", "message": "m", "details": many(size, |_| json!({"message": "m"}))}}),
    ),
    (
        "details that say nothing",
        |size| json!({"error": {"code": "A", "message": "m", "details": many(size, |_| json!({}))}}),
    ),
    ("long details", |size| {
        let detail =
            |number| json!({"code": "B", "message": format!("{number:9}{}", text(30 << 10))});
        json!({"error": {"code": "A", "message": text(9 << 10), "details": many(size, detail)}})
    }),
    ("a tree", |size| json!({"error": tree(size, 7)})),
    ("members", |size| {
        let members = (0..size / 20).map(|number| (format!("member{number:9}"), json!(1)));
        json!({"error": Value::Object(members.collect())})
    }),
    (
        "a resource",
        |size| json!({"id": "/x", "properties": {"provisioningState": text(size / 2), "text": text(size / 2)}}),
    ),
    ("a failed operation", |size| {
        let detail = |number| json!({"code": "B", "message": format!("detail {number:9}")});
        json!({"status": "Failed", "error": {"code": "A", "message": "m", "details": many(size, detail)}})
    }),
    ("a status", |size| json!({"status": text(size)})),
    ("a page of the Graph", |size| {
        let row = |number| json!({"id": format!("/subscriptions/s/{number:9}"), "target": "/x", "at": "2026-01-01T00:00:00Z", "actor": "a"});
        json!({"data": many(size, row), "$skipToken": "t"})
    }),
    (
        "a token of the Graph",
        |size| json!({"data": [], "$skipToken": text(size)}),
    ),
];

/// All that is done with an answer; how many bytes are told and kept of it.
fn read(body: &Value, secrets: &[&str]) -> usize {
    let now = Timestamp::UNIX_EPOCH;
    let id = ResourceId::parse(URL.split('?').next().unwrap_or_default()).expect("an id");
    let mut told = 0;
    for status in [200, 202, 400, 404, 500] {
        let answer = Response {
            status,
            headers: [("x-ms-request-id".to_owned(), "r".repeat(300 << 10))].into(),
            body: Some(body.clone()),
        };
        let mut tell = |error: CloudError| {
            let error = error.covering(secrets);
            let _ = error.has_code("Nobody");
            told = told
                .max(error.to_string().len())
                .max(error.code().len() * 10);
        };
        tell(CloudError::from_response(&answer));
        let _ = absence::is_gone(&answer);
        if let Begun::Failed { error, .. } = begin(Method::Put, URL, &answer, now) {
            tell(error);
        }
        for style in [Style::AsyncOperation, Style::Location, Style::Resource] {
            let operation = Operation {
                method: Method::Put,
                style,
                url: URL.to_owned(),
            };
            let _ = poll(&operation, &id, &answer, now);
        }
        match Page::<Change>::read(&answer, now) {
            Ok(page) => told = told.max(page.next.map_or(0, |next| next.len() / 8)),
            Err(refusal) => told = told.max(refusal.to_string().len()),
        }
        let _ = Page::<Shown>::read(&answer, now);
    }
    told
}

#[test]
fn answers_of_any_size_take_time_by_their_size() {
    let values = [
        "correct horse battery".to_owned(),
        text(64 << 10),
        "\"\\".repeat(40),
    ];
    let secrets: Vec<&str> = values.iter().map(String::as_str).collect();
    for (name, form) in FORMS {
        let body = form(LARGE);
        let began = on_processor();
        let told = read(&body, &secrets);
        let took = on_processor().saturating_sub(began);
        println!("{name}: {took:?}, {told} bytes told");
        assert!(told <= TOLD, "{name}: {told} bytes are told");
        // A development build: a second or two. Each detail against each would be an hour.
        assert!(took.as_secs() < 30, "{name}: {took:?}");
    }
}

//! Answers of Azure Resource Manager.

use std::collections::BTreeMap;
use std::time::Duration;

use armature_azure::operation::{Begun, begin, clock_ahead, poll, retry_after};
use armature_azure::{CloudError, Method, Operation, Response, absence};
use armature_reconcile::testing::front_door::expect;
use armature_shapes::id::{ResourceId, segment};
use armature_shapes::testing::shown::shows_any;
use jiff::Timestamp;
use serde_json::Value;

/// What was asked for.
const URL: &str =
    "/subscriptions/s-1/resourceGroups/g/providers/Microsoft.Toys/stores/s?api-version=2020-01-01";
/// The longest wait that an answer may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);
/// Values that must be in no message, in whatever form.
pub const SECRETS: [&str; 2] = ["hidden", "p\"\\w \u{e9}+/%~1"];

/// Headers that answers are read by.
pub const HEADERS: [&str; 7] = [
    "azure-asyncoperation",
    "operation-location",
    "location",
    "retry-after",
    "date",
    "x-ms-request-id",
    "x-ms-correlation-request-id",
];

/// An answer as the client gives it on: a body that is no JSON is none.
pub fn response(status: u16, headers: BTreeMap<String, String>, body: &[u8]) -> Response {
    Response {
        status,
        headers,
        body: serde_json::from_slice(body).ok(),
    }
}

/// Whatever Azure answers to a write or a poll means something: no wait is longer than an hour, what runs can be noted and followed
/// up, and what is secret is in no message.
///
/// # Errors
/// Which of that does not hold.
pub fn check_answer(answer: &Response) -> Result<(), String> {
    let now = Timestamp::UNIX_EPOCH;
    let wait = retry_after(answer, now).unwrap_or_default();
    expect(wait <= LONGEST_WAIT, || {
        format!("{answer:?} asks to wait for {wait:?}")
    })?;
    let _ = (clock_ahead(answer, now), absence::is_gone(answer));
    check_error(&CloudError::from_response(answer))?;
    let resource = ResourceId::parse(URL.split('?').next().unwrap_or_default());
    let resource = resource.map_err(|error| error.to_string())?;
    for method in [Method::Put, Method::Delete, Method::Post] {
        match begin(method, URL, answer, now) {
            Begun::Running { operation, .. } => {
                check_operation(&operation)?;
                let _ = poll(&operation, &resource, answer, now);
            }
            Begun::Failed { error, .. } => check_error(&error)?,
            Begun::Done => expect(answer.status < 400 || method == Method::Delete, || {
                format!("{method} is done by {answer:?}")
            })?,
        }
    }
    Ok(())
}

/// What runs is noted as it is, and asked for at an id.
fn check_operation(operation: &Operation) -> Result<(), String> {
    let again = Operation::resume(operation.resume_id(), &operation.resume_token());
    expect(again.as_ref().is_ok_and(|again| again == operation), || {
        format!("{operation:?} is noted and read as {again:?}")
    })?;
    let path = segment::path_from_root(&operation.url).to_ascii_lowercase();
    let is_id = path.starts_with("/subscriptions/") || path.starts_with("/providers/");
    expect(is_id, || format!("{operation:?} has no id in its path"))
}

fn check_error(error: &CloudError) -> Result<(), String> {
    let (told, code) = (error.to_string(), error.code().to_owned());
    expect(!told.is_empty() && !code.is_empty(), || {
        format!("{error:?} says nothing")
    })?;
    // Ids of requests are Azure's own, and no value of the request.
    let mut error = error.clone();
    (error.request_id, error.correlation_id) = (None, None);
    let covered = error.covering(&SECRETS).to_string();
    expect(!shows_any(&covered, &SECRETS), || {
        format!("'{covered}' shows what is secret")
    })
}

/// The same of a text: the status, a header's number, its value, and the body, in lines.
///
/// # Errors
/// As [`check_answer`].
pub fn check_answer_text(bytes: &[u8]) -> Result<(), String> {
    let mut parts = bytes.splitn(3, |byte| *byte == b'\n');
    let first = parts.next().unwrap_or_default();
    let status = first.first().map_or(200, |byte| 200 + u16::from(*byte) * 2);
    let header = first.get(1).map_or(0, |byte| usize::from(*byte)) % HEADERS.len();
    let value = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let headers = [(HEADERS[header].to_owned(), value)].into();
    check_answer(&response(status, headers, parts.next().unwrap_or_default()))
}

/// An error body around what Azure says, for seeds.
pub fn error_body(message: &str) -> Value {
    serde_json::json!({"error": {"code": "Conflict", "message": message, "details": [{"code": "Inner", "message": message}]}})
}

//! The server that gives out tokens: one exchange for each, whose answer is read here before the library sees it.
//!
//! A tenant may name the server, where other clouds are allowed. So what it says is bounded in size, a token that no token server
//! gives out is an error, and of an error only what tells what to do goes on, with everything covered that was sent as a proof.

use std::time::Duration;

use armature_shapes::quote;
use async_trait::async_trait;
use azure_core::error::ErrorKind;
use azure_core::http::headers::Headers;
use azure_core::http::{AsyncRawResponse, Body, HttpClient, Request, StatusCode};
use jiff::Timestamp;
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::body::{self, BodyError};
use crate::covering::Secrets;
use crate::operation;

/// Fields of the request that prove who asks.
const PROOFS: [&str; 2] = ["client_secret", "client_assertion"];
/// Bytes of the longest token: those with all groups of a user have some 8 KiB, and servers take no longer header.
pub(crate) const LONGEST_TOKEN: usize = 16 << 10;
/// Longest that is waited: what says so may be a proxy, and everything of a credential waits.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// Seconds that a token is valid at most. Entra ID's are valid for about a day.
const LONGEST_LIFE: f64 = 31.0 * 24.0 * 3600.0;
/// Bytes of the description of an error, and of its other words.
const LONGEST_DESCRIPTION: usize = 2 << 10;
const LONGEST_WORD: usize = 64;
/// Numbers of errors that are told.
const MOST_CODES: usize = 8;

/// The way to it.
#[derive(Debug)]
pub(super) struct SignIn(pub(super) reqwest::Client);

#[async_trait]
impl HttpClient for SignIn {
    async fn execute_request(&self, request: &Request) -> azure_core::Result<AsyncRawResponse> {
        let mut call = self.0.post(request.url().clone());
        for (name, value) in request.headers().iter() {
            call = call.header(name.as_str(), value.as_str());
        }
        let Body::Bytes(sent) = request.body().clone() else {
            return Err(error("the request for a token is no form"));
        };
        let answer = call.body(sent.clone()).send().await.map_err(lost)?;
        let status = answer.status().as_u16();
        let wait = answer.headers().get("retry-after");
        let wait = wait.and_then(|text| operation::wait(text.to_str().ok()?, Timestamp::now()));
        let body = body::read(answer, body::OF_TOKENS).await;
        let body = body.map_err(|problem| match problem {
            BodyError::Lost(problem) => lost(problem),
            too_long => error(format!(
                "the sign-in server answered HTTP {status}: {too_long}"
            )),
        })?;
        if !(200..300).contains(&status) {
            return Err(refusal(status, &body, &sent, wait));
        }
        let token = token(&body).map_err(error)?;
        Ok(AsyncRawResponse::from_bytes(
            status.into(),
            Headers::new(),
            token,
        ))
    }
}

/// How long the server asks to wait, behind the error that it answered with.
#[derive(Debug, thiserror::Error)]
#[error("the sign-in server asks to wait for {} seconds", .0.as_secs())]
struct Wait(Duration);

/// How long the server that gives out tokens asks to wait before the next try.
pub(crate) fn asked_to_wait(error: &azure_core::Error) -> Option<Duration> {
    let mut current: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = current {
        if let Some(Wait(wait)) = error.downcast_ref() {
            return Some(*wait);
        }
        current = error.source();
    }
    None
}

fn error(message: impl Into<String>) -> azure_core::Error {
    azure_core::Error::with_message(ErrorKind::Credential, message.into())
}

/// No answer. What the library says of it has the URL, and with it what a Secret says.
fn lost(problem: reqwest::Error) -> azure_core::Error {
    let message = match problem.is_timeout() {
        true => "the sign-in server does not answer in time",
        false => "the connection to the sign-in server failed",
    };
    azure_core::Error::with_error(ErrorKind::Io, problem, message)
}

/// The part of an answer that makes a token, when it is one.
fn token(body: &[u8]) -> Result<Vec<u8>, String> {
    let no_token = |why: &str| {
        format!(
            "the sign-in server answered with what is no token: {why}; is AZURE_AUTHORITY_HOST that of a cloud?"
        )
    };
    let answer: Value = serde_json::from_slice(body).map_err(|_| no_token("it is no JSON"))?;
    let text = answer.get("access_token").and_then(Value::as_str);
    let text = text.filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| no_token("'access_token' is missing"))?;
    if text.len() > LONGEST_TOKEN || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(no_token("'access_token' cannot be sent in a header"));
    }
    // Servers of other clouds write it as a text, and with a fraction.
    let life: Option<f64> = match answer.get("expires_in") {
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(number)) => number.trim().parse().ok(),
        _ => None,
    };
    let life = life.filter(|life| (0.0..=LONGEST_LIFE).contains(life));
    let life = life.and_then(|life| format!("{:.0}", life.floor()).parse::<u32>().ok());
    let life = life.ok_or_else(|| {
        no_token(&format!(
            "'expires_in' is no number of seconds from 0 to {LONGEST_LIFE}"
        ))
    })?;
    let kept = json!({"token_type": "Bearer", "expires_in": life, "access_token": text});
    Ok(kept.to_string().into_bytes())
}

/// What the server says against who asks.
fn refusal(status: u16, body: &[u8], sent: &[u8], wait: Option<Duration>) -> azure_core::Error {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let Some(told) = told(&answer, sent) else {
        // A proxy's page, for example: it is not the server's word.
        return told_to_wait(
            ErrorKind::Credential,
            format!("the sign-in server answered HTTP {status} and no error that can be read"),
            wait,
        );
    };
    let kind = ErrorKind::HttpResponse {
        status: StatusCode::from(status),
        error_code: None,
        raw_response: None,
    };
    told_to_wait(kind, format!("HTTP {status}: {told}"), wait)
}

fn told_to_wait(kind: ErrorKind, message: String, wait: Option<Duration>) -> azure_core::Error {
    match wait {
        Some(wait) => azure_core::Error::with_error(kind, Wait(wait.min(LONGEST_WAIT)), message),
        None => azure_core::Error::with_message(kind, message),
    }
}

/// The error in an answer, as one sentence: its word, its numbers, and how it is described.
fn told(answer: &Value, sent: &[u8]) -> Option<String> {
    let form: Vec<(String, String)> = form_urlencoded::parse(sent).into_owned().collect();
    let proofs = form
        .iter()
        .filter(|(name, _)| PROOFS.contains(&name.as_str()));
    let secrets = Secrets::new(proofs.map(|(_, value)| value.as_str()));
    let text = |name: &str, longest: usize| {
        let text = answer.get(name)?.as_str()?.trim();
        let mut text = text[..text.floor_char_boundary(longest + 4)].replace(char::is_control, " ");
        quote::cut(&mut text, longest);
        secrets.cover(&mut [&mut text]);
        Some(text).filter(|text| !text.is_empty())
    };
    let word = text("error", LONGEST_WORD);
    let description = text("error_description", LONGEST_DESCRIPTION);
    let codes = answer.get("error_codes").and_then(Value::as_array);
    let codes = codes
        .into_iter()
        .flatten()
        .take(MOST_CODES)
        .filter_map(Value::as_u64);
    let codes: Vec<String> = codes.map(|code| format!("AADSTS{code}")).collect();
    if word.is_none() && description.is_none() && codes.is_empty() {
        return None;
    }
    let described = description.as_deref().unwrap_or_default();
    let codes = codes.into_iter().filter(|code| !described.contains(code));
    let mut told = word.unwrap_or_else(|| "error".to_owned());
    for part in codes.chain(description.clone()) {
        told.push_str(", ");
        told.push_str(&part);
    }
    for (name, label) in [
        ("trace_id", "Trace ID"),
        ("correlation_id", "Correlation ID"),
    ] {
        if let Some(id) = text(name, LONGEST_WORD).filter(|id| !told.contains(id.as_str())) {
            told.push_str(&format!(" {label}: {id}"));
        }
    }
    Some(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_token() {
        let of = |life: Value| json!({"access_token": "t", "expires_in": life}).to_string();
        for (body, expected) in [
            (of(json!(3600)), None),
            (of(json!("3600")), None),
            (of(json!(0)), None),
            (of(json!(LONGEST_LIFE)), None),
            (of(json!(3599.5)), None),
            (of(json!("3599.0")), None),
            (of(json!(-0.5)), Some("'expires_in'")),
            (of(json!("NaN")), Some("'expires_in'")),
            (of(json!(LONGEST_LIFE + 1.0)), Some("'expires_in'")),
            (of(json!(i64::MAX)), Some("'expires_in'")),
            (of(json!(u64::MAX)), Some("'expires_in'")),
            (of(json!(i64::MIN)), Some("'expires_in'")),
            (of(json!(1e300)), Some("'expires_in'")),
            (of(json!("soon")), Some("'expires_in'")),
            (of(Value::Null), Some("'expires_in'")),
            (json!({"expires_in": 1}).to_string(), Some("'access_token'")),
            (
                json!({"access_token": 7, "expires_in": 1}).to_string(),
                Some("'access_token'"),
            ),
            (
                json!({"access_token": "a\nb", "expires_in": 1}).to_string(),
                Some("'access_token'"),
            ),
            (
                json!({"access_token": "t".repeat(LONGEST_TOKEN + 1), "expires_in": 1}).to_string(),
                Some("'access_token'"),
            ),
            ("<html>".to_owned(), Some("no JSON")),
        ] {
            let found = token(body.as_bytes());
            match expected {
                None => {
                    let read: Value = serde_json::from_slice(&found.unwrap()).unwrap();
                    assert!(read["expires_in"].is_u64(), "{body}: {read}");
                }
                Some(part) => {
                    let message = found.expect_err("no token");
                    assert!(message.contains(part) && message.len() < 300, "{message}");
                }
            }
        }
    }

    #[test]
    fn what_is_told_of_an_error() {
        let sent = b"client_id=app&client_secret=s3%22cr%C3%A9t-and-long&scope=x";
        let trace = "Trace ID: t-1 Correlation ID: c-1";
        for (answer, expected) in [
            (json!({}), None),
            (json!("error"), None),
            (json!({"error": {"code": "A"}}), None),
            (
                json!({"error": "invalid_client", "error_codes": [7_000_215], "trace_id": "t-1", "correlation_id": "c-1",
                    "error_description": "AADSTS7000215: Invalid client secret provided.\r\nTrace ID: t-1"}),
                Some("invalid_client, AADSTS7000215: Invalid client secret provided.  Trace ID: t-1 Correlation ID: c-1".to_owned()),
            ),
            (
                json!({"error_codes": [90_002], "trace_id": "t-1", "correlation_id": "c-1"}),
                Some(format!("error, AADSTS90002 {trace}")),
            ),
            (
                json!({"error": "s3\"crét-and-long", "error_description": "not 's3\"crét-a', nor s3\\\"cr\\u00E9t-and-long, s3%22cr%c3%a9t-and-long"}),
                Some("(secret), not '(secret)', nor (secret), (secret)".to_owned()),
            ),
        ] {
            assert_eq!(told(&answer, sent), expected, "{answer}");
        }
        let long = json!({"error": "e".repeat(9999), "error_description": "d".repeat(999_999), "error_codes": vec![1; 9999]});
        let length = told(&long, sent).unwrap_or_default().len();
        assert!(length < 3000, "{length}");
    }
}

//! One HTTP exchange as the state machine sees it: no sockets, no streams.

use http::{HeaderMap, Method};
use serde_json::Value;

use crate::error::ArmError;
use crate::fault::Spoil;

/// A request with its body read.
#[derive(Clone, Debug)]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Path without query, percent-decoded.
    pub path: String,
    /// Query parameters in order, decoded.
    pub query: Vec<(String, String)>,
    /// Headers.
    pub headers: HeaderMap,
    /// Body as it came.
    pub body: Vec<u8>,
    /// Scheme, host and port under which the client reached the simulator, for absolute URLs in answers.
    pub origin: String,
}

impl Request {
    /// A query parameter, its name in any casing.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The `api-version` of the query, or ARM's refusal.
    pub fn api_version(&self) -> Result<&str, ArmError> {
        self.parameter("api-version")
            .filter(|version| !version.is_empty())
            .ok_or_else(ArmError::missing_api_version)
    }

    /// The JSON body; `None` when there is none.
    pub fn json(&self) -> Result<Option<Value>, ArmError> {
        if self.body.is_empty() {
            return Ok(None);
        }
        serde_json::from_slice(&self.body)
            .map(Some)
            .map_err(|error| {
                ArmError::gateway(
                    400,
                    "InvalidRequestContent",
                    format!(
                        "The request content was invalid and could not be deserialized: '{error}'."
                    ),
                )
            })
    }
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// JSON body.
    pub body: Option<Value>,
}

impl Answer {
    /// An answer without body.
    pub fn empty(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    /// An answer with a JSON body.
    pub fn json(status: u16, body: Value) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Some(body),
        }
    }

    /// The same answer with one header more.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The same answer with one header more, where there is a value.
    #[must_use]
    pub fn with_some(self, name: &'static str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.with(name, value.to_string()),
            None => self,
        }
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value.as_str())
    }
}

impl From<ArmError> for Answer {
    fn from(error: ArmError) -> Self {
        let answer = Self::json(error.status, error.body())
            .with_some("retry-after", error.retry_after)
            .with("x-ms-error-code", error.code);
        if error.from_gateway {
            answer.with("x-ms-failure-cause", "gateway")
        } else {
            answer
        }
    }
}

/// What the edge does with a request: wait, then answer or cut the connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Time to wait before answering.
    pub delay: std::time::Duration,
    /// The answer; `None` cuts the connection without one.
    pub answer: Option<Answer>,
    /// Harm done to the answer's body.
    pub spoil: Option<Spoil>,
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self {
            delay: std::time::Duration::ZERO,
            answer: Some(answer),
            spoil: None,
        }
    }
}

//! Errors that ARM answers with, read into one form (ARM RPC, "error response content").

use std::fmt;

use serde_json::{Map, Value};

use super::Response;

/// Code for answers that hold no error in any known form (ASO behaviour §1.7).
const UNKNOWN: &str = "UnknownError";
/// Stands for a secret that an error quotes.
const COVER: &str = "(secret)";
/// Details are trees; what is deeper than this is not worth a message.
const DEPTH: usize = 5;

/// An error of ARM or a resource provider. Prints as one sentence with the ids that support asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CloudError {
    /// HTTP status of the answer; `None` for the outcome of an operation.
    pub status: Option<u16>,
    /// Error code, for example `InvalidTemplate`.
    pub code: Option<String>,
    /// Text for people.
    pub message: Option<String>,
    /// What the error is about, often a path in the request.
    pub target: Option<String>,
    /// Errors behind this one.
    pub details: Vec<CloudError>,
    /// `x-ms-request-id` of the answer.
    pub request_id: Option<String>,
    /// `x-ms-correlation-request-id` of the answer.
    pub correlation_id: Option<String>,
}

impl CloudError {
    /// Reads the error of an answer: `{"error": {…}}`, or the same members at the top. A body without either
    /// gives an error that knows only its status and ids: other bodies may hold secrets and are not quoted.
    pub fn from_response(response: &Response) -> Self {
        let mut error = response
            .body
            .as_ref()
            .and_then(Self::from_body)
            .unwrap_or_default();
        error.status = Some(response.status);
        error.with_ids(response)
    }

    /// Reads an error object out of a body, if there is one.
    pub fn from_body(body: &Value) -> Option<Self> {
        let object = body.as_object()?;
        ["error", "odata.error"]
            .iter()
            .find_map(|name| member(object, name)?.as_object())
            .and_then(|inner| read(inner, 0))
            .or_else(|| read(object, 0))
    }

    /// The same error with the request ids of the answer that told it.
    pub fn with_ids(mut self, response: &Response) -> Self {
        let id = |name| response.header(name).map(str::to_owned);
        self.request_id = id("x-ms-request-id");
        self.correlation_id = id("x-ms-correlation-request-id");
        self
    }

    /// The same error with these values covered wherever it quotes them: services repeat what they refuse.
    pub fn covering(mut self, secrets: &[&str]) -> Self {
        for text in [&mut self.message, &mut self.target, &mut self.code] {
            for secret in secrets {
                if let Some(quoting) = text.take_if(|text| text.contains(secret)) {
                    *text = Some(quoting.replace(secret, COVER));
                }
            }
        }
        let details = self.details.into_iter();
        self.details = details.map(|detail| detail.covering(secrets)).collect();
        self
    }

    /// The code, or `UnknownError`.
    pub fn code(&self) -> &str {
        self.code.as_deref().unwrap_or(UNKNOWN)
    }

    /// Whether this error or one behind it has the code; casing does not count.
    pub fn has_code(&self, code: &str) -> bool {
        self.code().eq_ignore_ascii_case(code)
            || self.details.iter().any(|detail| detail.has_code(code))
    }

    /// Messages of this error and the ones behind it, each once.
    fn messages(&self) -> String {
        let mut text = match (&self.message, self.status) {
            (Some(message), _) => message.trim().to_owned(),
            (None, Some(status)) => {
                format!("Azure answered with HTTP {status} and no error message")
            }
            (None, None) => "Azure gave no error message".to_owned(),
        };
        if let Some(target) = &self.target
            && !text.contains(target.as_str())
        {
            text.push_str(&format!(" (target: {target})"));
        }
        for detail in &self.details {
            let inner = match &detail.code {
                Some(code) => format!("{code}: {}", detail.messages()),
                None => detail.messages(),
            };
            if !text.contains(&detail.messages()) {
                text.push_str(&format!("; {inner}"));
            }
        }
        text
    }
}

impl fmt::Display for CloudError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.messages())?;
        if let Some(id) = &self.request_id {
            write!(formatter, " (request id {id}")?;
            if let Some(correlation) = &self.correlation_id {
                write!(formatter, ", correlation id {correlation}")?;
            }
            formatter.write_str(")")?;
        } else if let Some(correlation) = &self.correlation_id {
            write!(formatter, " (correlation id {correlation})")?;
        }
        Ok(())
    }
}

impl std::error::Error for CloudError {}

/// Old providers write members in Pascal case.
fn member<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object
        .iter()
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
        .filter(|value| !value.is_null())
}

fn read(object: &Map<String, Value>, depth: usize) -> Option<CloudError> {
    let text = |name| match member(object, name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        // OData: {"message": {"lang": "en", "value": "…"}}.
        Value::Object(inner) => member(inner, "value")?.as_str().map(str::to_owned),
        _ => None,
    };
    let details = member(object, "details")
        .and_then(Value::as_array)
        .filter(|_| depth < DEPTH)
        .into_iter()
        .flatten()
        .filter_map(|detail| read(detail.as_object()?, depth + 1))
        .collect();
    let error = CloudError {
        code: text("code").filter(|code| !code.is_empty()),
        message: text("message").filter(|message| !message.is_empty()),
        target: text("target").filter(|target| !target.is_empty()),
        details,
        ..CloudError::default()
    };
    (error.code.is_some() || error.message.is_some()).then_some(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn response(status: u16, body: Option<Value>) -> Response {
        let headers = [
            ("x-ms-request-id", "r-1"),
            ("x-ms-correlation-request-id", "c-1"),
        ];
        Response {
            status,
            headers: headers
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            body,
        }
    }

    #[test]
    fn secrets_are_covered_at_every_depth() {
        let body = json!({"error": {
            "code": "InvalidPassword",
            "message": "The value 'hunter2' is too short, hunter2!",
            "target": "properties.password=hunter2",
            "details": [{"code": "Weak", "message": "'hunter2' and 'other1' are weak"}],
        }});
        let error = CloudError::from_response(&response(400, Some(body)));
        let text = error.covering(&["hunter2", "other1"]).to_string();
        let expected = "The value '(secret)' is too short, (secret)! (target: properties.password=(secret)); \
                        Weak: '(secret)' and '(secret)' are weak (request id r-1, correlation id c-1)";
        assert_eq!(text, expected);
    }

    #[test]
    fn reads_every_known_form() {
        let ids = "(request id r-1, correlation id c-1)";
        let table = [
            (
                json!({"error": {"code": "A", "message": "No."}}),
                "A",
                format!("No. {ids}"),
            ),
            (
                json!({"code": "A", "message": "No."}),
                "A",
                format!("No. {ids}"),
            ),
            (
                json!({"Error": {"Code": "A", "Message": "No."}}),
                "A",
                format!("No. {ids}"),
            ),
            (
                json!({"odata.error": {"code": "A", "message": {"lang": "en", "value": "No."}}}),
                "A",
                format!("No. {ids}"),
            ),
            (
                json!({"error": {"code": "A", "message": "No.", "target": "sku"}}),
                "A",
                format!("No. (target: sku) {ids}"),
            ),
            (
                json!({"error": {"code": "A", "message": "No.", "details": [{"code": "B", "message": "Why."}, {"code": "C", "message": "No."}]}}),
                "A",
                format!("No.; B: Why. {ids}"),
            ),
            (
                json!({"status": "Failed", "error": {"code": "A", "message": "No."}}),
                "A",
                format!("No. {ids}"),
            ),
            (
                json!({"properties": {"password": "hunter2"}}),
                "UnknownError",
                format!("Azure answered with HTTP 400 and no error message {ids}"),
            ),
        ];
        for (body, code, text) in table {
            let error = CloudError::from_response(&response(400, Some(body.clone())));
            assert_eq!((error.code(), error.to_string()), (code, text), "{body}");
            assert_eq!(error.status, Some(400));
        }
    }

    #[test]
    fn an_empty_body_leaves_status_and_ids() {
        let error = CloudError::from_response(&response(404, None));
        assert_eq!(error.status, Some(404));
        assert_eq!(error.code(), "UnknownError");
        assert_eq!(error.request_id.as_deref(), Some("r-1"));
    }

    #[test]
    fn finds_codes_behind_the_first() {
        let body = json!({"error": {"code": "DeploymentFailed", "message": "x",
            "details": [{"code": "Conflict", "message": "y"}]}});
        let error = CloudError::from_body(&body).expect("an error");
        assert!(error.has_code("conflict") && !error.has_code("NotFound"));
    }
}

//! Errors that ARM answers with, read into one form (ARM RPC, "error response content").

use std::fmt;

use armature_shapes::quote;
use serde_json::{Map, Value};

use super::Response;
use super::covering::{COVER, Secrets};

/// Code for answers that hold no error in any known form (ASO behaviour §1.7).
const UNKNOWN: &str = "UnknownError";
/// Code in place of an error that is too long to be read.
pub(crate) const UNREAD: &str = "ErrorTooLong";
/// Details are trees; what is deeper than this is not worth a message.
const DEPTH: usize = 5;
/// Details that are kept of an error, however deep they are. Azure gives a few; what more there is is counted.
const MOST_DETAILS: usize = 20;
/// Details that are looked at: some say nothing.
const MOST_LOOKS: usize = 200;
/// Bytes of the texts of an error, of all its details together, and of the longest one, which is also that of the sentence.
const MOST_TEXT: usize = 16 << 10;
const LONGEST_TEXT: usize = 8 << 10;
/// Bytes of the longest code and id.
const LONGEST_CODE: usize = 256;

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
    /// Errors behind this one: the first of them.
    pub details: Vec<CloudError>,
    /// How many more there are behind this one, which are not kept.
    pub left_out: usize,
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
            .and_then(|inner| Room::default().read(inner, 0))
            .or_else(|| Room::default().read(object, 0))
    }

    /// The same error with the request ids of the answer that told it.
    pub fn with_ids(mut self, response: &Response) -> Self {
        let id = |name| Some(cut(response.header(name)?, LONGEST_CODE));
        self.request_id = id("x-ms-request-id");
        self.correlation_id = id("x-ms-correlation-request-id");
        self
    }

    /// The same error with these values covered wherever it quotes them or parts of them, in whatever form: services repeat what
    /// they refuse.
    pub fn covering(mut self, secrets: &[&str]) -> Self {
        let secrets = Secrets::new(secrets.iter().copied());
        let mut texts = Vec::new();
        self.texts(&secrets, &mut texts);
        secrets.cover(&mut texts);
        self
    }

    /// What may quote a secret. A code that is one by its form does so only where it is one.
    fn texts<'e>(&'e mut self, secrets: &Secrets<'_>, all: &mut Vec<&'e mut String>) {
        let is_plain = |code: &String| {
            let mut letters = code.bytes();
            letters.all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        };
        all.extend([&mut self.message, &mut self.target].into_iter().flatten());
        if let Some(code) = &mut self.code {
            match is_plain(code) {
                true if secrets.is_code(code) => COVER.clone_into(code),
                true => {}
                false => all.push(code),
            }
        }
        for detail in &mut self.details {
            detail.texts(secrets, all);
        }
    }

    /// Whether more is behind the error than what was kept of it.
    pub fn is_cut(&self) -> bool {
        self.left_out > 0 || self.details.iter().any(Self::is_cut)
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

    /// Its own words, without those behind it.
    fn own_words(&self) -> String {
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
        text
    }

    /// Words of this error and the ones behind it, each once, until there are enough of them.
    fn tell(&self, text: &mut String) {
        if text.len() > LONGEST_TEXT {
            return;
        }
        let own = self.own_words();
        if text.is_empty() {
            text.push_str(&own);
        } else if !text.contains(&own) {
            let code = self.code.iter();
            text.push_str("; ");
            text.extend(code.flat_map(|code| [code.as_str(), ": "]));
            text.push_str(&own);
        }
        for detail in &self.details {
            detail.tell(text);
        }
        if self.left_out > 0 {
            text.push_str(&format!("; and {} more", self.left_out));
        }
    }
}

impl fmt::Display for CloudError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.tell(&mut text);
        quote::cut(&mut text, LONGEST_TEXT);
        formatter.write_str(&text)?;
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

fn cut(text: &str, longest: usize) -> String {
    let mut kept = text[..text.floor_char_boundary(longest + 4)].to_owned();
    quote::cut(&mut kept, longest);
    kept
}

/// What may still be kept of an error.
struct Room {
    details: usize,
    looks: usize,
    text: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            details: MOST_DETAILS,
            looks: MOST_LOOKS,
            text: MOST_TEXT,
        }
    }
}

impl Room {
    fn read(&mut self, object: &Map<String, Value>, depth: usize) -> Option<CloudError> {
        let mut error = CloudError {
            code: self.text(object, "code", LONGEST_CODE),
            message: self.text(object, "message", LONGEST_TEXT),
            target: self.text(object, "target", LONGEST_TEXT),
            ..CloudError::default()
        };
        let details = member(object, "details").and_then(Value::as_array);
        let mut details = details.map_or(&[][..], Vec::as_slice);
        if depth >= DEPTH {
            error.left_out = details.len();
            details = &[];
        }
        for (at, detail) in details.iter().enumerate() {
            if self.details == 0 || self.looks == 0 || self.text == 0 {
                error.left_out = details.len() - at;
                break;
            }
            self.looks -= 1;
            let detail = detail.as_object().and_then(|detail| {
                // It has its room before those behind it.
                self.details -= 1;
                let read = self.read(detail, depth + 1);
                self.details += usize::from(read.is_none());
                read
            });
            error.details.extend(detail);
        }
        (error.code.is_some() || error.message.is_some()).then_some(error)
    }

    fn text(&mut self, object: &Map<String, Value>, name: &str, longest: usize) -> Option<String> {
        let number;
        let text = match member(object, name)? {
            Value::String(text) => text,
            Value::Number(told) => {
                number = told.to_string();
                &number
            }
            // OData: {"message": {"lang": "en", "value": "…"}}.
            Value::Object(inner) => member(inner, "value")?.as_str()?,
            _ => return None,
        };
        let longest = longest.min(self.text);
        if text.is_empty() || longest == 0 {
            return None;
        }
        let kept = cut(text, longest);
        self.text = self.text.saturating_sub(kept.len());
        Some(kept)
    }
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

    /// What is done about an error goes by its code.
    #[test]
    fn a_code_is_covered_only_where_it_is_the_secret() {
        let script = "if ($code -eq 'MissingSubscriptionRegistration') { exit 1 }";
        for (code, secret, is_covered) in [
            ("MissingSubscriptionRegistration", script, false),
            ("BadRequest", "<policy>BadRequest</policy>", false),
            ("hunter2hunter2", "hunter2hunter2", true),
            ("Failed.hunter2hunter2", "hunter2hunter2", true),
            ("hunter2hun", "hunter2hunter2", true),
            ("Failed.hunter2hunter2", "hunter2hunter2\n", true),
            ("hunter2hunter2", "u=x;password=hunter2hunter2", true),
            ("Failed.hunter2", "hunter2", true),
            ("Conflict", "Conflict resolution script", false),
            ("a: hunter2hunter2", "hunter2hunter2", true),
        ] {
            let error = CloudError {
                code: Some(code.to_owned()),
                ..CloudError::default()
            };
            let error = error.covering(&[secret]);
            assert_eq!(error.code() != code, is_covered, "{code}: {}", error.code());
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

    /// Codes behind the first are found among those that are kept, and what is not kept is no reason to say that nothing is there.
    #[test]
    fn what_is_too_deep_is_left_out_and_counted() {
        let inner = json!({"code": "SubscriptionNotFound", "message": "no"});
        let deep = |levels: usize| {
            (0..levels).fold(
                inner.clone(),
                |inner, _| json!({"code": "A", "message": "m", "details": [inner]}),
            )
        };
        for (levels, is_cut) in [(DEPTH, false), (DEPTH + 1, true), (DEPTH + 3, true)] {
            let error = CloudError::from_body(&deep(levels)).expect("an error");
            assert_eq!(error.is_cut(), is_cut, "{levels}");
        }
    }

    #[test]
    fn what_is_left_out_of_an_error_is_counted() {
        let detail =
            |number: usize| json!({"code": format!("C{number}"), "message": format!("m{number}.")});
        let details: Vec<Value> = (0..100).map(detail).collect();
        let body = json!({"error": {"code": "A", "message": "No.", "details": details}});
        let error = CloudError::from_body(&body).expect("an error");
        assert!(error.has_code("C19") && !error.has_code("C20") && error.is_cut());
        let told = error.to_string();
        assert!(
            told.starts_with("No.; C0: m0.; C1: m1.") && told.ends_with("; C19: m19.; and 80 more"),
            "{told}"
        );
        let gone = response(404, Some(body));
        assert!(!crate::absence::is_gone(&gone));
        let silent =
            json!({"error": {"code": "A", "message": "No.", "details": vec![json!({}); 100]}});
        assert!(!CloudError::from_body(&silent).expect("an error").is_cut());
    }
}

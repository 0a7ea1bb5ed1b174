//! Long-running operations as pure functions: from an answer to the next state, and to and from the
//! annotation that carries the state over a restart (ARM RPC, "asynchronous operations").
//!
//! Nothing here waits or sends: the reconciler polls once per turn and asks what the answer means.

use std::borrow::Cow;
use std::time::Duration;

use armature_shapes::id::{ResourceId, segment};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{CloudError, Method, Response, absence};

/// Longest wait that a `Retry-After` is followed for. ARM states at most 10 minutes for operations; a
/// throttled subscription may be told up to an hour.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// Bytes of the longest URL that is followed. Azure's have up to 4 KiB, and objects keep them in an annotation.
const LONGEST_URL: usize = 16 << 10;

/// Headers that name the URL of an operation, in the order in which they count.
const HEADERS: [(&str, Style); 3] = [
    ("azure-asyncoperation", Style::AsyncOperation),
    ("operation-location", Style::OperationLocation),
    ("location", Style::Location),
];

/// How the progress of an operation is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A status document behind `Azure-AsyncOperation`.
    AsyncOperation,
    /// A status document behind `Operation-Location`.
    OperationLocation,
    /// The final answer behind `Location`, 202 until then.
    Location,
    /// `properties.provisioningState` of the resource itself, or its absence after a DELETE. Of a POST there is nothing to read:
    /// Azure has accepted it, and does not say how far it is ([`Operation::is_silent`]).
    Resource,
}

/// A running operation: everything that is needed to go on with it after a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// PUT or DELETE, or the POST of something that comes before a PUT.
    pub method: Method,
    /// How to read its progress.
    pub style: Style,
    /// What to GET next: an absolute URL from ARM, or path and query for [`Style::Resource`].
    pub url: String,
}

/// What the answer to a PUT or DELETE means.
#[derive(Clone, Debug, PartialEq)]
pub enum Begun {
    /// Finished in this one exchange.
    Done,
    /// Accepted and running.
    Running {
        /// The operation to poll.
        operation: Operation,
        /// How long ARM asked to wait; `None` leaves it to the caller's backoff.
        after: Option<Duration>,
    },
    /// Refused, or finished at once without success.
    Failed {
        /// Why.
        error: CloudError,
        /// How long ARM asked to wait before another try.
        after: Option<Duration>,
    },
}

/// What the answer to a poll means.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// Not finished: Azure says so in a status document, or with a 202.
    Running {
        /// What to poll next: the same operation, unless ARM moved its URL.
        operation: Operation,
        /// How long ARM asked to wait.
        after: Option<Duration>,
    },
    /// Azure does not say whether the operation runs: the resource is not to be seen, or says of itself that it is worked
    /// on, or the read of the status failed.
    Unreported {
        /// How long ARM asked to wait.
        after: Option<Duration>,
    },
    /// A 404 or 410 that is not about the operation and its resource.
    Doubtful(CloudError),
    /// Finished; the resource has to be read.
    Succeeded,
    /// Finished without success.
    Failed(CloudError),
    /// Canceled by a person or by Azure.
    Canceled(CloudError),
    /// The status can no longer be read, by this credential or at all: only the resource itself can tell.
    Lost,
}

/// Reads the answer to a PUT, DELETE or POST of `url` (path and query).
pub fn begin(method: Method, url: &str, response: &Response, now: Timestamp) -> Begun {
    let after = retry_after(response, now);
    if response.status >= 400 {
        if method == Method::Delete && absence::is_gone(response) {
            return Begun::Done;
        }
        return Begun::Failed {
            error: CloudError::from_response(response),
            after,
        };
    }
    if response.status == 204 {
        return Begun::Done;
    }
    let running = |style, url: &str| Begun::Running {
        operation: Operation {
            method,
            style,
            url: url.to_owned(),
        },
        after,
    };
    let state = provisioning_state(response.body.as_ref());
    let is_accepted = response.status == 202 || (method == Method::Delete && state.is_none());
    for (header, style) in HEADERS {
        // The `Location` of a created resource is no operation.
        let counts = style != Style::Location || is_accepted;
        if let Some(target) = response.header(header).filter(|_| counts)
            && check_url(target).is_ok()
        {
            return running(style, target);
        }
    }
    // What it names cannot be followed, and is no less there.
    if names_refused(response, is_accepted) {
        return running(Style::Resource, url);
    }
    // Without a header, and with the Location that HTTP gives a created resource, the body tells.
    match state.map(State::of) {
        Some(State::Running) if method != Method::Post => running(Style::Resource, url),
        Some(State::Failed) if method == Method::Put => Begun::Failed {
            error: failure(response, "Failed"),
            after,
        },
        Some(State::Canceled) if method == Method::Put => Begun::Failed {
            error: failure(response, "Canceled"),
            after,
        },
        // What was posted is no resource that could be polled.
        _ if response.status == 202 && method != Method::Post => running(Style::Resource, url),
        _ => Begun::Done,
    }
}

/// Reads the answer to a poll of the operation on this resource.
pub fn poll(
    operation: &Operation,
    resource: &ResourceId,
    response: &Response,
    now: Timestamp,
) -> Progress {
    let after = retry_after(response, now);
    match response.status {
        // Throttled or ill: the read failed, not the operation.
        408 | 429 | 500.. => return Progress::Unreported { after },
        404 | 410 if absence::is_gone(response) => return gone(operation, resource, after),
        404 | 410 => return Progress::Doubtful(CloudError::from_response(response)),
        // Polling needs the identity and the scope that the operation was started with.
        401 | 403 => return Progress::Lost,
        _ => {}
    }
    match operation.style {
        Style::AsyncOperation | Style::OperationLocation => {
            if response.status >= 400 {
                return Progress::Lost;
            }
            status_document(operation, response, after)
        }
        Style::Location => match response.status {
            202 => Progress::Running {
                operation: moved(operation, response),
                after,
            },
            // The final answer is the one that a synchronous request would have got.
            400.. => Progress::Failed(CloudError::from_response(response)),
            _ => Progress::Succeeded,
        },
        Style::Resource => {
            if response.status >= 400 {
                return Progress::Lost;
            }
            let state = provisioning_state(response.body.as_ref());
            match (state.map(State::of), operation.method) {
                (Some(State::Failed), _) => Progress::Failed(failure(response, "Failed")),
                (Some(State::Canceled), _) => Progress::Canceled(failure(response, "Canceled")),
                (Some(State::Running), _) | (_, Method::Delete) => Progress::Unreported { after },
                (Some(State::Succeeded) | None, _) => Progress::Succeeded,
            }
        }
    }
}

/// `Retry-After` of an answer, in seconds or as a date; at most one hour.
pub fn retry_after(response: &Response, now: Timestamp) -> Option<Duration> {
    wait(response.header("retry-after")?, now)
}

/// What a `Retry-After` says.
pub(crate) fn wait(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    let wait = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => Duration::try_from(date(text)?.duration_since(now)).unwrap_or_default(),
    };
    Some(wait.min(LONGEST_WAIT))
}

/// By how much Azure's clock is ahead of ours, as the `Date` of an answer that came just now tells it.
pub fn clock_ahead(response: &Response, now: Timestamp) -> Option<SignedDuration> {
    let date = date(response.header("date")?.trim())?;
    Some(date.duration_since(now))
}

fn date(text: &str) -> Option<Timestamp> {
    let parser = jiff::fmt::rfc2822::DateTimeParser::new();
    parser.parse_timestamp(text).ok()
}

/// 404 of a poll: the end of a DELETE whose status lived under the resource, else no answer.
fn gone(operation: &Operation, resource: &ResourceId, after: Option<Duration>) -> Progress {
    match (operation.style, operation.method) {
        (Style::Resource, Method::Delete) => Progress::Succeeded,
        // A resource whose PUT was only accepted is invisible until it is done.
        (Style::Resource, _) => Progress::Unreported { after },
        (Style::Location, Method::Delete) if is_below(&operation.url, resource) => {
            Progress::Succeeded
        }
        _ => Progress::Lost,
    }
}

fn status_document(
    operation: &Operation,
    response: &Response,
    after: Option<Duration>,
) -> Progress {
    let status = response
        .body
        .as_ref()
        .and_then(|body| body.get("status")?.as_str());
    let state = match status {
        Some(status) => State::of(status),
        // Some providers answer with the resource itself once they are done.
        None if response.status == 200 || response.status == 201 => {
            match provisioning_state(response.body.as_ref()) {
                Some(state) => State::of(state),
                None if response.body.is_some() => State::Succeeded,
                None => return Progress::Lost,
            }
        }
        None if response.status == 204 => State::Succeeded,
        None => State::Running,
    };
    match state {
        State::Running => Progress::Running {
            operation: moved(operation, response),
            after,
        },
        State::Succeeded => Progress::Succeeded,
        State::Failed => Progress::Failed(failure(response, "Failed")),
        State::Canceled => Progress::Canceled(failure(response, "Canceled")),
    }
}

/// The operation with the URL that a poll was told to go on with. One that is only signed anew is no other: in recorded
/// traffic the first one leads to the operation until its end, and the new one would have to be stored after each poll.
fn moved(operation: &Operation, response: &Response) -> Operation {
    let of_style = HEADERS.iter().find(|(_, style)| *style == operation.style);
    let url = of_style.and_then(|(header, _)| response.header(header));
    match url.filter(|url| check_url(url).is_ok()) {
        Some(url) if unsigned(url) != unsigned(&operation.url) => Operation {
            url: url.to_owned(),
            ..operation.clone()
        },
        _ => operation.clone(),
    }
}

/// Query parameters with which ARM signs the URL of an operation: time, certificate, signature and hash.
const SIGNATURE: [&str; 4] = ["t", "c", "s", "h"];

/// The URL without its query, and the parameters that are no part of its signature.
fn unsigned(url: &str) -> (&str, Vec<&str>) {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let is_kept = |parameter: &&str| {
        let (name, _) = parameter.split_once('=').unwrap_or((parameter, ""));
        !SIGNATURE.contains(&name)
    };
    (base, query.split('&').filter(is_kept).collect())
}

/// Whether the URL can be that of an operation: ARM has its own below a subscription or a provider, and nothing else is asked for.
fn check_url(url: &str) -> Result<(), &'static str> {
    if url.len() > LONGEST_URL {
        return Err("is longer than any of Azure's");
    }
    if segment::has_dots(url) {
        return Err("has segments such as '..', which lead elsewhere");
    }
    let path = match url.starts_with('/') {
        true => Cow::Borrowed(url.split('?').next().unwrap_or(url)),
        false if url.contains("://") => Cow::Owned(segment::path_from_root(url)),
        false => return Err("is no URL"),
    };
    let mut segments = path.split('/').skip(1);
    let root = segments.next().unwrap_or_default();
    let is_root = ["subscriptions", "providers"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(root));
    match is_root && segments.next().is_some_and(|next| !next.is_empty()) {
        true => Ok(()),
        false => Err(
            "is no path of Azure Resource Manager, which begins with /subscriptions/ or /providers/",
        ),
    }
}

/// Whether an answer names an operation that is not followed.
fn names_refused(response: &Response, is_accepted: bool) -> bool {
    let counts = |style: Style| style != Style::Location || is_accepted;
    let named = HEADERS.iter().filter(|(_, style)| counts(*style));
    let mut named = named.filter_map(|(header, _)| response.header(header));
    let Some(why) = named.find_map(|url| check_url(url).err()) else {
        return false;
    };
    tracing::warn!(
        request_id = response.header("x-ms-request-id"),
        "the URL of the operation that Azure's answer names {why}; so it is not followed"
    );
    true
}

/// The error in an outcome; providers sometimes give none, then the state is the code.
fn failure(response: &Response, state: &str) -> CloudError {
    let body = response.body.as_ref();
    let nested = |path: &str| CloudError::from_body(body?.pointer(path)?);
    body.filter(|body| body.get("error").is_some_and(Value::is_object))
        .and_then(CloudError::from_body)
        .or_else(|| nested("/properties"))
        .unwrap_or_else(|| CloudError {
            code: Some(format!("Operation{state}")),
            message: Some(format!(
                "Azure reports the state {state} and no error message"
            )),
            ..CloudError::default()
        })
        .with_ids(response)
}

fn provisioning_state(body: Option<&Value>) -> Option<&str> {
    body?.get("properties")?.get("provisioningState")?.as_str()
}

/// Whether the URL is below the path of the resource.
fn is_below(url: &str, resource: &ResourceId) -> bool {
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
        None => url,
    };
    let path = path.split('?').next().unwrap_or(path).to_ascii_lowercase();
    let own = resource.url("");
    let own = own.split('?').next().unwrap_or(&own).to_ascii_lowercase();
    path.strip_prefix(&own)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Succeeded,
    Failed,
    Canceled,
}

impl State {
    /// Exactly three states are final; providers invent any number of others.
    fn of(text: &str) -> Self {
        if text.eq_ignore_ascii_case("Succeeded") {
            Self::Succeeded
        } else if text.eq_ignore_ascii_case("Failed") {
            Self::Failed
        } else if text.eq_ignore_ascii_case("Canceled") || text.eq_ignore_ascii_case("Cancelled") {
            Self::Canceled
        } else {
            Self::Running
        }
    }
}

/// Values of the annotation `poller-resume-id` (ASO behaviour §1.2).
const PUT_ID: &str = "GenericClient.CreateOrUpdateByID";
const DELETE_ID: &str = "GenericClient.DeleteByID";
/// Our own value for the POST of something that comes before a PUT, which ASO waits for in its worker.
const POST_ID: &str = "Armature.Post";

/// Why the annotations do not hold an operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the annotations of the running operation cannot be read: {0}; it is given up and the resource is read instead"
)]
pub struct ResumeError(String);

impl Operation {
    /// Whether nothing tells how far it is: what was posted is no resource that could be read.
    pub fn is_silent(&self) -> bool {
        self.method == Method::Post && self.style == Style::Resource
    }

    /// Value of the annotation `poller-resume-id`: which request started the operation.
    pub fn resume_id(&self) -> &'static str {
        match self.method {
            Method::Delete => DELETE_ID,
            Method::Post => POST_ID,
            _ => PUT_ID,
        }
    }

    /// Value of the annotation `poller-resume-token`, in the form of the Azure SDK for Go, so that either
    /// operator can go on with what the other one started.
    pub fn resume_token(&self) -> String {
        let method = self.method.to_string();
        let token = match self.style {
            Style::AsyncOperation => json!({
                "asyncURL": self.url, "locURL": "", "origURL": "", "method": method,
                "finalState": "", "state": "InProgress",
            }),
            Style::OperationLocation => json!({
                "oplocURL": self.url, "locURL": "", "origURL": "", "method": method,
                "finalState": "", "state": "InProgress",
            }),
            Style::Location => {
                json!({"type": "loc", "pollURL": self.url, "state": "InProgress"})
            }
            Style::Resource => {
                json!({"type": "body", "pollURL": self.url, "state": "InProgress"})
            }
        };
        let result = match self.method {
            Method::Delete => "GenericDeleteResponse",
            _ => "GenericResource",
        };
        json!({"type": result, "token": token}).to_string()
    }

    /// Reads the two annotations.
    ///
    /// # Errors
    /// When they hold no operation of a known style, or a URL that leads elsewhere than it says.
    pub fn resume(id: &str, token: &str) -> Result<Self, ResumeError> {
        let method = match id {
            PUT_ID => Method::Put,
            DELETE_ID => Method::Delete,
            POST_ID => Method::Post,
            other => {
                return Err(ResumeError(format!(
                    "'{other}' is no known kind of operation"
                )));
            }
        };
        let document: Value = serde_json::from_str(token)
            .map_err(|error| ResumeError(format!("the token is no JSON ({error})")))?;
        let inner = document.get("token").unwrap_or(&document);
        let text = |name: &str| {
            inner
                .get(name)
                .and_then(Value::as_str)
                .filter(|text| !text.is_empty())
        };
        let found = [
            (Style::AsyncOperation, text("asyncURL")),
            (Style::OperationLocation, text("oplocURL")),
            (
                match text("type") {
                    Some("body") => Style::Resource,
                    _ => Style::Location,
                },
                text("pollURL"),
            ),
        ];
        let (style, url) = found
            .into_iter()
            .find_map(|(style, url)| Some((style, url?)))
            .ok_or_else(|| ResumeError("the token names no URL to poll".to_owned()))?;
        check_url(url).map_err(|why| ResumeError(format!("the URL to poll {why}")))?;
        Ok(Self {
            method,
            style,
            url: url.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests;

//! Reads from Azure within its budget. Whoever reads waits for a place; nothing here writes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use armature_runtime::azure::budget::{Account, Budget, Sort, Urgency};
use armature_runtime::azure::graph::{Page, Query, Refusal, Shown};
use armature_runtime::azure::{
    CloudError, CredentialKey, Method, Request, Response, Transport, absence, operation,
};
use armature_runtime::id::segment::subscription_of;
use armature_runtime::reconcile::time::{Clock, Time};
use serde_json::Value;

/// Wait for a place in the budget.
const BUSY: Duration = Duration::from_millis(200);
/// Wait after an answer that it was too much, where Azure names none.
const THROTTLED: Duration = Duration::from_secs(5);
/// How often a request is sent that gets no usable answer.
const TRIES: u32 = 4;

/// Codes of a 400 by which Azure says that it has no such list here. Azure Service Operator's import takes the same for that, and
/// for those below.
const NO_SUCH_LIST: [&str; 4] = [
    "BadRequest",
    "RequestUrlInvalid",
    "UnsupportedFeature",
    "ValidationFailed",
];

/// Codes of a 400 by which Azure says that no resource of this type has such a list.
const NOT_OF_TYPE: [&str; 3] = [
    "NoRegisteredProviderFound",
    "ResourceTypeNotSupported",
    "UnsupportedResourceType",
];

/// Why something could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no such resource.
    #[error("Azure has no such resource")]
    Gone,
    /// There is no such list.
    #[error("{0}")]
    NoSuchList(String),
    /// There is no such list at any resource of this type.
    #[error("{0}")]
    NotOfType(String),
    /// This credential may not.
    #[error("the credential may not read it: {0}")]
    Forbidden(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// Reads, with one credential.
pub struct Reader {
    arm: Arc<dyn Transport>,
    budget: Budget,
    time: Time,
    credential: CredentialKey,
    principal: String,
    answered: AtomicUsize,
    unanswered: OnceLock<String>,
}

impl Reader {
    /// Reads with a credential.
    pub async fn new(
        arm: Arc<dyn Transport>,
        credential: CredentialKey,
        budget: Budget,
        time: Time,
    ) -> Self {
        let principal = arm.principal(&credential).await;
        Self {
            arm,
            budget,
            time,
            credential,
            principal,
            answered: AtomicUsize::new(0),
            unanswered: OnceLock::new(),
        }
    }

    /// The way that requests go.
    pub fn transport(&self) -> Arc<dyn Transport> {
        self.arm.clone()
    }

    /// The credential of all requests.
    pub fn credential(&self) -> CredentialKey {
        self.credential.clone()
    }

    /// Requests that Azure has answered.
    pub fn sent(&self) -> usize {
        self.answered.load(Ordering::Relaxed)
    }

    /// Why the first request that was given up had no answer.
    pub fn unanswered(&self) -> Option<&str> {
        self.unanswered.get().map(String::as_str)
    }

    /// The subscription that the credential is for.
    ///
    /// # Errors
    /// When there is no credential.
    pub async fn subscription(&self) -> Result<String, Refused> {
        let found = self.arm.subscription(&self.credential).await;
        found.map_err(|error| Refused::Other(error.to_string()))
    }

    /// The answer to a GET of a path and query.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn get(&self, url: &str) -> Result<Value, Refused> {
        let request = Request {
            method: Method::Get,
            url: url.to_owned(),
            body: None,
            if_match: None,
            credential: self.credential(),
        };
        let response = self.send(request).await?;
        match response.status {
            200..300 => Ok(response.body.unwrap_or_default()),
            _ => Err(refused(&response)),
        }
    }

    /// The items of a list, on all of its pages.
    ///
    /// # Errors
    /// When a page cannot be had.
    pub async fn list(&self, url: &str) -> Result<Vec<Value>, Refused> {
        let mut items = Vec::new();
        let mut next = Some(url.to_owned());
        while let Some(url) = next.take() {
            let mut page = self.get(&url).await?;
            if let Some(Value::Array(found)) = page.get_mut("value").map(Value::take) {
                items.extend(found);
            }
            let link = page.get("nextLink").and_then(Value::as_str);
            next = link.filter(|link| !link.is_empty()).map(str::to_owned);
        }
        Ok(items)
    }

    /// The ids that the Graph shows, on all pages.
    ///
    /// # Errors
    /// When a page cannot be had, or there is more than can be asked for.
    pub async fn shown(&self, query: &Query) -> Result<Vec<String>, Refused> {
        let mut ids = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let request = query.request(&self.credential, next.as_deref());
            let response = self.send(request).await?;
            let page = match Page::<Shown>::read(&response, self.time.now()) {
                Ok(page) => page,
                Err(Refusal::Throttled(wait)) => {
                    self.wait(wait).await;
                    continue;
                }
                Err(refusal) => return Err(Refused::Other(refusal.to_string())),
            };
            ids.extend(page.rows.into_iter().map(|row| row.id));
            if page.is_cut {
                let message = "Azure Resource Graph has more than it shows";
                return Err(Refused::Other(message.to_owned()));
            }
            next = page.next;
            if next.is_none() {
                return Ok(ids);
            }
            let wait = page.quota.wait();
            self.wait(wait).await;
        }
    }

    async fn wait(&self, wait: Duration) {
        self.time.sleep_until(self.time.instant() + wait).await;
    }

    /// Sends once there is room for it, again where Azure says that it was too much, and some times where nothing usable came.
    async fn send(&self, request: Request) -> Result<Response, Refused> {
        let account = Account {
            subscription: subscription_of(&request.url)
                .unwrap_or_default()
                .to_ascii_lowercase(),
            principal: self.principal.clone(),
        };
        let mut tries = 0;
        loop {
            let what = (Sort::Reads, Urgency::Foreground);
            while !self.budget.take_if_left(&account, what, self.time.now()) {
                self.wait(BUSY).await;
            }
            tries += 1;
            let backoff = Duration::from_secs(1 << tries);
            let wait = match self.arm.send(request.clone()).await {
                Ok(response) => {
                    self.answered.fetch_add(1, Ordering::Relaxed);
                    let now = self.time.now();
                    self.budget.learn(&account, Sort::Reads, &response, now);
                    let asked = operation::retry_after(&response, now);
                    match response.status {
                        // The Graph has a quota of its own, and says when it is over.
                        429 if request.method == Method::Get => {
                            tries = 0;
                            asked.unwrap_or(THROTTLED)
                        }
                        500.. if tries < TRIES => asked.unwrap_or(backoff),
                        _ => return Ok(response),
                    }
                }
                Err(error) if error.credential || error.refused.is_some() || tries >= TRIES => {
                    self.unanswered.get_or_init(|| error.message.clone());
                    return Err(Refused::Other(error.to_string()));
                }
                Err(error) => error.retry_after.unwrap_or(backoff),
            };
            self.wait(wait).await;
        }
    }
}

fn refused(response: &Response) -> Refused {
    let error = CloudError::from_response(response);
    let text = error.to_string();
    match response.status {
        _ if absence::is_gone(response) => Refused::Gone,
        401 | 403 => Refused::Forbidden(text),
        404 | 405 => Refused::NoSuchList(text),
        400 if NOT_OF_TYPE.iter().any(|code| error.has_code(code)) => Refused::NotOfType(text),
        400 if NO_SUCH_LIST.iter().any(|code| error.has_code(code)) => Refused::NoSuchList(text),
        _ => Refused::Other(text),
    }
}

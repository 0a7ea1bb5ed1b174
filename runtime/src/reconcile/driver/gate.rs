//! The way of one pass to Azure: each request, of the driver and of extensions, goes through the budget.
//!
//! Once something was changed in Azure, the rest of the pass is always sent: what Azure made of it must be read
//! and recorded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::{Clock, Reconciler};
use crate::arm::budget::{Account, Budget, Call, Sent, Sort, Urgency};
use crate::arm::{CredentialKey, Request, Response, Transport, TransportError};
use crate::resource::ObjectKey;

/// The transport of one pass.
pub(super) struct Gate {
    arm: Arc<dyn Transport>,
    budget: Arc<Budget>,
    clock: Arc<dyn Clock>,
    object: ObjectKey,
    urgency: Urgency,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    principal: String,
    sent: Sent,
    /// Azure is ahead of what the object says.
    is_committed: bool,
    put_off: Option<Duration>,
}

impl Gate {
    pub fn new(reconciler: &Reconciler, object: ObjectKey, urgency: Urgency) -> Self {
        Self {
            arm: reconciler.arm.clone(),
            budget: reconciler.budget.clone(),
            clock: reconciler.clock.clone(),
            object,
            urgency,
            state: Mutex::default(),
        }
    }

    /// Counts requests from now on for who this credential stands for.
    pub async fn charge(&self, credential: &CredentialKey) {
        let principal = self.arm.principal(credential).await;
        self.state().principal = principal;
    }

    /// From here on every request is sent.
    pub fn commit(&self) {
        self.state().is_committed = true;
    }

    /// How long the pass has to wait for the budget, when a request was put off: nothing else may follow.
    pub fn put_off(&self) -> Option<Duration> {
        self.state().put_off
    }

    /// Whether nobody waits for the outcome of the pass.
    pub fn is_background(&self) -> bool {
        self.urgency == Urgency::Background
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Plain values: a panic cannot leave them half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one request out of the budget; whether it is sent whatever is left.
    fn admit(&self, account: &Account, sort: Sort) -> Result<bool, Duration> {
        let mut state = self.state();
        let sent = state.sent;
        let call = self.call(account, sort, &sent);
        let now = self.clock.now();
        if state.is_committed {
            self.budget.overdraw(&call, now);
        } else if let Err(wait) = self.budget.take(&call, now) {
            state.put_off = Some(wait);
            return Err(wait);
        }
        state.sent.count(sort);
        Ok(state.is_committed)
    }

    /// Learns from the answer; the time to wait when the request is put off after all.
    fn learn(&self, account: &Account, sort: Sort, answer: &Response) -> Option<Duration> {
        let now = self.clock.now();
        let is_refused = self.budget.learn(account, sort, answer, now);
        let mut state = self.state();
        if !is_refused || state.is_committed {
            return None;
        }
        // This one is wanted again, and not once more.
        let sent = state.sent.without(sort);
        let wait = self.budget.put_off(&self.call(account, sort, &sent), now);
        state.put_off = Some(wait);
        Some(wait)
    }

    fn call<'a>(&'a self, account: &'a Account, sort: Sort, sent: &'a Sent) -> Call<'a> {
        Call {
            account,
            object: &self.object,
            urgency: self.urgency,
            sort,
            sent,
        }
    }
}

#[async_trait]
impl Transport for Gate {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        let (method, url) = (request.method, request.url.clone());
        let sort = Sort::of(method);
        let account = Account {
            subscription: subscription(&url),
            principal: self.state().principal.clone(),
        };
        let put_off = |wait: Duration| TransportError {
            method,
            url: url.split('?').next().unwrap_or_default().to_owned(),
            message: format!(
                "put off for {} s: Azure's limit of {} for the subscription is reached",
                wait.as_secs(),
                sort.name()
            ),
            credential: false,
            retry_after: Some(wait),
        };
        let is_committed = self.admit(&account, sort).map_err(put_off)?;
        let answer = self.arm.send(request).await;
        let refusal = answer.as_ref().ok();
        if let Some(wait) = refusal.and_then(|answer| self.learn(&account, sort, answer)) {
            return Err(put_off(wait));
        }
        // Without an answer the write may have been done.
        let is_done = answer.as_ref().map_or(true, |answer| answer.status < 400);
        if !is_committed && method.is_write() && is_done {
            self.commit();
        }
        answer
    }

    async fn subscription(&self, credential: &CredentialKey) -> Result<String, TransportError> {
        self.arm.subscription(credential).await
    }

    async fn principal(&self, credential: &CredentialKey) -> String {
        self.arm.principal(credential).await
    }
}

/// The subscription that a path or URL is in, in lower case; empty when it is in none.
fn subscription(url: &str) -> String {
    let path = url.split('?').next().unwrap_or_default();
    let mut segments = path.split('/');
    let found = segments.find(|segment| segment.eq_ignore_ascii_case("subscriptions"));
    let id = found.and_then(|_| segments.next()).unwrap_or_default();
    id.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::subscription;

    #[test]
    fn requests_count_for_the_subscription_in_their_path() {
        let rows = [
            ("/subscriptions/S-1/resourceGroups/g?api-version=1", "s-1"),
            ("https://management.azure.com/Subscriptions/s-1", "s-1"),
            ("/providers/Microsoft.Management/managementGroups/g", ""),
            ("/providers/x?next=/subscriptions/s-1", ""),
        ];
        for (url, expected) in rows {
            assert_eq!(subscription(url), expected, "{url}");
        }
    }
}

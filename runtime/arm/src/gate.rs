//! The way of one pass to Azure: each request, of the driver and of extensions, goes through the budget.
//!
//! A request to another subscription than the one that was checked for the credential is not sent, unless an extension
//! says that its resource stands for that one. Nor is one whose path is outside of the scopes that the object's namespace may
//! use, with the exceptions of [`armature_reconcile::allowed_scopes`] and those that an extension names.
//!
//! Once something was changed in Azure, the rest of the pass is always sent: what Azure made of it must be read
//! and recorded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use armature_azure::budget::{Account, Budget, Call, Sent, Sort, Urgency};
use armature_azure::{
    CredentialKey, Method, Refused, RefusedUrl, Request, Response, Transport, TransportError,
};
use armature_reconcile::allowed_scopes::{Bound, Enforcement};
use armature_reconcile::time::Clock;
use armature_shapes::id::segment;
use armature_shapes::resource::ObjectKey;
use async_trait::async_trait;
use jiff::Timestamp;

use super::free::may_send;

/// The transport of one pass.
pub(crate) struct Gate {
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
    /// Where requests may go, once the credential is chosen.
    subscription: Option<String>,
    /// Where they may go as well.
    admitted: Vec<String>,
    /// What paths must be below; everywhere when absent.
    bound: Option<Bound>,
    /// Requests that an extension vouches for.
    admitted_paths: Vec<(Method, String)>,
    /// What was sent although it is outside of the scopes.
    outside: Vec<String>,
    /// The latest PUT may have arrived, and nobody heard what came of it.
    has_unanswered_put: bool,
    /// What ARM has recorded the latest PUT under, where it has taken it.
    correlation: Option<String>,
    sent: Sent,
    /// Writes that have no answer yet.
    writing: usize,
    /// The pass has taken too long: no write begins any more.
    is_late: bool,
    /// Azure is ahead of what the object says.
    is_committed: bool,
    put_off: Option<Duration>,
}

impl Gate {
    pub fn new(
        arm: Arc<dyn Transport>,
        budget: Arc<Budget>,
        clock: Arc<dyn Clock>,
        object: ObjectKey,
        urgency: Urgency,
    ) -> Self {
        Self {
            arm,
            budget,
            clock,
            object,
            urgency,
            state: Mutex::default(),
        }
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Counts requests from now on for who this credential stands for.
    pub async fn charge(&self, credential: &CredentialKey) {
        let principal = self.arm.principal(credential).await;
        self.state().principal = principal;
    }

    /// From here on requests may go to this subscription alone, and to what is in none.
    pub fn confine(&self, subscription: &str) {
        self.state().subscription = Some(subscription.to_owned());
    }

    /// From here on requests stay below these scopes.
    pub fn bind(&self, bound: Option<Bound>) {
        self.state().bound = bound;
    }

    /// What is to be told of requests that were sent although they are outside of the scopes.
    pub fn take_outside(&self) -> Vec<String> {
        std::mem::take(&mut self.state().outside)
    }

    /// Whether the latest PUT may have been carried out although no answer says so.
    pub fn has_unanswered_put(&self) -> bool {
        self.state().has_unanswered_put
    }

    /// What ARM has recorded the latest PUT under, where it has taken it; asked once.
    pub fn take_correlation(&self) -> Option<String> {
        self.state().correlation.take()
    }

    /// Lets no further write begin; whether one has no answer yet.
    pub fn ends_writes(&self) -> bool {
        let mut state = self.state();
        state.is_late = true;
        state.writing > 0
    }

    /// Refuses a write that would begin after the pass has taken too long.
    async fn check_time(&self, method: Method) -> Result<(), String> {
        if !method.is_write() || !self.state().is_late {
            return Ok(());
        }
        // Who only tries again would keep the pass from its end.
        tokio::task::yield_now().await;
        Err("not sent: the pass has taken too long".to_owned())
    }

    /// From here on every request is sent.
    pub fn commit(&self) {
        self.state().is_committed = true;
    }

    /// How long the pass has to wait for the budget, when a request was put off: nothing else may follow.
    pub fn put_off(&self) -> Option<Duration> {
        self.state().put_off
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

/// A write that has no answer yet.
struct Writing<'a>(&'a Gate);

impl<'a> Writing<'a> {
    fn begin(gate: &'a Gate) -> Self {
        gate.state().writing += 1;
        Self(gate)
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.state().writing -= 1;
    }
}

#[async_trait]
impl Transport for Gate {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        let (method, url) = (request.method, request.url.clone());
        let path = url.split('?').next().unwrap_or_default();
        let unsent = |message: String, refused: Option<Refused>| TransportError {
            method,
            url: path.to_owned(),
            message,
            credential: false,
            refused,
            retry_after: None,
        };
        if segment::has_dots(&url) {
            let message = RefusedUrl::Elsewhere.to_string();
            return Err(unsent(message, Some(Refused::Elsewhere)));
        }
        let subscription = segment::subscription_of(&url);
        self.state()
            .check_subscription(subscription.as_deref())
            .map_err(|message| unsent(message, Some(Refused::Elsewhere)))?;
        self.state()
            .check_scopes(method, &url)
            .map_err(|message| unsent(message, Some(Refused::Scope)))?;
        let in_time = self.check_time(method).await;
        in_time.map_err(|message| unsent(message, None))?;
        let sort = Sort::of(method);
        let account = Account {
            subscription: subscription.unwrap_or_default().to_ascii_lowercase(),
            principal: self.state().principal.clone(),
        };
        let put_off = |wait: Duration| {
            let seconds = wait.as_secs();
            let limit = format!("Azure's limit of {} for the subscription", sort.name());
            let message = format!("put off for {seconds} s: {limit} is reached");
            TransportError {
                retry_after: Some(wait),
                ..unsent(message, None)
            }
        };
        let is_committed = self.admit(&account, sort).map_err(put_off)?;
        let writing = method.is_write().then(|| Writing::begin(self));
        let answer = self.arm.send(request).await;
        drop(writing);
        let refusal = answer.as_ref().ok();
        if let Some(wait) = refusal.and_then(|answer| self.learn(&account, sort, answer)) {
            return Err(put_off(wait));
        }
        // Without an answer the write may have been done.
        let is_done = answer.as_ref().map_or(true, |answer| answer.status < 400);
        if !is_committed && method.is_write() && is_done {
            self.commit();
        }
        if method == Method::Put {
            let taken = answer.as_ref().ok().filter(|answer| answer.status < 300);
            let correlation = taken.and_then(Response::correlation).map(str::to_owned);
            let mut state = self.state();
            state.has_unanswered_put = may_be_done_unheard(&answer);
            state.correlation = correlation;
        }
        answer
    }

    async fn subscription(&self, credential: &CredentialKey) -> Result<String, TransportError> {
        self.arm.subscription(credential).await
    }

    async fn principal(&self, credential: &CredentialKey) -> String {
        self.arm.principal(credential).await
    }

    async fn names(&self, credential: &CredentialKey) -> Vec<String> {
        self.arm.names(credential).await
    }

    async fn endpoint(&self, credential: &CredentialKey) -> String {
        self.arm.endpoint(credential).await
    }

    fn admit_subscription(&self, subscription: &str) {
        self.state().admitted.push(subscription.to_owned());
    }

    fn admit_path(&self, method: Method, url: &str) {
        let path = segment::path_from_root(url);
        self.state().admitted_paths.push((method, path));
    }
}

impl State {
    /// Refuses a request to another subscription than the one that was checked for the credential.
    fn check_subscription(&self, asked: Option<&str>) -> Result<(), String> {
        let (Some(asked), Some(checked)) = (asked, &self.subscription) else {
            return Ok(());
        };
        let mut open = self.admitted.iter().chain([checked]);
        if open.any(|open| asked.eq_ignore_ascii_case(open)) {
            return Ok(());
        }
        Err(format!(
            "refused: the URL is in subscription '{asked}', but the credential is for {checked}"
        ))
    }

    /// Refuses a request outside of the scopes of the namespace, or notes that it was sent all the same.
    fn check_scopes(&mut self, method: Method, url: &str) -> Result<(), String> {
        let Some(bound) = &self.bound else {
            return Ok(());
        };
        let path = segment::path_from_root(url);
        let is_admitted =
            |(by, at): &(Method, String)| *by == method && at.eq_ignore_ascii_case(&path);
        if may_send(&bound.scopes, method, url) || self.admitted_paths.iter().any(is_admitted) {
            return Ok(());
        }
        let message = bound.advice();
        match bound.enforcement {
            Enforcement::Enforce => Err(message),
            Enforcement::Warn => {
                self.outside.push(format!("{method} {path}: {message}"));
                Ok(())
            }
        }
    }
}

/// Whether a write may have been carried out although nobody heard of it: its answer was lost on the way, a gateway gave up
/// waiting for it, or the service failed while it worked on it.
fn may_be_done_unheard(answer: &Result<Response, TransportError>) -> bool {
    match answer {
        Ok(response) => matches!(response.status, 408 | 500 | 502..=504),
        Err(error) => !error.credential && error.refused.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::State;

    #[test]
    fn requests_stay_in_the_subscription_that_was_checked_and_those_that_were_admitted() {
        let rows = [
            (Some("s-1"), Some("S-1"), true),
            (Some("s-2"), Some("s-1"), false),
            (Some(""), Some("s-1"), false),
            // That of the resource.
            (Some("S-3"), Some("s-1"), true),
            // Of a tenant, and before a credential is chosen.
            (None, Some("s-1"), true),
            (Some("s-1"), None, true),
        ];
        for (asked, checked, expected) in rows {
            let state = State {
                subscription: checked.map(str::to_owned),
                admitted: vec!["s-3".to_owned()],
                ..State::default()
            };
            let found = state.check_subscription(asked).is_ok();
            assert_eq!(found, expected, "{asked:?} {checked:?}");
        }
    }
}

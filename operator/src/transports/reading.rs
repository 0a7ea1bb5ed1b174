//! A transport that lets reads pass to Azure and refuses whatever writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use armature_runtime::azure::budget::{Account, Budget, Sort, Urgency};
use armature_runtime::azure::{
    CredentialKey, Method, Refused, Request, Response, Transport, TransportError,
};
use armature_runtime::id::ResourceId;
use armature_runtime::id::segment::subscription_of;
use armature_runtime::reconcile::time::{Clock, Time};
use async_trait::async_trait;
use serde_json::{Value, json};

use super::recording::{path, path_of};

/// What to do for somebody who has no credential.
pub const NOBODY: &str = "nobody is signed in to Azure: run `az login`, or set AZURE_SUBSCRIPTION_ID, AZURE_TENANT_ID, \
                          AZURE_CLIENT_ID and AZURE_CLIENT_SECRET";

/// How the headers begin that tell how many requests Azure takes.
const LEFT: &str = "x-ms-ratelimit-remaining-";

/// Wait for a place in the budget.
const BUSY: Duration = Duration::from_millis(200);

/// Azure as it would be after what is planned so far. Reads go to Azure, but for those about what is to be made: Azure
/// cannot know it yet.
pub struct Reading {
    azure: Arc<dyn Transport>,
    /// What Azure takes. A request that is answered here takes no place in it.
    budget: Option<(Arc<Budget>, Time)>,
    /// Whether there is a credential beside those in Secrets.
    is_signed_in: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What is to be made, by path in lower case.
    made: BTreeMap<String, Value>,
    /// What is to be deleted, by path in lower case.
    gone: BTreeSet<String>,
    sent: usize,
    refused: usize,
    unsigned: usize,
}

impl Reading {
    /// Reads go to this one.
    pub fn new(azure: Arc<dyn Transport>) -> Self {
        Self {
            azure,
            budget: None,
            is_signed_in: true,
            state: Mutex::default(),
        }
    }

    /// The same within a budget, and with or without a credential beside those in Secrets.
    pub fn within(self, budget: Arc<Budget>, time: Time, is_signed_in: bool) -> Self {
        Self {
            budget: Some((budget, time)),
            is_signed_in,
            ..self
        }
    }

    /// How often there was no credential.
    pub fn unsigned(&self) -> usize {
        self.state().unsigned
    }

    /// Whether there is no credential for a request. The long text about it is told once, and not of each resource.
    fn lacks(&self, credential: &CredentialKey, url: &str) -> Result<(), TransportError> {
        if self.is_signed_in || *credential != CredentialKey::Global {
            return Ok(());
        }
        self.state().unsigned += 1;
        Err(TransportError {
            method: Method::Get,
            url: path(url),
            message: "there is no Azure credential".to_owned(),
            credential: true,
            refused: None,
            retry_after: None,
        })
    }

    /// Waits until Azure takes one more; returns who it is counted for.
    async fn place(&self, request: &Request) -> Option<Account> {
        let (budget, time) = self.budget.as_ref()?;
        let subscription = subscription_of(&request.url).unwrap_or_default();
        let account = Account {
            subscription: subscription.to_ascii_lowercase(),
            principal: self.azure.principal(&request.credential).await,
        };
        let what = (Sort::Reads, Urgency::Foreground);
        while !budget.take_if_left(&account, what, time.now()) {
            time.sleep_until(time.instant() + BUSY).await;
        }
        Some(account)
    }

    /// From here on the resource is taken to be there, and nothing below it that is not taken so too.
    pub fn assume(&self, id: &ResourceId) {
        let body = json!({
            "id": id.as_str(),
            "name": id.name(),
            "properties": { "provisioningState": "Succeeded" },
        });
        self.state().made.insert(path_of(id), body);
    }

    /// From here on the resource is taken to be gone, with all below it.
    pub fn assume_gone(&self, id: &ResourceId) {
        self.state().gone.insert(path_of(id));
    }

    /// How many requests were sent.
    pub fn sent(&self) -> usize {
        self.state().sent
    }

    /// How many requests were refused, because they would have written.
    pub fn refused(&self) -> usize {
        self.state().refused
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Plain values: a panic cannot leave them half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer of a world in which what is planned has been made; nothing where Azure knows better.
    fn foreseen(&self, url: &str) -> Option<Response> {
        let path = path(url);
        let state = self.state();
        if let Some(body) = state.made.get(&path) {
            return Some(answer(200, body.clone()));
        }
        let above = |above: &String| {
            let rest = path.strip_prefix(above.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        let is_gone = state.gone.contains(&path) || state.gone.iter().any(above);
        (is_gone || state.made.keys().any(above)).then(|| {
            let message = "by then it is not there, or not yet";
            let error = json!({"code": "ResourceNotFound", "message": message});
            answer(404, json!({ "error": error }))
        })
    }
}

fn answer(status: u16, body: Value) -> Response {
    Response {
        status,
        // Without one, no word about absence is believed.
        headers: [("x-ms-request-id".to_owned(), "plan".to_owned())].into(),
        body: Some(body),
    }
}

#[async_trait]
impl Transport for Reading {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        if request.method.is_write() {
            self.state().refused += 1;
            return Err(TransportError {
                method: request.method,
                url: path(&request.url),
                message: "a plan writes nothing, so this was not sent".to_owned(),
                credential: false,
                refused: Some(Refused::Elsewhere),
                retry_after: None,
            });
        }
        if let Some(foreseen) = self.foreseen(&request.url) {
            return Ok(foreseen);
        }
        self.lacks(&request.credential, &request.url)?;
        let account = self.place(&request).await;
        self.state().sent += 1;
        let mut answer = self.azure.send(request).await;
        if let (Some((budget, time)), Some(account), Ok(answer)) =
            (&self.budget, &account, &mut answer)
        {
            budget.learn(account, Sort::Reads, answer, time.now());
            // What is left is kept here alone: a pass that counted, too, would begin anew after each answer.
            answer.headers.retain(|name, _| !name.starts_with(LEFT));
        }
        answer
    }

    async fn subscription(&self, credential: &CredentialKey) -> Result<String, TransportError> {
        self.lacks(credential, "/subscriptions")?;
        self.azure.subscription(credential).await
    }

    async fn principal(&self, credential: &CredentialKey) -> String {
        self.azure.principal(credential).await
    }

    async fn names(&self, credential: &CredentialKey) -> Vec<String> {
        self.azure.names(credential).await
    }

    async fn endpoint(&self, credential: &CredentialKey) -> String {
        self.azure.endpoint(credential).await
    }
}

#[cfg(test)]
mod tests {
    use armature_runtime::azure::budget::{Limit, Limits};

    use super::super::recording::Recording;
    use super::*;

    async fn send(azure: &Reading, method: Method, url: &str) -> Result<u16, TransportError> {
        let request = Request {
            method,
            url: url.to_owned(),
            body: None,
            if_match: None,
            credential: CredentialKey::Global,
        };
        azure.send(request).await.map(|answer| answer.status)
    }

    #[tokio::test]
    async fn every_write_is_refused_and_reads_pass() {
        let group = "/subscriptions/s/resourceGroups/g";
        let there = [(group.to_lowercase(), json!({}))];
        let azure = Arc::new(Recording::new("s", Arc::new(there.into()), None));
        let reading = Reading::new(azure.clone());
        assert_eq!(send(&reading, Method::Get, group).await.unwrap(), 200);
        for method in [Method::Put, Method::Patch, Method::Post, Method::Delete] {
            let refused = send(&reading, method, group).await.unwrap_err();
            assert!(refused.refused.is_some(), "{method}");
        }
        assert!(azure.put().is_none());
        assert_eq!((reading.sent(), reading.refused()), (1, 4));
    }

    #[tokio::test]
    async fn what_is_planned_is_there_and_nothing_below_it() {
        let azure = Arc::new(Recording::new("s", Arc::default(), None));
        let reading = Reading::new(azure);
        let group = ResourceId::parse("/subscriptions/s/resourceGroups/G").unwrap();
        reading.assume(&group);
        let url = group.url("2020-06-01");
        assert_eq!(send(&reading, Method::Get, &url).await.unwrap(), 200);
        let below = format!("{}/providers/P.Q/r/n", group.as_str());
        assert_eq!(send(&reading, Method::Get, &below).await.unwrap(), 404);
        assert_eq!(reading.sent(), 0);
        // Another one whose name begins alike is Azure's to tell.
        let other = format!("{}2", group.as_str());
        assert_eq!(send(&reading, Method::Get, &other).await.unwrap(), 404);
        assert_eq!(reading.sent(), 1);
        let other = ResourceId::parse("/subscriptions/s/resourceGroups/other").unwrap();
        reading.assume_gone(&other);
        let below = format!("{}/providers/P.Q/r/n", other.as_str());
        for url in [other.as_str(), &below] {
            assert_eq!(send(&reading, Method::Get, url).await.unwrap(), 404);
        }
        assert_eq!(reading.sent(), 1);
    }

    #[tokio::test]
    async fn only_what_goes_to_azure_takes_a_place_in_the_budget() {
        let azure = Arc::new(Recording::new("s", Arc::default(), None));
        let limits = Limits {
            reads: Limit {
                size: 10.0,
                per_second: 0.1,
            },
            ..Limits::default()
        };
        let (budget, time) = (Arc::new(Budget::new(limits)), Time::times(1000));
        let reading = Reading::new(azure).within(budget.clone(), time, true);
        let group = ResourceId::parse("/subscriptions/s/resourceGroups/G").unwrap();
        reading.assume(&group);
        for number in 0..100 {
            let below = format!("{}/providers/P.Q/r/n{number}", group.as_str());
            assert_eq!(send(&reading, Method::Get, &below).await.unwrap(), 404);
        }
        let other = "/subscriptions/s/resourceGroups/other";
        let started = time.now();
        assert_eq!(send(&reading, Method::Get, other).await.unwrap(), 404);
        let waited = time.now().duration_since(started);
        assert!(
            waited.as_secs_f64() < 0.5,
            "nobody had taken it: {waited:?}"
        );
        assert_eq!(reading.sent(), 1);
    }

    /// Azure says that little is left, which is waited for here; a pass would put itself off and begin anew.
    #[tokio::test]
    async fn how_much_is_left_is_told_to_nobody_else() {
        struct NearlyEmpty;
        #[async_trait]
        impl Transport for NearlyEmpty {
            async fn send(&self, _: Request) -> Result<Response, TransportError> {
                let header = |name: &str| (name.to_owned(), "1".to_owned());
                Ok(Response {
                    status: 200,
                    headers: [
                        header("x-ms-ratelimit-remaining-subscription-reads"),
                        header("etag"),
                    ]
                    .into(),
                    body: None,
                })
            }
            async fn subscription(&self, _: &CredentialKey) -> Result<String, TransportError> {
                Ok("s".to_owned())
            }
            async fn principal(&self, _: &CredentialKey) -> String {
                String::new()
            }
        }
        let budget = Arc::new(Budget::new(Limits::default()));
        let reading = Reading::new(Arc::new(NearlyEmpty)).within(budget, Time::times(1000), true);
        let answer = reading
            .send(Request {
                method: Method::Get,
                url: "/subscriptions/s".to_owned(),
                body: None,
                if_match: None,
                credential: CredentialKey::Global,
            })
            .await;
        let headers: Vec<String> = answer.unwrap().headers.into_keys().collect();
        assert_eq!(headers, ["etag"]);
    }

    #[tokio::test]
    async fn without_a_credential_nothing_is_sent() {
        let azure = Arc::new(Recording::new("s", Arc::default(), None));
        let budget = Arc::new(Budget::new(Limits::default()));
        let reading = Reading::new(azure).within(budget, Time::default(), false);
        let refused = send(&reading, Method::Get, "/subscriptions/s").await;
        assert!(refused.unwrap_err().credential);
        let subscription = reading.subscription(&CredentialKey::Global).await;
        assert!(subscription.is_err());
        assert_eq!((reading.sent(), reading.unsigned()), (0, 2));
    }
}

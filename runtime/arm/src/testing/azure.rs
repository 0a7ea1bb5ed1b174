//! An Azure in memory.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use armature_azure::{
    Cloud, CredentialKey, Method, Refused, Request, Response, Transport, TransportError,
};
use armature_reconcile::testing::Journal;
use async_trait::async_trait;
use serde_json::{Map, Value, json};

/// Absolute URLs of other hosts are refused, as the client does.
const ENDPOINT: &str = "https://management.azure.com";

/// Segment of resources in which others are made: the kind `Store` of the tests.
const STORES: &str = "stores";

/// Keeps what was PUT, answers GET with it and forgets it on DELETE; answers from a script where there is one.
pub struct MemoryAzure {
    journal: Journal,
    subscription: String,
    state: Mutex<State>,
}

/// How a service words what it has when it is asked for the n-th time.
pub type Manner = fn(&mut Value, usize);

#[derive(Default)]
struct State {
    resources: BTreeMap<String, Value>,
    script: HashMap<(Method, String), VecDeque<Response>>,
    silent: HashSet<(Method, String)>,
    lost: HashSet<(Method, String)>,
    /// How many requests come before the slow one, and how long it takes.
    slow: HashMap<(Method, String), (usize, Duration)>,
    bodies: Vec<Value>,
    manner: Option<Manner>,
    reads: usize,
    ignores_etags: bool,
}

impl MemoryAzure {
    /// An empty Azure in which every credential is for this subscription.
    pub fn new(journal: Journal, subscription: &str) -> Self {
        Self {
            journal,
            subscription: subscription.to_owned(),
            state: Mutex::default(),
        }
    }

    /// The next answer to requests of this method and path (without query), before later ones.
    pub fn script(&self, method: Method, path: &str, response: Response) {
        let mut state = lock(&self.state);
        let at = (method, path.to_owned());
        state.script.entry(at).or_default().push_back(response);
    }

    /// The next answer to requests of this method and path, instead of all that were to come.
    pub fn replace_script(&self, method: Method, path: &str, response: Response) {
        let at = (method, path.to_owned());
        lock(&self.state).script.insert(at, [response].into());
    }

    /// From now on every request is answered by what is there.
    pub fn clear_script(&self) {
        lock(&self.state).script.clear();
    }

    /// The next request of this method and path arrives, and nobody hears of it again.
    pub fn fall_silent(&self, method: Method, path: &str) {
        let at = (method, path.to_owned());
        lock(&self.state).silent.insert(at);
    }

    /// The next request of this method and path arrives, and the connection is cut before an answer comes.
    pub fn lose_answer(&self, method: Method, path: &str) {
        let at = (method, path.to_owned());
        lock(&self.state).lost.insert(at);
    }

    /// The next request of this method and path but so many is carried out, and its answer takes this long.
    pub fn delay(&self, method: Method, path: &str, before: usize, by: Duration) {
        let at = (method, path.to_owned());
        lock(&self.state).slow.insert(at, (before, by));
    }

    /// Puts a resource there, or changes it behind the operator's back.
    pub fn set(&self, path: &str, body: Value) {
        lock(&self.state).resources.insert(path.to_owned(), body);
    }

    /// From now on every GET words the resource in this manner.
    pub fn answer_in(&self, manner: Manner) {
        lock(&self.state).manner = Some(manner);
    }

    /// From now on `If-Match` is not looked at.
    pub fn ignore_etags(&self) {
        lock(&self.state).ignores_etags = true;
    }

    /// Takes a resource away.
    pub fn remove(&self, path: &str) {
        lock(&self.state).resources.remove(path);
    }

    /// The resource, if it exists.
    pub fn get(&self, path: &str) -> Option<Value> {
        let mut body = lock(&self.state).resources.get(path).cloned()?;
        complete(path, &mut body);
        Some(body)
    }

    /// Bodies of PUTs so far, which are forgotten here.
    pub fn take_bodies(&self) -> Vec<Value> {
        std::mem::take(&mut lock(&self.state).bodies)
    }
}

/// An answer.
pub fn response(status: u16, headers: &[(&str, &str)], body: Option<Value>) -> Response {
    let headers = headers.iter();
    Response {
        status,
        headers: headers
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        body,
    }
}

/// An error answer in ARM's form.
pub fn error(status: u16, code: &str) -> Response {
    let body = json!({ "error": { "code": code, "message": format!("because of {code}") } });
    response(status, &[("x-ms-request-id", "request-1")], Some(body))
}

/// What the client says when there is no answer.
fn no_answer(request: &Request, message: String, is_refused: bool) -> TransportError {
    TransportError {
        method: request.method,
        url: request.url.clone(),
        message,
        credential: false,
        refused: is_refused.then_some(Refused::Elsewhere),
        retry_after: None,
    }
}

/// What Azure makes of a body: its id, and done at once.
fn created(path: &str, body: &Value) -> Value {
    let mut resource = body.clone();
    resource["id"] = json!(path);
    resource["properties"]["provisioningState"] = json!("Succeeded");
    resource
}

/// Whether the resource has another etag than the request wants.
fn is_overtaken(request: &Request, known: &Value) -> bool {
    let wanted = request.if_match.as_deref();
    wanted.is_some() && known.get("etag").and_then(Value::as_str) != wanted
}

impl State {
    /// How long the answer to this request takes, where a test says so.
    fn delay_of(&mut self, at: &(Method, String)) -> Option<Duration> {
        let (before, _) = self.slow.get_mut(at)?;
        match before.checked_sub(1) {
            Some(left) => {
                *before = left;
                None
            }
            None => self.slow.remove(at).map(|(_, by)| by),
        }
    }

    fn answer(&mut self, request: &Request, path: &str) -> Response {
        let known = self.resources.get(path).cloned();
        match (request.method, known) {
            (Method::Get, Some(mut body)) => {
                self.reads += 1;
                complete(path, &mut body);
                if let Some(manner) = self.manner {
                    manner(&mut body, self.reads);
                }
                response(200, &[], Some(body))
            }
            (Method::Head, Some(_)) => response(200, &[], None),
            (Method::Put, Some(known)) if !self.ignores_etags && is_overtaken(request, &known) => {
                error(412, "PreconditionFailed")
            }
            (Method::Put, known) => {
                let body = created(path, request.body.as_ref().unwrap_or(&Value::Null));
                self.resources.insert(path.to_owned(), body.clone());
                let status = if known.is_some() { 200 } else { 201 };
                response(status, &[], Some(body))
            }
            (Method::Delete, Some(_)) => {
                self.resources.remove(path);
                response(200, &[], None)
            }
            (Method::Delete, None) => response(204, &[], None),
            _ => error(404, "ResourceNotFound"),
        }
    }
}

/// What every resource has in Azure: its id, and lists of what is made in it.
fn complete(path: &str, body: &mut Value) {
    let Some(members) = body.as_object_mut() else {
        return;
    };
    let id = || Value::String(path.to_owned());
    members.entry("id").or_insert_with(id);
    let mut segments = path.rsplit('/').skip(1);
    if segments.next() == Some(STORES) {
        let none = || Value::Object(Map::new());
        let properties = members.entry("properties").or_insert_with(none);
        if let Some(properties) = properties.as_object_mut() {
            let boxes = properties.entry("boxes");
            boxes.or_insert_with(|| Value::Array(Vec::new()));
        }
    }
}

#[async_trait]
impl Transport for MemoryAzure {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        let path = request.url.split('?').next().unwrap_or(&request.url);
        let cloud = Cloud::new(ENDPOINT, "https://login.microsoftonline.com", ENDPOINT);
        let url = cloud.as_ref().ok().map(|cloud| cloud.resolve(&request.url));
        if let Some(Err(refused)) = url {
            return Err(no_answer(&request, refused.to_string(), true));
        }
        self.journal.note(format!("{} {path}", request.method));
        let at = (request.method, path.to_owned());
        if lock(&self.state).silent.remove(&at) {
            return std::future::pending().await;
        }
        if lock(&self.state).lost.remove(&at) {
            return Err(no_answer(
                &request,
                "the connection was reset".to_owned(),
                false,
            ));
        }
        let delay = lock(&self.state).delay_of(&at);
        if let Some(delay) = delay {
            tokio::time::sleep(delay).await;
        }
        let mut state = lock(&self.state);
        if request.method == Method::Put {
            let body = request.body.clone().unwrap_or_default();
            state.bodies.push(body);
        }
        let scripted = state.script.get_mut(&at).and_then(VecDeque::pop_front);
        Ok(match scripted {
            Some(response) => response,
            None => state.answer(&request, path),
        })
    }

    async fn subscription(&self, _: &CredentialKey) -> Result<String, TransportError> {
        Ok(self.subscription.clone())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

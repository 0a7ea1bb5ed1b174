//! Between an operator and the real API server: passes requests on, and does harm to those that a rule names, or answers
//! them late.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, BodyStream, Full, StreamBody};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use kube::client::Body;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// Somebody else was faster.
    Conflict,
    /// The API server fails.
    Internal,
    /// The API server cannot convert the object.
    ConversionAway,
    /// The request is carried out, and its answer lost.
    AnswerLost,
    /// All watches end just then.
    LostWatches,
    /// All watches end, and cannot go on from where they were.
    Expired,
}

impl Harm {
    pub const ALL: [Self; 6] = [
        Self::Conflict,
        Self::Internal,
        Self::ConversionAway,
        Self::AnswerLost,
        Self::LostWatches,
        Self::Expired,
    ];

    /// What the API server says.
    fn refusal(self) -> Option<(u16, &'static str, &'static str)> {
        match self {
            Self::Conflict => Some((409, "Conflict", "the object has been modified")),
            Self::Internal => Some((500, "InternalError", "etcdserver: request timed out")),
            Self::ConversionAway => Some((
                500,
                "InternalError",
                "conversion webhook for network.azure.com failed: Post \"https://127.0.0.1/convert\": connection refused",
            )),
            Self::AnswerLost => Some((502, "BadGateway", "the connection was lost")),
            Self::LostWatches | Self::Expired => None,
        }
    }
}

/// Harm to one request for an object.
struct Rule {
    /// Requests for the object that pass first.
    skip: usize,
    harm: Harm,
}

#[derive(Default)]
struct State {
    /// By the path of the object.
    rules: BTreeMap<String, Rule>,
    /// Requests so far, by the path of the object: method, and whether of the status.
    seen: BTreeMap<String, Vec<String>>,
    /// Paths that are watched.
    watched: BTreeSet<String>,
    /// Paths whose next watch must begin anew.
    expired: BTreeSet<String>,
    /// By path, how late requests are carried out, and answered after that.
    late: BTreeMap<String, (Duration, Duration)>,
}

/// The proxy. Clones are the same.
#[derive(Clone)]
pub struct Proxy {
    client: kube::Client,
    state: Arc<Mutex<State>>,
    /// Changes when all watches are cut.
    cut: watch::Sender<()>,
}

type Answer = Response<UnsyncBoxBody<Bytes, kube::Error>>;

impl Proxy {
    /// Listens on a free port. Stops with the runtime.
    pub async fn start(client: kube::Client) -> (Self, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let proxy = Self {
            client,
            state: Arc::default(),
            cut: watch::Sender::new(()),
        };
        let serving = proxy.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let proxy = serving.clone();
                tokio::spawn(async move {
                    let service = service_fn(|request| {
                        let proxy = proxy.clone();
                        async move { Ok::<_, Infallible>(proxy.answer(request).await) }
                    });
                    let builder = auto::Builder::new(TokioExecutor::new());
                    // Clients come and go.
                    let _ = builder
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        (proxy, address)
    }

    /// Harms a request for the object, after so many that pass since it was forgotten.
    pub fn harm(&self, object: &str, skip: usize, harm: Harm) {
        let rule = Rule { skip, harm };
        self.state().rules.insert(object.to_owned(), rule);
    }

    /// Carries requests for this path out late, and answers them later still, from now on.
    pub fn delay(&self, path: &str, there: Duration, back: Duration) {
        let late = (there, back);
        self.state().late.insert(path.to_owned(), late);
    }

    /// Requests for the object since it was forgotten: methods, and `status` where it is of that.
    pub fn seen(&self, object: &str) -> Vec<String> {
        self.state().seen.get(object).cloned().unwrap_or_default()
    }

    /// Does no more harm to the object, and counts its requests anew.
    pub fn forget(&self, object: &str) {
        let mut state = self.state();
        state.seen.remove(object);
        state.rules.remove(object);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let path = request.uri().path().to_owned();
        let query = request.uri().query().unwrap_or_default().to_owned();
        if query.contains("watch=true") {
            return self.watch(request, path, &query).await;
        }
        let late = self.state().late.get(&path).copied();
        if let Some((there, back)) = late {
            tokio::time::sleep(there).await;
            let answer = self.pass(request).await;
            tokio::time::sleep(back).await;
            return answer;
        }
        let Some(harm) = self.strike(request.method().as_str(), &path) else {
            return self.pass(request).await;
        };
        let Some(refusal) = harm.refusal() else {
            self.cut_watches(harm == Harm::Expired);
            return self.pass(request).await;
        };
        if harm == Harm::AnswerLost {
            self.pass(request).await;
        }
        refuse(refusal)
    }

    /// Counts a request for an object, and says what is done to it.
    fn strike(&self, method: &str, path: &str) -> Option<Harm> {
        let (object, step) = match path.strip_suffix("/status") {
            Some(object) => (object, format!("{method} status")),
            None => (path, method.to_owned()),
        };
        let mut state = self.state();
        let seen = state.seen.entry(object.to_owned()).or_default();
        seen.push(step);
        let number = seen.len();
        let rule = state.rules.get(object)?;
        (number == rule.skip + 1).then_some(rule.harm)
    }

    fn cut_watches(&self, is_expired: bool) {
        let mut state = self.state();
        if is_expired {
            state.expired = state.watched.clone();
        }
        drop(state);
        self.cut.send_replace(());
    }

    async fn watch(&self, request: Request<Incoming>, path: String, query: &str) -> Answer {
        let mut cut = self.cut.subscribe();
        let goes_on = query
            .split('&')
            .any(|part| part.starts_with("resourceVersion=") && part != "resourceVersion=0");
        let is_expired = {
            let mut state = self.state();
            state.watched.insert(path.clone());
            state.expired.remove(&path) && goes_on
        };
        if is_expired {
            return refuse((410, "Expired", "too old resource version"));
        }
        let (parts, body) = self.pass(request).await.into_parts();
        let until = async move {
            // The proxy lives as long as its connections.
            let _ = cut.changed().await;
        };
        let frames = BodyStream::new(body).take_until(Box::pin(until));
        Response::from_parts(parts, StreamBody::new(frames).boxed_unsync())
    }

    async fn pass(&self, request: Request<Incoming>) -> Answer {
        let (parts, body) = request.into_parts();
        let body = match body.collect().await {
            Ok(body) => body.to_bytes().to_vec(),
            Err(error) => return refuse((400, "BadRequest", &error.to_string())),
        };
        let mut onwards = Request::builder()
            .method(parts.method)
            .uri(parts.uri.path_and_query().unwrap().as_str());
        for (name, value) in &parts.headers {
            if name != http::header::HOST {
                onwards = onwards.header(name, value);
            }
        }
        let onwards = onwards.body(Body::from(body)).unwrap();
        match self.client.send(onwards).await {
            Ok(answer) => answer.map(BodyExt::boxed_unsync),
            Err(error) => refuse((503, "ServiceUnavailable", &error.to_string())),
        }
    }
}

fn refuse((code, reason, message): (u16, &str, &str)) -> Answer {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {},
        "status": "Failure", "code": code, "reason": reason, "message": message,
    });
    let body = Full::new(Bytes::from(status.to_string()));
    Response::builder()
        .status(code)
        .header("content-type", "application/json")
        .body(body.map_err(|never| match never {}).boxed_unsync())
        .unwrap()
}

//! Connections to the API server.
//!
//! kube's own stack speaks HTTP/1.1, which costs one TLS connection per watch, and retries on its own for
//! minutes. Here requests are never retried (the queue backs off) and streams share HTTP/2 connections.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use armature_reconcile::queue::{Answers, ApiServer};
use http::{Response, StatusCode};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::{Body, ClientBuilder, ConfigExt};
use kube::{Client, Config};
use tower::util::{MapFutureLayer, option_layer};
use tower::{BoxError, ServiceBuilder, ServiceExt};

/// Watches on one HTTP/2 connection. The API server accepts 100 streams per connection unless told otherwise
/// (`--http2-max-streams-per-connection`), and hyper waits without a word when they are used up.
const WATCHES_PER_CONNECTION: usize = 80;

/// How long a connection may be silent. Pings find a dead peer although nothing comes from it; HTTP/1 has none, nor has a
/// connection through a proxy: there the one who asks has to give up.
#[derive(Clone, Copy)]
struct Patience {
    connect: Duration,
    ping_every: Duration,
    ping_answer: Duration,
}

/// For watches, which are silent for long, and for requests.
const PATIENCE: Patience = Patience {
    connect: Duration::from_secs(15),
    ping_every: Duration::from_secs(30),
    ping_answer: Duration::from_secs(15),
};

/// For the Lease: a leader that cannot renew it stops after 10 s, so a dead connection must be found, and another one made,
/// before.
const LEASE_PATIENCE: Patience = Patience {
    connect: Duration::from_secs(3),
    ping_every: Duration::from_secs(2),
    ping_answer: Duration::from_secs(2),
};

/// Why no client could be built.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No kubeconfig and not in a cluster.
    #[error(
        "cannot find out how to reach the Kubernetes API: {0}; set KUBECONFIG or run inside a cluster"
    )]
    Config(#[from] kube::config::InferConfigError),
    /// TLS, certificates or credentials of the configuration.
    #[error("the Kubernetes client configuration cannot be used: {0}")]
    Client(#[from] kube::Error),
    /// The name to verify the server's certificate against.
    #[error("tls-server-name `{name}` in the kubeconfig is no valid host name")]
    ServerName {
        /// As written.
        name: String,
    },
}

/// What became of requests since somebody asked, watches and lists of objects aside.
#[derive(Default)]
struct RecentAnswers(Mutex<Answers>);

impl RecentAnswers {
    fn note<B>(&self, took: Duration, answer: Result<&Response<B>, &BoxError>) {
        let Ok(answer) = answer else { return };
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.count = answers.count.saturating_add(1);
        answers.took = answers.took.saturating_add(took);
        if answer.status() == StatusCode::TOO_MANY_REQUESTS {
            answers.refused = answers.refused.saturating_add(1);
        }
    }
}

impl ApiServer for RecentAnswers {
    fn answers(&self) -> Answers {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Clients of one API server: one for requests, one for passes, one for the Lease, and as many as the watches need.
///
/// A connection is driven on the threads of whoever opened it, and whoever shares it waits for these.
#[derive(Clone)]
pub struct Clients {
    requests: Client,
    passes: Client,
    lease: Client,
    watches: Arc<[Connection]>,
    answers: Arc<RecentAnswers>,
}

/// A connection for watches. Clones of `streams` stand for the watches on it.
struct Connection {
    client: Client,
    streams: Arc<()>,
}

impl Connection {
    fn has_room(&self) -> bool {
        // One is the connection's own.
        Arc::strong_count(&self.streams) <= WATCHES_PER_CONNECTION
    }
}

/// A client for one watch, which has its place on a connection for as long as this lives.
pub struct WatchClient {
    client: Client,
    _stream: Arc<()>,
}

impl WatchClient {
    /// The client itself.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

#[cfg(test)]
impl From<Client> for Clients {
    /// One for all.
    fn from(client: Client) -> Self {
        let streams = Arc::default();
        Self {
            requests: client.clone(),
            passes: client.clone(),
            lease: client.clone(),
            watches: [Connection { client, streams }].into(),
            answers: Arc::default(),
        }
    }
}

#[cfg(test)]
impl From<Client> for WatchClient {
    /// A place that it shares with nobody.
    fn from(client: Client) -> Self {
        let _stream = Arc::default();
        Self { client, _stream }
    }
}

impl Clients {
    /// Clients from `KUBECONFIG`, `~/.kube/config` or the pod's service account, for at most this many watches.
    pub async fn infer(watches: usize) -> Result<Self, ClientError> {
        Self::connect(&Config::infer().await?, watches)
    }

    /// Clients from a configuration, for at most this many watches at a time. Nothing is sent yet.
    pub fn connect(config: &Config, watches: usize) -> Result<Self, ClientError> {
        let connection = |_| {
            let client = build(config, Arc::default(), PATIENCE)?;
            let streams = Arc::default();
            Ok::<_, ClientError>(Connection { client, streams })
        };
        let connections = watches.div_ceil(WATCHES_PER_CONNECTION).max(1);
        let answers = Arc::<RecentAnswers>::default();
        Ok(Self {
            requests: build(config, Arc::clone(&answers), PATIENCE)?,
            passes: build(config, Arc::clone(&answers), PATIENCE)?,
            lease: build(config, Arc::default(), LEASE_PATIENCE)?,
            watches: (0..connections).map(connection).collect::<Result<_, _>>()?,
            answers,
        })
    }

    /// The client for everything that ends soon and is no pass over an object.
    pub fn requests(&self) -> &Client {
        &self.requests
    }

    /// The client of passes over objects, which may hold their threads, and with them these connections.
    pub fn passes(&self) -> &Client {
        &self.passes
    }

    /// The client of a leader for its Lease: on a connection of its own, so that a dead one is found in time.
    pub fn lease(&self) -> &Client {
        &self.lease
    }

    /// How the API server answers what ends soon.
    pub fn answers(&self) -> Arc<dyn ApiServer> {
        self.answers.clone()
    }

    /// A client for another watch: on the first connection that has room, so that few are opened.
    pub fn watch(&self) -> WatchClient {
        let with_room = self.watches.iter().find(|connection| connection.has_room());
        let Connection { client, streams } = with_room.unwrap_or_else(|| {
            tracing::warn!("there are more watches than expected; some may wait for others to end");
            &self.watches[0]
        });
        WatchClient {
            client: client.clone(),
            _stream: Arc::clone(streams),
        }
    }
}

/// A client, of which it is noted how the API server answers.
fn build(
    config: &Config,
    answers: Arc<RecentAnswers>,
    patience: Patience,
) -> Result<Client, ClientError> {
    if config.proxy_url.is_some() {
        let mut config = config.clone();
        config.default_retry = false;
        config.connect_timeout = Some(patience.connect);
        let noting = MapFutureLayer::new(move |answer| noted(answer, Arc::clone(&answers)));
        return Ok(ClientBuilder::try_from(config)?.with_layer(&noting).build());
    }
    let mut builder = hyper_rustls::HttpsConnectorBuilder::new()
        .with_tls_config(config.rustls_client_config()?)
        .https_or_http();
    if let Some(name) = &config.tls_server_name {
        let server_name = name
            .clone()
            .try_into()
            .map_err(|_| ClientError::ServerName { name: name.clone() })?;
        builder = builder
            .with_server_name_resolver(hyper_rustls::FixedServerNameResolver::new(server_name));
    }
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_connect_timeout(Some(patience.connect));
    tcp.set_nodelay(true);
    let http: HttpClient<_, Body> = HttpClient::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .http2_keep_alive_interval(patience.ping_every)
        .http2_keep_alive_timeout(patience.ping_answer)
        .http2_keep_alive_while_idle(true)
        .build(builder.enable_http1().enable_http2().wrap_connector(tcp));
    let service = ServiceBuilder::new()
        .map_future(move |answer| noted(answer, Arc::clone(&answers)))
        .layer(config.base_uri_layer())
        .layer(option_layer(config.auth_layer()?))
        .layer(config.extra_headers_layer()?)
        .service(http.map_err(BoxError::from));
    Ok(Client::new(service, config.default_namespace.clone()))
}

async fn noted<B>(
    answer: impl Future<Output = Result<Response<B>, BoxError>>,
    answers: Arc<RecentAnswers>,
) -> Result<Response<B>, BoxError> {
    let began = Instant::now();
    let answer = answer.await;
    answers.note(began.elapsed(), answer.as_ref());
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Watches on each connection.
    fn streams(clients: &Clients) -> Vec<usize> {
        let connections = clients.watches.iter();
        connections
            .map(|connection| Arc::strong_count(&connection.streams) - 1)
            .collect()
    }

    #[tokio::test]
    async fn watches_fill_connections_and_their_places_are_used_again() {
        let config = Config::new("http://127.0.0.1:1".parse().unwrap());
        let clients = Clients::connect(&config, 170).unwrap();
        let mut watches: Vec<_> = (0..170).map(|_| clients.watch()).collect();
        assert_eq!(streams(&clients), [80, 80, 10]);
        watches.drain(20..50);
        assert_eq!(streams(&clients), [50, 80, 10]);
        watches.extend((0..30).map(|_| clients.watch()));
        assert_eq!(streams(&clients), [80, 80, 10]);
    }

    #[tokio::test]
    async fn answers_are_told_once_and_refused_ones_among_them() {
        let clients = Clients::connect(&Config::new("http://127.0.0.1:1".parse().unwrap()), 1);
        let clients = clients.unwrap();
        let answered = |status: u16| {
            let answer = Response::builder().status(status).body(()).unwrap();
            noted(async { Ok(answer) }, Arc::clone(&clients.answers))
        };
        answered(200).await.unwrap();
        answered(429).await.unwrap();
        let lost = async { Err::<Response<()>, _>(BoxError::from("the connection broke")) };
        noted(lost, Arc::clone(&clients.answers)).await.unwrap_err();
        let answers = clients.answers().answers();
        assert_eq!((answers.count, answers.refused), (2, 1));
        assert_eq!(clients.answers().answers(), Answers::default());
    }
}

//! A server over TLS whose certificate may change while it runs.
//!
//! Clients are not asked who they are, so whoever says nothing is cut off, at every step, and there is a limit of connections.

mod activity;
mod connections;
mod linger;
#[cfg(test)]
mod tests;
mod tls_version;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::Next;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::default_provider;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::activity::Activity;
use self::connections::Connections;
use super::certificate::ServingCertificate;

pub use self::tls_version::{TlsVersion, UnknownTlsVersion};

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may take to get the answers to what it has asked, when the connection is to end: longer than any review
/// takes.
const FINISH_TIMEOUT: Duration = Duration::from_secs(35);
/// How long a client may take to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a client of HTTP/2 is asked whether it is still there, and how long it may take to say so.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes that a client of HTTP/2 may send ahead: of a request, and of all of a connection.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 1 << 20;

/// The server, bound and ready to be run.
pub struct HttpsServer {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    router: Router,
}

impl HttpsServer {
    /// Serves these routes on a bound socket, to clients that speak this version of TLS or a later one.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(
        listener: TcpListener,
        certificate: Arc<ServingCertificate>,
        oldest: TlsVersion,
        router: Router,
    ) -> Result<Self, rustls::Error> {
        let mut tls = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_protocol_versions(oldest.and_later())?
            .with_no_client_auth()
            .with_cert_resolver(certificate);
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self {
            listener,
            acceptor: TlsAcceptor::from(Arc::new(tls)),
            router,
        })
    }

    /// Serves until told to stop; requests that run then are finished.
    pub async fn run(self, stop: CancellationToken) {
        let (connections, places) = (TaskTracker::new(), Connections::default());
        while let Some(accepted) = stop.run_until_cancelled(self.listener.accept()).await {
            match accepted {
                Ok((stream, peer)) => {
                    let Some(place) = places.enter(peer.ip()) else {
                        continue;
                    };
                    let (acceptor, router) = (self.acceptor.clone(), self.router.clone());
                    let stop = stop.clone();
                    connections.spawn(async move {
                        let _place = place;
                        if let Err(error) = serve(stream, acceptor, router, stop).await {
                            tracing::debug!(%peer, error, "a connection ended");
                        }
                    });
                }
                Err(error) => {
                    // Out of file descriptors, most likely: give the others time to close.
                    tracing::warn!(%error, "cannot accept connections");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            }
        }
        connections.close();
        // Whoever is still connected then is cut off with the process.
        tokio::time::timeout(SHUTDOWN_TIMEOUT, connections.wait())
            .await
            .ok();
    }
}

async fn serve(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    router: Router,
    stop: CancellationToken,
) -> Result<(), String> {
    // Without it an answer of several frames may wait 40 ms for the client's acknowledgement.
    stream
        .set_nodelay(true)
        .map_err(|error| format!("TCP_NODELAY: {error}"))?;
    let stream = tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream))
        .await
        .map_err(|_| "TLS handshake timed out".to_owned())?
        .map_err(|error| format!("TLS handshake: {error}"))?;
    let is_http2 = is_http2(&stream);
    let (stream, returned) = linger::lend(stream);
    let ended = match is_http2 {
        true => answer_http2(stream, router, stop).await,
        false => answer_http1(stream, router, stop).await,
    };
    if let Ok(mut stream) = returned.await {
        linger::close(stream.get_mut().0).await;
    }
    ended
}

/// What the client has chosen in the handshake.
fn is_http2(stream: &TlsStream<TcpStream>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(b"h2")
}

/// The routes for one connection, whose requests are counted.
fn counted(router: Router, activity: &Activity) -> TowerToHyperService<Router> {
    let activity = activity.clone();
    let counting = axum::middleware::from_fn(move |request: Request, next: Next| {
        let asked = activity.asked();
        async move {
            let answer = next.run(request).await;
            drop(asked);
            answer
        }
    });
    TowerToHyperService::new(router.layer(counting))
}

async fn answer_http1<S>(stream: S, router: Router, stop: CancellationToken) -> Result<(), String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let activity = Activity::new();
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), counted(router, &activity));
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return ended.map_err(|error| error.to_string()),
        () = stop.cancelled() => {}
        () = activity.idle() => {}
    }
    connection.as_mut().graceful_shutdown();
    finish(connection).await
}

async fn answer_http2<S>(stream: S, router: Router, stop: CancellationToken) -> Result<(), String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let activity = Activity::new();
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .serve_connection(TokioIo::new(stream), counted(router, &activity));
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return ended.map_err(|error| error.to_string()),
        () = stop.cancelled() => {}
        () = activity.idle() => {}
    }
    connection.as_mut().graceful_shutdown();
    finish(connection).await
}

/// Answers what has been asked already.
async fn finish(connection: impl Future<Output = hyper::Result<()>>) -> Result<(), String> {
    match tokio::time::timeout(FINISH_TIMEOUT, connection).await {
        Ok(ended) => ended.map_err(|error| error.to_string()),
        Err(_) => Err("the client did not take its answers".to_owned()),
    }
}

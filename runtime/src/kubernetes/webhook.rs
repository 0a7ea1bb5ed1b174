//! The conversion webhook: `POST /convert` over TLS.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::default_provider;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::certificate::ServingCertificate;
use super::review::{Kinds, answer};
use crate::kind::KindInfo;

/// A list is converted in one review, so reviews can be large.
const REVIEW_LIMIT: usize = 256 << 20;

/// Larger reviews, of lists, are answered off the async threads.
const INLINE_BYTES: usize = 64 << 10;

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// The server, bound and ready to be run.
pub struct Webhook {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    router: Router,
}

impl Webhook {
    /// Serves conversion of these kinds on a bound socket.
    pub fn new(
        listener: TcpListener,
        certificate: Arc<ServingCertificate>,
        kinds: &[&'static KindInfo],
    ) -> Result<Self, rustls::Error> {
        let mut tls = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(certificate);
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let kinds: Arc<Kinds> = Arc::new(
            kinds
                .iter()
                .map(|kind| ((kind.group, kind.kind), *kind))
                .collect(),
        );
        let router = Router::new()
            .route("/convert", post(review))
            .layer(DefaultBodyLimit::max(REVIEW_LIMIT))
            .with_state(kinds);
        Ok(Self {
            listener,
            acceptor: TlsAcceptor::from(Arc::new(tls)),
            router,
        })
    }

    /// Serves until told to stop; requests that run then are finished.
    pub async fn run(self, stop: CancellationToken) {
        let connections = TaskTracker::new();
        while let Some(accepted) = stop.run_until_cancelled(self.listener.accept()).await {
            match accepted {
                Ok((stream, peer)) => {
                    let (acceptor, router) = (self.acceptor.clone(), self.router.clone());
                    let stop = stop.clone();
                    connections.spawn(async move {
                        if let Err(error) = serve(stream, acceptor, router, stop).await {
                            tracing::debug!(%peer, error, "a webhook connection ended");
                        }
                    });
                }
                Err(error) => {
                    // Out of file descriptors, most likely: give the others time to close.
                    tracing::warn!(%error, "cannot accept webhook connections");
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

    /// Where it listens.
    pub fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

async fn serve(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    router: Router,
    stop: CancellationToken,
) -> Result<(), String> {
    let stream = tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream))
        .await
        .map_err(|_| "TLS handshake timed out".to_owned())?
        .map_err(|error| format!("TLS handshake: {error}"))?;
    let builder = auto::Builder::new(TokioExecutor::new());
    let service = TowerToHyperService::new(router);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    ended.map_err(|error| error.to_string())
}

async fn review(State(kinds): State<Arc<Kinds>>, body: Bytes) -> Response {
    let answer = if body.len() <= INLINE_BYTES {
        answer(&body, &kinds)
    } else {
        let answered = tokio::task::spawn_blocking(move || answer(&body, &kinds)).await;
        match answered {
            Ok(answer) => answer,
            Err(error) => {
                return (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response();
            }
        }
    };
    match answer {
        Ok(answer) => ([(CONTENT_TYPE, "application/json")], answer).into_response(),
        Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::MODEL;

    async fn status_of(object: &str) -> StatusCode {
        let body = format!(
            "{{\"request\": {{\"uid\": \"u\", \"desiredAPIVersion\": \"toys.azure.com/v20210101\", \
             \"objects\": [{object}]}}}}"
        );
        let kinds = Kinds::from([((MODEL.group, MODEL.kind), &MODEL)]);
        let answer = review(State(Arc::new(kinds)), Bytes::from(body)).await;
        answer.status()
    }

    #[tokio::test]
    async fn an_object_that_is_nested_too_deeply_is_refused_and_the_webhook_lives_on() {
        let nested = |levels: usize| {
            let (open, close) = ("[".repeat(levels), "]".repeat(levels));
            format!(
                "{{\"apiVersion\": \"toys.azure.com/v1api20200101\", \"kind\": \"Gadget\", \
                 \"spec\": {{\"novel\": {open}{close}}}}}"
            )
        };
        assert_eq!(status_of(&nested(200_000)).await, StatusCode::BAD_REQUEST);
        assert_eq!(status_of(&nested(100)).await, StatusCode::OK);
    }
}

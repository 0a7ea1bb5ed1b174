//! A server over TLS whose certificate may change while it runs.

mod linger;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::default_provider;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::certificate::ServingCertificate;

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// The server, bound and ready to be run.
pub struct HttpsServer {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    router: Router,
}

impl HttpsServer {
    /// Serves these routes on a bound socket.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(
        listener: TcpListener,
        certificate: Arc<ServingCertificate>,
        router: Router,
    ) -> Result<Self, rustls::Error> {
        let mut tls = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
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
        let connections = TaskTracker::new();
        while let Some(accepted) = stop.run_until_cancelled(self.listener.accept()).await {
            match accepted {
                Ok((stream, peer)) => {
                    let (acceptor, router) = (self.acceptor.clone(), self.router.clone());
                    let stop = stop.clone();
                    connections.spawn(async move {
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
    let (stream, returned) = linger::lend(stream);
    let ended = answer(stream, router, stop).await;
    if let Ok(mut stream) = returned.await {
        linger::close(stream.get_mut().0).await;
    }
    ended
}

/// Answers what comes over a connection until either side ends it, or until told to stop.
async fn answer<S>(stream: S, router: Router, stop: CancellationToken) -> Result<(), String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
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

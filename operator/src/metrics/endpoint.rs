//! `/metrics`: in plain HTTP for anyone, or over HTTPS for those whom the cluster allows.

use std::sync::Arc;

use armature_runtime::kubernetes::{HttpsServer, Readers, Refused, ServingCertificate, TlsVersion};
use axum::Router;
use axum::extract::State;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Where the metrics are.
pub const PATH: &str = "/metrics";

const CONTENT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The server, bound and ready to be run.
pub enum Endpoint {
    /// In plain HTTP.
    Plain(TcpListener, Router),
    /// Over HTTPS.
    Guarded(HttpsServer),
}

impl Endpoint {
    /// Serves anyone.
    pub fn plain(listener: TcpListener, registry: Registry) -> Self {
        let answer = move || std::future::ready(text(&registry));
        let answer = Arc::new(answer);
        let router = Router::new().route(PATH, get(move || answer()));
        Self::Plain(listener, router)
    }

    /// Serves those whom the cluster allows, and whose client speaks this version of TLS or a later one.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn guarded(
        listener: TcpListener,
        registry: Registry,
        certificate: Arc<ServingCertificate>,
        oldest: TlsVersion,
        readers: Readers,
    ) -> Result<Self, rustls::Error> {
        let router = Router::new()
            .route(PATH, get(guarded))
            .with_state(Arc::new((registry, readers)));
        HttpsServer::new(listener, certificate, oldest, router).map(Self::Guarded)
    }

    /// Serves until told to stop.
    pub async fn run(self, stop: CancellationToken) {
        let (listener, router) = match self {
            Self::Plain(listener, router) => (listener, router),
            Self::Guarded(server) => return server.run(stop).await,
        };
        let served = axum::serve(listener, router)
            .with_graceful_shutdown(async move { stop.cancelled().await })
            .await;
        if let Err(error) = served {
            tracing::error!(%error, "the metrics endpoint stopped");
        }
    }
}

async fn guarded(State(shared): State<Arc<(Registry, Readers)>>, headers: HeaderMap) -> Response {
    let (registry, readers) = &*shared;
    let authorization = headers.get(AUTHORIZATION);
    let authorization = authorization.and_then(|value| value.to_str().ok());
    match readers.admit(authorization).await {
        Ok(()) => text(registry),
        Err(refused) => refusal(&refused),
    }
}

fn refusal(refused: &Refused) -> Response {
    let message = refused.to_string();
    match refused {
        Refused::Unknown => {
            let how = [(WWW_AUTHENTICATE, "Bearer")];
            (StatusCode::UNAUTHORIZED, how, message).into_response()
        }
        Refused::Forbidden { .. } => (StatusCode::FORBIDDEN, message).into_response(),
        Refused::Kubernetes(error) => {
            tracing::warn!(%error, "nobody can read metrics");
            (StatusCode::SERVICE_UNAVAILABLE, message).into_response()
        }
    }
}

fn text(registry: &Registry) -> Response {
    let mut text = String::new();
    match encode(&mut text, registry) {
        Ok(()) => ([(CONTENT_TYPE, CONTENT)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

//! `/metrics`: in plain HTTP for anyone, or over HTTPS for those whom the cluster allows; and then CPU profiles, too, where they are
//! wanted, for those whom it allows that URL.

use std::sync::Arc;

use armature_runtime::kubernetes::{HttpsServer, Readers, Refused, ServingCertificate, TlsVersion};
use axum::Router;
use axum::extract::{Query, State};
use axum::http::header::{AUTHORIZATION, CONTENT_DISPOSITION, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::profile::{self, ProfileError, Profiler};

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
        profiles: Option<Profiles>,
    ) -> Result<Self, rustls::Error> {
        let mut router = Router::new()
            .route(PATH, get(guarded))
            .with_state(Arc::new((registry, readers)));
        if let Some(profiles) = profiles {
            let of_profiles = Router::new().route(profile::PATH, get(profiled));
            router = router.merge(of_profiles.with_state(Arc::new(profiles)));
        }
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

/// CPU profiles, and who may have them.
pub struct Profiles {
    profiler: Profiler,
    readers: Readers,
}

impl Profiles {
    /// For those whom the cluster allows the URL of profiles. A profile ends early when `stop` says so.
    pub fn new(client: kube::Client, stop: CancellationToken) -> Self {
        Self {
            profiler: Profiler::new(stop),
            readers: Readers::new(client, profile::PATH),
        }
    }
}

async fn guarded(State(shared): State<Arc<(Registry, Readers)>>, headers: HeaderMap) -> Response {
    let (registry, readers) = &*shared;
    match readers.admit(authorization(&headers)).await {
        Ok(()) => text(registry),
        Err(refused) => refusal(&refused),
    }
}

fn authorization(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()
}

#[derive(Deserialize)]
struct Wanted {
    seconds: Option<String>,
}

async fn profiled(
    State(profiles): State<Arc<Profiles>>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Response {
    if let Err(refused) = profiles.readers.admit(authorization(&headers)).await {
        return refusal(&refused);
    }
    let length = match profile::length(wanted.seconds.as_deref()) {
        Ok(length) => length,
        Err(error) => return no_profile(&error),
    };
    match profiles.profiler.take(length).await {
        Ok(profile) => {
            let headers = [
                (CONTENT_TYPE, "application/octet-stream"),
                (CONTENT_DISPOSITION, "attachment; filename=\"profile\""),
            ];
            (headers, profile).into_response()
        }
        Err(error) => no_profile(&error),
    }
}

fn no_profile(error: &ProfileError) -> Response {
    let status = match error {
        ProfileError::Seconds(_) => StatusCode::BAD_REQUEST,
        ProfileError::Busy => StatusCode::CONFLICT,
        ProfileError::Profiler(_) | ProfileError::Compose(_) => {
            tracing::warn!(%error, "a CPU profile was not taken");
            StatusCode::INTERNAL_SERVER_ERROR
        }
    };
    (status, error.to_string()).into_response()
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

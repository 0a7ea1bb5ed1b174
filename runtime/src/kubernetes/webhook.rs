//! The conversion webhook: `POST /convert` over TLS.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use bytes::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::default_provider;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::certificate::ServingCertificate;
use crate::engine::conversion;
use crate::kind::KindInfo;

/// A list is converted in one review, so reviews can be large.
const REVIEW_LIMIT: usize = 256 << 20;

/// Above this many objects a review is converted off the async threads.
const INLINE_OBJECTS: usize = 20;

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Kinds by group and kind.
type Kinds = HashMap<(&'static str, &'static str), &'static KindInfo>;

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

#[derive(Deserialize)]
struct Review {
    request: Request,
}

#[derive(Deserialize)]
struct Request {
    uid: String,
    #[serde(rename = "desiredAPIVersion")]
    desired_api_version: String,
    objects: Vec<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    api_version: &'static str,
    kind: &'static str,
    response: Outcome,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    uid: String,
    result: Status,
    converted_objects: Vec<Value>,
}

#[derive(Serialize)]
struct Status {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

async fn review(State(kinds): State<Arc<Kinds>>, body: Bytes) -> Response {
    let review: Review = match serde_json::from_slice(&body) {
        Ok(review) => review,
        Err(error) => {
            let message = format!("no ConversionReview of apiextensions.k8s.io/v1: {error}");
            return (StatusCode::BAD_REQUEST, message).into_response();
        }
    };
    drop(body);
    let request = review.request;
    if request.objects.len() <= INLINE_OBJECTS {
        return Json(answer(request, &kinds)).into_response();
    }
    match tokio::task::spawn_blocking(move || answer(request, &kinds)).await {
        Ok(answer) => Json(answer).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// Converts all objects of a review; one that fails fails the review, as the API server expects it.
fn answer(request: Request, kinds: &Kinds) -> Answer {
    let Request {
        uid,
        desired_api_version,
        objects,
    } = request;
    let converted = objects
        .into_iter()
        .map(|object| {
            let name = describe(&object);
            convert_object(kinds, object, &desired_api_version)
                .map_err(|error| format!("{name}: {error}"))
        })
        .collect::<Result<Vec<Value>, String>>();
    let (status, message, converted_objects) = match converted {
        Ok(objects) => ("Success", None, objects),
        Err(error) => {
            tracing::warn!(to = desired_api_version, error, "a conversion failed");
            ("Failure", Some(error), Vec::new())
        }
    };
    Answer {
        api_version: "apiextensions.k8s.io/v1",
        kind: "ConversionReview",
        response: Outcome {
            uid,
            result: Status { status, message },
            converted_objects,
        },
    }
}

fn convert_object(kinds: &Kinds, object: Value, api_version: &str) -> Result<Value, String> {
    let (group, version) = api_version
        .split_once('/')
        .ok_or_else(|| format!("`{api_version}` is no group/version"))?;
    let kind = object
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let info = kinds
        .get(&(group, kind))
        .ok_or_else(|| format!("this operator knows no kind {kind} in {group}"))?;
    conversion::convert(info, object, version).map_err(|error| error.to_string())
}

fn describe(object: &Value) -> String {
    let text = |pointer: &str| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    format!(
        "{} {}/{}",
        text("/kind"),
        text("/metadata/namespace"),
        text("/metadata/name")
    )
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

//! The conversion webhook: `POST /convert` over TLS.
//!
//! Reviews take memory by what has arrived of them (see `admission`), and everything about one ends before the API server's own
//! patience does: arriving, waiting, and taking the answer.

mod answering;
mod arriving;

use std::sync::Arc;
use std::time::Duration;

use armature_shapes::kind::KindInfo;
use axum::Router;
use axum::body::{Body, BodyDataStream, HttpBody};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::admission::{Admission, Refusal};
use super::certificate::ServingCertificate;
use super::https::{HttpsServer, TlsVersion};
use super::review::Kinds;
use arriving::NotRead;

/// How long a review waits for memory when the API server does not say how long it waits. A review that is turned away
/// is sent again up to ten times (client-go's requests), and whoever lists waits a minute at most.
const PATIENCE: Duration = Duration::from_secs(10);

/// Longest time that the API server gives to a webhook (`timeoutSeconds`), whatever a client says.
const LONGEST: Duration = Duration::from_secs(30);

/// Part of the API server's time in which a review that waited must be answered.
const ANSWER: Duration = Duration::from_secs(1);

/// The server, bound and ready to be run.
pub struct Webhook {
    server: HttpsServer,
}

/// What reviews are answered with.
struct Converter {
    kinds: Arc<Kinds>,
    admission: Admission,
}

impl Webhook {
    /// Serves conversion of these kinds on a bound socket, to clients that speak this version of TLS or a later one. Reviews that are answered at the same time take `memory` bytes
    /// at most.
    pub fn new(
        listener: TcpListener,
        certificate: Arc<ServingCertificate>,
        oldest: TlsVersion,
        kinds: &[&'static KindInfo],
        memory: u64,
    ) -> Result<Self, rustls::Error> {
        let kinds = kinds.iter().map(|kind| ((kind.group, kind.kind), *kind));
        let converter = Converter {
            kinds: Arc::new(kinds.collect()),
            admission: Admission::new(memory),
        };
        let server = HttpsServer::new(listener, certificate, oldest, router(converter))?;
        Ok(Self { server })
    }

    /// Serves until told to stop; requests that run then are finished.
    pub async fn run(self, stop: CancellationToken) {
        self.server.run(stop).await;
    }
}

fn router(converter: Converter) -> Router {
    Router::new()
        .route("/convert", post(review))
        .with_state(Arc::new(converter))
}

/// What the API server says about a call.
#[derive(Deserialize)]
struct Call {
    /// How long it waits, as Go writes durations: `10s`.
    timeout: Option<String>,
}

impl Call {
    /// How long the review may take, until its last piece is on its way back.
    fn patience(&self) -> Duration {
        let timeout = self.timeout.as_deref();
        let timeout = timeout.and_then(|text| text.parse::<jiff::SignedDuration>().ok());
        let timeout = timeout.and_then(|timeout| Duration::try_from(timeout).ok());
        timeout.map_or(PATIENCE, |timeout| {
            timeout.min(LONGEST).saturating_sub(ANSWER)
        })
    }
}

async fn review(
    State(converter): State<Arc<Converter>>,
    Query(call): Query<Call>,
    body: Body,
) -> Response {
    let deadline = Instant::now() + call.patience();
    let claimed = body.size_hint().exact();
    let mut pieces = body.into_data_stream();
    match arriving::read(&mut pieces, claimed, &converter.admission, deadline).await {
        Ok((body, place)) => {
            answering::answer(body, Arc::clone(&converter.kinds), place, deadline).await
        }
        Err(why) => turn_away(&why, pieces).await,
    }
}

/// Says why a review is not converted.
async fn turn_away(why: &NotRead, mut pieces: BodyDataStream) -> Response {
    tracing::warn!(%why, "a conversion was turned away");
    let status = match why {
        NotRead::Refused(Refusal::Busy) => StatusCode::SERVICE_UNAVAILABLE,
        NotRead::Refused(Refusal::TooLarge { .. }) | NotRead::TooLong { .. } => {
            StatusCode::PAYLOAD_TOO_LARGE
        }
        NotRead::Silent | NotRead::Late => StatusCode::REQUEST_TIMEOUT,
        NotRead::Broken(_) => StatusCode::BAD_REQUEST,
        NotRead::Memory(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    if !matches!(why, NotRead::Silent | NotRead::Broken(_)) {
        arriving::throw_away(&mut pieces).await;
    }
    let text = why.to_string();
    match status {
        StatusCode::SERVICE_UNAVAILABLE => (status, [(RETRY_AFTER, "1")], text).into_response(),
        _ => (status, text).into_response(),
    }
}
#[cfg(test)]
mod tests;

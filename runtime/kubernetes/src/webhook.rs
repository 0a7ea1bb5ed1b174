//! The conversion webhook: `POST /convert` over TLS.
//!
//! Reviews are admitted by their size before they are read (see `admission`). One that waited too long, or never fits, is
//! read and thrown away: a client that is still sending would not see the answer otherwise.

use std::sync::Arc;
use std::time::Duration;

use armature_shapes::kind::KindInfo;
use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::Bytes;
use futures::{StreamExt, stream};
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::admission::{Admission, Place, Refusal, SINGLE};
use super::buffer::Buffer;
use super::certificate::ServingCertificate;
use super::https::HttpsServer;
use super::review::{Answer, Kinds, NoReview};

/// How long a review waits for memory when the API server does not say how long it waits. A review that is turned away
/// is sent again up to ten times (client-go's requests), and whoever lists waits a minute at most.
const PATIENCE: Duration = Duration::from_secs(10);

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
    /// Serves conversion of these kinds on a bound socket. Reviews that are answered at the same time take `memory` bytes
    /// at most.
    pub fn new(
        listener: TcpListener,
        certificate: Arc<ServingCertificate>,
        kinds: &[&'static KindInfo],
        memory: u64,
    ) -> Result<Self, rustls::Error> {
        let kinds = kinds.iter().map(|kind| ((kind.group, kind.kind), *kind));
        let converter = Converter {
            kinds: Arc::new(kinds.collect()),
            admission: Admission::new(memory),
        };
        let server = HttpsServer::new(listener, certificate, router(converter))?;
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
    /// How long the review may wait for memory.
    fn patience(&self) -> Duration {
        let timeout = self.timeout.as_deref();
        let timeout = timeout.and_then(|text| text.parse::<jiff::SignedDuration>().ok());
        let timeout = timeout.and_then(|timeout| Duration::try_from(timeout).ok());
        timeout.map_or(PATIENCE, |timeout| timeout.saturating_sub(ANSWER))
    }
}

async fn review(
    State(converter): State<Arc<Converter>>,
    Query(call): Query<Call>,
    body: Body,
) -> Response {
    let size = body.size_hint().exact();
    let place = match converter.admission.admit(size, call.patience()).await {
        Ok(place) => place,
        Err(refusal) => return turn_away(refusal, body).await,
    };
    match read(body, place.bytes).await {
        Ok(Some(body)) => answer(body, Arc::clone(&converter.kinds), place).await,
        Ok(None) => {
            let bytes = place.bytes;
            let message = format!("the review is longer than {bytes} bytes");
            (StatusCode::PAYLOAD_TOO_LARGE, message).into_response()
        }
        Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

/// Reads a body; `None` when it is longer than `most`.
async fn read(body: Body, most: u64) -> Result<Option<Bytes>, axum::Error> {
    let mut text =
        Buffer::of(usize::try_from(most).unwrap_or(usize::MAX)).map_err(axum::Error::new)?;
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await {
        if !text.take(&piece?) {
            return Ok(None);
        }
    }
    Ok(Some(text.into_bytes()))
}

/// Says that a review is not taken.
async fn turn_away(refusal: Refusal, body: Body) -> Response {
    tracing::warn!(%refusal, "a conversion was turned away");
    let mut pieces = body.into_data_stream();
    while let Some(Ok(_)) = pieces.next().await {}
    match refusal {
        Refusal::Busy => {
            let again = [(RETRY_AFTER, "1")];
            (StatusCode::SERVICE_UNAVAILABLE, again, refusal.to_string()).into_response()
        }
        Refusal::TooLarge { .. } => {
            (StatusCode::PAYLOAD_TOO_LARGE, refusal.to_string()).into_response()
        }
    }
}

/// Answers a review. Those of lists are converted off the async threads, a piece at a time as the client takes them.
async fn answer(body: Bytes, kinds: Arc<Kinds>, place: Place) -> Response {
    let begun = if body.len() as u64 <= SINGLE {
        begin(&body, kinds)
    } else {
        match tokio::task::spawn_blocking(move || begin(&body, kinds)).await {
            Ok(begun) => begun,
            Err(error) => {
                return (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response();
            }
        }
    };
    let (first, answer) = match begun {
        Ok(begun) => begun,
        Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    };
    let json = [(CONTENT_TYPE, "application/json")];
    if answer.has_ended() {
        return (json, first).into_response();
    }
    let first = stream::once(async { Ok(Bytes::from(first)) });
    // The place is free when the last piece is on its way, or the client is gone.
    let rest = stream::try_unfold((answer, place), |(answer, place)| async {
        let next = tokio::task::spawn_blocking(move || next(answer)).await;
        let next = next.map_err(std::io::Error::other)?;
        Ok::<_, std::io::Error>(next.map(|(piece, answer)| (piece, (answer, place))))
    });
    (json, Body::from_stream(first.chain(rest))).into_response()
}

/// The first piece of an answer.
fn begin(body: &Bytes, kinds: Arc<Kinds>) -> Result<(Vec<u8>, Answer), NoReview> {
    let mut answer = Answer::to(body, kinds)?;
    let first = answer.piece()?.unwrap_or_default();
    Ok((first, answer))
}

/// Another piece of an answer, if there is one.
fn next(mut answer: Answer) -> Option<(Bytes, Answer)> {
    let piece = match answer.piece() {
        Ok(piece) => piece?,
        Err(problem) => answer.broken(&problem),
    };
    Some((Bytes::from(piece), answer))
}

#[cfg(test)]
mod tests;

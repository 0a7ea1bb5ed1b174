//! Answers of reviews, on their way out.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::{StreamExt, stream};
use tokio::time::{Instant, sleep_until};

use crate::serving::admission::{Place, SINGLE};
use crate::serving::review::{Answer, Kinds, NoReview};

/// An answer that is not at its end, and its place.
struct Rest {
    answer: Answer,
    place: Place,
}

/// Answers a review. Those of lists are converted off the async threads, a piece at a time as the client takes them.
pub(super) async fn answer(
    body: Bytes,
    kinds: Arc<Kinds>,
    place: Place,
    deadline: Instant,
) -> Response {
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
    let rest = pieces(Rest { answer, place }, deadline);
    (json, Body::from_stream(first.chain(rest))).into_response()
}

/// The pieces of the rest. The place is free when the last one is on its way, when the client is gone, or when it has not taken
/// them until the deadline.
fn pieces(rest: Rest, deadline: Instant) -> impl stream::Stream<Item = io::Result<Bytes>> + Send {
    let held = Arc::new(Mutex::new(Some(rest)));
    let left = Arc::downgrade(&held);
    let too_late = tokio::spawn(async move {
        sleep_until(deadline).await;
        if let Some(held) = left.upgrade() {
            drop(taken(&held));
        }
    });
    let stops = AbortOnDrop(too_late);
    stream::try_unfold((held, stops), |(held, stops)| async {
        let Some(Rest { answer, place }) = taken(&held) else {
            return Err(io::ErrorKind::TimedOut.into());
        };
        let next = tokio::task::spawn_blocking(move || next(answer)).await;
        let next = next.map_err(io::Error::other)?;
        Ok(next.map(|(piece, answer)| {
            let rest = Some(Rest { answer, place });
            *held.lock().unwrap_or_else(PoisonError::into_inner) = rest;
            (piece, (held, stops))
        }))
    })
}

fn taken(held: &Mutex<Option<Rest>>) -> Option<Rest> {
    held.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// A task that ends with this.
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
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

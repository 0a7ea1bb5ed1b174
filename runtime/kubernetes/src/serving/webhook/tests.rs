//! The webhook without TLS.

use std::pin::Pin;
use std::task::{Context, Poll};

use armature_shapes::testing::gadget::MODEL;
use axum::http::{HeaderMap, Request};
use bytes::Bytes;
use futures::{StreamExt, stream};
use hyper::body::{Frame, SizeHint};
use tower::ServiceExt;

use super::*;

const MEMORY: u64 = 4 << 20;

fn service(memory: u64) -> Router {
    router(Converter {
        kinds: Arc::new(Kinds::from([((MODEL.group, MODEL.kind), &MODEL)])),
        admission: Admission::new(memory),
    })
}

fn list(objects: &[String]) -> String {
    format!(
        "{{\"request\": {{\"uid\": \"u\", \"desiredAPIVersion\": \"toys.azure.com/v20210101\", \
         \"objects\": [{}]}}}}",
        objects.join(",")
    )
}

fn object(note: &str) -> String {
    format!(
        "{{\"apiVersion\": \"toys.azure.com/v1api20200101\", \"kind\": \"Gadget\", \
         \"metadata\": {{\"name\": \"a\", \"note\": \"{note}\"}}, \"spec\": {{}}}}"
    )
}

/// A list whose review has about so many KiB.
fn long_list(kibibytes: usize) -> String {
    let note = "x".repeat(900);
    list(&vec![object(&note); kibibytes])
}

async fn ask(service: &Router, query: &str, body: Body) -> (StatusCode, HeaderMap, Bytes) {
    let request = Request::post(format!("/convert{query}"))
        .body(body)
        .unwrap();
    let answer = service.clone().oneshot(request).await.unwrap();
    let (status, headers) = (answer.status(), answer.headers().clone());
    let text = axum::body::to_bytes(answer.into_body(), usize::MAX).await;
    (status, headers, text.unwrap())
}

#[tokio::test]
async fn lists_that_do_not_fit_at_once_are_converted_one_after_the_other() {
    let service = service(MEMORY);
    let review = Bytes::from(long_list(2 << 10));
    let asked = (0..8).map(|_| ask(&service, "", Body::from(review.clone())));
    for (status, _, text) in futures::future::join_all(asked).await {
        assert_eq!(status, StatusCode::OK);
        assert!(text.ends_with(br#"],"result":{"status":"Success"}}}"#));
    }
}

/// A body that ends for ever after so many KiB of those that it claims.
fn endless_after(sent: usize, claimed: usize) -> Body {
    let begins = Bytes::from("x".repeat(sent << 10));
    let pieces = stream::once(async { Ok::<_, std::io::Error>(begins) });
    let body = Body::from_stream(pieces.chain(stream::pending()));
    Body::new(Sized {
        body,
        size: (claimed as u64) << 10,
    })
}

/// A body whose size is known ahead, as from `Content-Length`.
struct Sized {
    body: Body,
    size: u64,
}

impl HttpBody for Sized {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.size)
    }
}

/// A list whose answer is not taken: it keeps its place until its deadline.
async fn held(service: &Router) -> Response {
    let request = Request::post("/convert?timeout=40s")
        .body(Body::from(long_list(2 << 10)))
        .unwrap();
    let answer = service.clone().oneshot(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    answer
}

#[tokio::test(start_paused = true)]
async fn who_waited_too_long_is_told_to_come_back_and_single_objects_go_on() {
    let service = service(MEMORY);
    for (query, seconds) in [("", 10), ("?timeout=25s", 24), ("?timeout=1500ms", 0)] {
        let running = held(&service).await;
        let started = Instant::now();
        let review = Body::from(long_list(1 << 10));
        let (status, headers, _) = ask(&service, query, review).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{query}");
        assert_eq!(headers[RETRY_AFTER], "1");
        assert_eq!(started.elapsed().as_secs(), seconds, "{query}");
        let single = Body::from(list(&[object("")]));
        assert_eq!(ask(&service, "", single).await.0, StatusCode::OK);
        drop(running);
    }
    let review = Body::from(long_list(1 << 10));
    let (status, ..) = ask(&service, "", review).await;
    assert_eq!(status, StatusCode::OK, "its place is free");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_taken_in_time_keeps_no_place() {
    let service = service(MEMORY);
    let _running = held(&service).await;
    tokio::time::sleep(LONGEST).await;
    let review = Body::from(long_list(1 << 10));
    assert_eq!(ask(&service, "", review).await.0, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn clients_that_say_nothing_or_claim_much_keep_nobody_waiting() {
    let service = service(MEMORY);
    let silent = (0..200).map(|at| {
        // Some claim a list and send its beginning, some claim one and send nothing of it, some claim a single object.
        let body = match at % 20 {
            0 => endless_after(100, 2 << 10),
            1..9 => endless_after(1, 2 << 10),
            _ => endless_after(1, 64),
        };
        let service = service.clone();
        tokio::spawn(async move { ask(&service, "?timeout=30s", body).await })
    });
    let silent: Vec<_> = silent.collect();
    tokio::time::sleep(Duration::from_millis(1)).await;
    let began = Instant::now();
    let single = Body::from(list(&[object("")]));
    assert_eq!(ask(&service, "", single).await.0, StatusCode::OK);
    assert!(began.elapsed() < Duration::from_millis(10));
    let review = Body::from(long_list(1 << 10));
    assert_eq!(ask(&service, "", review).await.0, StatusCode::OK);
    assert!(
        began.elapsed() < Duration::from_millis(1200),
        "{:?}",
        began.elapsed()
    );
    for one in silent {
        assert_eq!(one.await.unwrap().0, StatusCode::REQUEST_TIMEOUT);
    }
    assert!(
        began.elapsed() < Duration::from_secs(12),
        "{:?}",
        began.elapsed()
    );
}

/// Who sends a little all the time is never silent, and has the turn no longer than what arrives is worth.
#[tokio::test(start_paused = true)]
async fn clients_that_trickle_keep_nobody_waiting() {
    let service = service(MEMORY);
    let begins = Bytes::from("x".repeat(100 << 10));
    let drops = stream::repeat(Bytes::from_static(b"x")).then(|drop| async {
        tokio::time::sleep(Duration::from_millis(40)).await;
        Ok::<_, std::io::Error>(drop)
    });
    let pieces = stream::once(async { Ok(begins) }).chain(drops);
    let body = Body::new(Sized {
        body: Body::from_stream(pieces),
        size: 1 << 20,
    });
    let trickles = service.clone();
    let trickles = tokio::spawn(async move { ask(&trickles, "?timeout=30s", body).await });
    tokio::time::sleep(Duration::from_millis(1)).await;
    for _ in 0..3 {
        let review = Body::from(long_list(1 << 10));
        assert_eq!(ask(&service, "?timeout=2s", review).await.0, StatusCode::OK);
    }
    assert_eq!(trickles.await.unwrap().0, StatusCode::REQUEST_TIMEOUT);
}

/// What has arrived of a review has a place, and nobody waits for the answer any more.
#[tokio::test(start_paused = true)]
async fn a_review_that_arrives_for_ever_holds_its_place_until_its_deadline() {
    let service = service(MEMORY);
    let begins = Bytes::from("x".repeat(1900 << 10));
    let drops = stream::repeat(Bytes::from_static(b"x")).then(|drop| async {
        tokio::time::sleep(Duration::from_secs(4)).await;
        Ok::<_, std::io::Error>(drop)
    });
    let pieces = stream::once(async { Ok(begins) }).chain(drops);
    let body = Body::new(Sized {
        body: Body::from_stream(pieces),
        size: 2 << 20,
    });
    let (status, ..) = ask(&service, "?timeout=12s", body).await;
    assert_eq!(status, StatusCode::REQUEST_TIMEOUT);
    let review = Body::from(long_list(1 << 10));
    assert_eq!(ask(&service, "", review).await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_list_that_never_fits_is_refused_with_what_to_do() {
    let review = Body::from(long_list(5 << 10));
    let (status, _, text) = ask(&service(MEMORY), "", review).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    let text = String::from_utf8(text.to_vec()).unwrap();
    assert!(text.contains("--conversion-memory"), "{text}");
}

#[tokio::test]
async fn an_answer_that_nobody_takes_frees_its_place() {
    let service = service(MEMORY);
    for _ in 0..3 {
        let review = Body::from(long_list(2 << 10));
        let request = Request::post("/convert").body(review).unwrap();
        let answer = service.clone().oneshot(request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        let mut pieces = answer.into_body().into_data_stream();
        assert!(pieces.next().await.is_some());
    }
}

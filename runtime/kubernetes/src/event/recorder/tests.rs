use std::convert::Infallible;

use armature_reconcile::action::normal;
use armature_shapes::resource::Kind;
use armature_shapes::testing::kinds::GROUP;
use http::{Request, Response};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::client::Body;

use super::*;

/// A recorder whose API server answers with this status after so many seconds.
fn recorder(status: u16, seconds: u64) -> EventRecorder {
    let service = tower::service_fn(move |request: Request<Body>| async move {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let sent = request.into_body().collect_bytes().await.unwrap();
        let mut answer = Response::new(Body::from(sent.to_vec()));
        *answer.status_mut() = status.try_into().unwrap();
        Ok::<_, Infallible>(answer)
    });
    EventRecorder::start(Client::new(service, "default"))
}

fn object() -> Object {
    Object {
        kind: Kind(&GROUP),
        metadata: ObjectMeta {
            name: Some("g".to_owned()),
            namespace: Some("default".to_owned()),
            uid: Some("uid".to_owned()),
            ..ObjectMeta::default()
        },
        spec: None,
        status: None,
    }
}

/// Records ten events and ends in ten seconds: how many were written, lost, and how long it took.
async fn end(recorder: &EventRecorder) -> (u64, u64, u64) {
    for number in 0..10 {
        recorder.record(&object(), normal("Reason", format!("event {number}")));
    }
    let begun = Instant::now();
    recorder.finish(begun + Duration::from_secs(10)).await;
    let figures = recorder.figures();
    assert_eq!(figures.waiting(), 0);
    let took = begun.elapsed().as_secs();
    (figures.written(), figures.lost(), took)
}

#[tokio::test(start_paused = true)]
async fn at_the_end_all_that_waits_is_written_and_nothing_more_is_waited_for() {
    // Four at once.
    assert_eq!(end(&recorder(201, 2)).await, (10, 0, 6));
    let idle = recorder(201, 0);
    idle.finish(Instant::now() + Duration::from_secs(10)).await;
    assert_eq!(idle.figures().lost(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_written_by_the_end_is_counted_as_lost() {
    assert_eq!(end(&recorder(201, 4)).await, (8, 2, 10));
    let refused = end(&recorder(503, 0)).await;
    assert_eq!((refused.0, refused.1), (0, 10), "each is tried once");
}

//! Elections at an API server in memory that answers late, under tokio's paused clock.

use std::sync::{Arc, Mutex};

use http::{Method, Request, Response};
use kube::client::Body;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::*;

#[test]
fn a_lease_is_free_when_given_back_our_own_or_unchanged_for_long() {
    let lease = LeaseTimes::default().lease;
    let rows = [
        ("", 0, true),
        ("us", 0, true),
        ("us", 60, true),
        ("them", 0, false),
        ("them", 14, false),
        ("them", 15, true),
    ];
    for (holder, seconds, expected) in rows {
        let at = Instant::now();
        let seen = Seen {
            holder: holder.to_owned(),
            change: Change::seen(None, at),
        };
        let now = at + Duration::from_secs(seconds);
        assert_eq!(
            seen.is_free_for("us", lease, now),
            expected,
            "{holder} {seconds}"
        );
    }
}

#[test]
fn a_leader_gives_up_before_another_may_take_over() {
    let times = LeaseTimes::default();
    assert!(times.retry < times.renew && times.renew < times.lease);
}

/// An API server that has one Lease.
#[derive(Clone, Default)]
struct Server {
    lease: Arc<Mutex<Option<Value>>>,
    requests: Arc<Mutex<usize>>,
}

/// For a request that is sent so many seconds after the start: how many seconds it is on its way, and its answer.
type Lateness = fn(u64) -> (u64, u64);

fn never(_: u64) -> (u64, u64) {
    (0, 0)
}

impl Server {
    /// A client whose requests and answers are late.
    fn client(&self, late: Lateness) -> Client {
        let (server, start) = (self.clone(), Instant::now());
        let service = tower::service_fn(move |request: Request<Body>| {
            let server = server.clone();
            let (there, back) = late(start.elapsed().as_secs());
            // Whoever sent it may be gone when it arrives.
            tokio::spawn(async move {
                sleep(Duration::from_secs(there)).await;
                let answer = server.answer(request).await;
                sleep(Duration::from_secs(back)).await;
                answer
            })
        });
        Client::new(service, "default")
    }

    async fn answer(&self, request: Request<Body>) -> Response<Body> {
        *self.requests.lock().unwrap() += 1;
        let method = request.method().clone();
        let body = request.into_body().collect_bytes().await.unwrap();
        let mut lease = self.lease.lock().unwrap();
        let version = |lease: &Value| lease["metadata"]["resourceVersion"].clone();
        let (code, answer) = match (&*lease, method) {
            (None, Method::GET) => (404, refusal(404, "NotFound")),
            (Some(lease), Method::GET) => (200, lease.clone()),
            (known, _) => {
                let mut new: Value = serde_json::from_slice(&body).unwrap();
                let before = known.as_ref().map(version).unwrap_or_default();
                if before != version(&new) {
                    (409, refusal(409, "Conflict"))
                } else {
                    let next = before.as_str().unwrap_or("0").parse::<u64>().unwrap() + 1;
                    new["metadata"]["resourceVersion"] = json!(next.to_string());
                    *lease = Some(new.clone());
                    (200, new)
                }
            }
        };
        let answer = Body::from(answer.to_string().into_bytes());
        Response::builder().status(code).body(answer).unwrap()
    }

    fn election(&self, host: &str, late: Lateness) -> Election {
        let client = self.client(late);
        Election::new(client, "default", "lease", host, LeaseTimes::default())
    }
}

fn refusal(code: u16, reason: &str) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {},
        "status": "Failure", "code": code, "reason": reason, "message": reason,
    })
}

/// Stands and holds until the Lease is lost.
async fn leads(mut election: Election) -> LeaseLost {
    election.acquire(&CancellationToken::new()).await;
    election.hold().await
}

/// When a leader could write for the last time, and another one for the first time, in tenths of a second.
async fn overlap(late: Lateness) -> (u64, u64) {
    let server = Server::default();
    let (one, two) = (server.election("one", late), server.election("two", never));
    let (first, second) = (one.fence(), two.fence());
    let one = tokio::spawn(leads(one));
    while server.lease.lock().unwrap().is_none() {
        sleep(Duration::from_millis(1)).await;
    }
    let two = tokio::spawn(leads(two));
    let (mut last, mut next) = (0, 0);
    for tenth in 0..1200 {
        if first.is_open() {
            last = tenth;
        }
        if second.is_open() && next == 0 {
            next = tenth;
        }
        sleep(Duration::from_millis(100)).await;
    }
    two.abort();
    let lost = one.await.unwrap();
    assert!(matches!(lost, LeaseLost::NotRenewed { .. }), "{lost}");
    (last, next)
}

#[tokio::test(start_paused = true)]
async fn however_late_the_server_answers_a_leader_stops_before_another_starts() {
    const GONE: (u64, u64) = (3600, 0);
    let rows: [(&str, Lateness); 7] = [
        ("no answer at all", |at| if at < 30 { (0, 0) } else { GONE }),
        ("carried out, and not answered", |at| match at {
            0..30 => (0, 0),
            _ => (0, 3600),
        }),
        ("answered late, then not at all", |at| match at {
            0..30 => (0, 0),
            30..40 => (0, 7),
            _ => GONE,
        }),
        ("carried out late, then not at all", |at| match at {
            0..30 => (0, 0),
            30..40 => (8, 0),
            _ => GONE,
        }),
        ("carried out after the leader gave up", |at| match at {
            0..30 => (0, 0),
            _ => (12, 0),
        }),
        ("both ways late, then not at all", |at| match at {
            0..30 => (0, 0),
            30..45 => (3, 3),
            _ => GONE,
        }),
        (
            "late from the start",
            |at| if at < 9 { (0, 4) } else { GONE },
        ),
    ];
    let times = LeaseTimes::default();
    let margin = (times.lease - times.renew).as_secs() * 10;
    for (name, late) in rows {
        let (last, next) = overlap(late).await;
        println!("{name}: the one until {last}, the other from {next} tenths of a second");
        assert!(next > 0, "{name}: nobody took over");
        assert!(last + margin <= next + 1, "{name}: {last} and {next}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_slow_and_no_more_keeps_its_leader() {
    let server = Server::default();
    let election = server.election("one", |_| (2, 1));
    let fence = election.fence();
    let holding = tokio::spawn(leads(election));
    sleep(Duration::from_secs(600)).await;
    assert!(fence.is_open() && !holding.is_finished());
    holding.abort();
}

#[tokio::test(start_paused = true)]
async fn a_renewal_is_one_request() {
    let server = Server::default();
    let holding = tokio::spawn(leads(server.election("one", never)));
    sleep(Duration::from_secs(1)).await;
    let before = *server.requests.lock().unwrap();
    sleep(Duration::from_secs(60)).await;
    let renewals = *server.requests.lock().unwrap() - before;
    assert_eq!(renewals as u64, 60 / LeaseTimes::default().retry.as_secs());
    holding.abort();
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_given_back_is_taken_at_the_next_look() {
    let server = Server::default();
    let (mut one, two) = (server.election("one", never), server.election("two", never));
    assert!(one.acquire(&CancellationToken::new()).await);
    let taken = two.fence();
    let holding = tokio::spawn(leads(two));
    sleep(Duration::from_secs(7)).await;
    one.release().await;
    assert!(!one.fence().is_open() && !taken.is_open());
    sleep(LeaseTimes::default().retry).await;
    assert!(taken.is_open());
    holding.abort();
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_somebody_else_took_is_lost_at_once() {
    let server = Server::default();
    let one = server.election("one", never);
    let fence = one.fence();
    let holding = tokio::spawn(leads(one));
    sleep(Duration::from_secs(7)).await;
    {
        let mut lease = server.lease.lock().unwrap();
        let lease = lease.as_mut().unwrap();
        lease["spec"]["holderIdentity"] = json!("a thief");
        lease["metadata"]["resourceVersion"] = json!("99");
    }
    let lost = holding.await.unwrap();
    assert!(
        matches!(&lost, LeaseLost::Taken { holder, .. } if holder == "a thief"),
        "{lost}"
    );
    assert!(!fence.is_open());
}

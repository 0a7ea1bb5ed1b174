//! The request log, faults, limits, and the hand of somebody else.

use std::time::{Duration, Instant};

use armature_simulator::{FaultRule, Limits, OperationRule, Query, Settings};
use serde_json::{Value, json};

use crate::common::client::{Session, header};
use crate::common::{SUBSCRIPTION, in_group};

#[tokio::test]
async fn the_log_tells_what_was_sent_and_what_was_not() {
    let session = Session::start(Settings::default()).await;
    session.make_group().await;
    let path = in_group("Microsoft.Kusto/clusters/cluster");
    session
        .json("PUT", &path, Some(json!({"location": "westus2"})))
        .await;
    let simulator = session.running.simulator();
    let puts = simulator.requests(&Query {
        method: Some("put".into()),
        path: Some("/clusters/cluster$".into()),
        ..Query::default()
    });
    assert_eq!(puts.len(), 1);
    assert_eq!(puts[0].status, 201);
    assert_eq!(puts[0].principal, "tester");
    assert_eq!(puts[0].body, Some(json!({"location": "westus2"})));
    let below = Query {
        path: Some("/clusters/cluster/databases".into()),
        ..Query::default()
    };
    assert_eq!(simulator.requests(&below), []);
    session
        .json("GET", &format!("{path}/databases/db"), None)
        .await;
    let (_, found) = session
        .json(
            "GET",
            "/simulator/requests?path=/databases/&method=GET&status=404",
            None,
        )
        .await;
    assert_eq!(found["value"][0]["code"], "ResourceNotFound");
    assert_eq!(
        session.json("DELETE", "/simulator/requests", None).await.0,
        204
    );
    assert_eq!(simulator.requests(&Query::default()), []);
    let (status, body) = session.json("GET", "/simulator/requests?pth=x", None).await;
    assert_eq!(status, 400, "{body}");
    session.running.stop().await;
}

#[tokio::test]
async fn faults_hit_as_they_are_told() {
    let session = Session::start(Settings::default()).await;
    session.make_group().await;
    let path = in_group("Contoso.Test/widgets/w");
    let body = Some(json!({"location": "westus2"}));
    let rule =
        json!({"method": "PUT", "path": "/widgets/*", "count": 1, "status": 429, "retryAfter": 7});
    let (status, rule) = session.json("POST", "/simulator/faults", Some(rule)).await;
    assert_eq!((status, &rule["id"]), (201, &json!(1)));
    let answer = session.send("PUT", &path, body.clone()).await;
    assert_eq!(answer.status(), 429);
    assert_eq!(header(&answer, "retry-after").as_deref(), Some("7"));
    let error: Value = answer.json().await.unwrap();
    assert_eq!(error["error"]["code"], "TooManyRequests");
    assert_eq!(
        session.json("GET", &path, None).await.0,
        404,
        "the fault came first"
    );

    let nothing = Some(json!({"method": "PUT"}));
    let (status, _) = session.json("POST", "/simulator/faults", nothing).await;
    assert_eq!(status, 400, "a rule without effect");

    let simulator = session.running.simulator();
    simulator.add_fault(FaultRule {
        method: Some("PUT".into()),
        reset: true,
        count: Some(1),
        ..FaultRule::default()
    });
    assert!(session.try_send("PUT", &path, body.clone()).await.is_err());
    let cut = simulator.requests(&Query {
        method: Some("PUT".into()),
        status: Some(0),
        ..Query::default()
    });
    assert_eq!(cut[0].fault, Some(2));
    simulator.add_fault(FaultRule {
        delay: Some(Duration::from_millis(120)),
        count: Some(1),
        ..FaultRule::default()
    });
    let started = Instant::now();
    assert_eq!(session.json("PUT", &path, body).await.0, 201);
    assert!(started.elapsed() >= Duration::from_millis(120));
    assert_eq!(
        session.json("DELETE", "/simulator/faults/1", None).await.0,
        204
    );
    assert_eq!(
        session.json("DELETE", "/simulator/faults/1", None).await.0,
        404
    );
    session.running.stop().await;
}

#[tokio::test]
async fn limits_refuse_when_enforced() {
    let session = Session::start(Settings {
        limits: Limits {
            enforce: true,
            reads: 2.0,
            reads_per_second: 0.001,
            ..Limits::default()
        },
        ..Settings::default()
    })
    .await;
    for expected in [200, 200, 429] {
        assert_eq!(session.json("GET", SUBSCRIPTION, None).await.0, expected);
    }
    session.running.stop().await;
}

#[tokio::test]
async fn the_hand_of_somebody_else_shows() {
    let session = Session::start(Settings::default()).await;
    session.make_group().await;
    let path = in_group("Contoso.Test/widgets/w");
    let control = format!("/simulator/resources{path}");
    let (_, placed) = session
        .json("PUT", &control, Some(json!({"location": "eastus"})))
        .await;
    assert_eq!(placed["type"], "Contoso.Test/widgets");
    assert_eq!(
        session.json("GET", &path, None).await.1["location"],
        "eastus"
    );
    session
        .json("PATCH", &control, Some(json!({"tags": {"by": "hand"}})))
        .await;
    assert_eq!(
        session.json("GET", &path, None).await.1["tags"]["by"],
        "hand"
    );
    let (_, listed) = session
        .json(
            "GET",
            "/simulator/resources?type=contoso.test/widgets",
            None,
        )
        .await;
    assert_eq!(listed["value"][0]["name"], "w");
    assert_eq!(session.json("DELETE", &control, None).await.0, 204);
    assert_eq!(session.json("GET", &path, None).await.0, 404);
    session.running.stop().await;
}

#[tokio::test]
async fn operations_can_be_ended_from_outside() {
    let session = Session::start(Settings {
        operations: OperationRule {
            latency: Some(Duration::from_secs(3600)),
            ..OperationRule::default()
        },
        ..Settings::default()
    })
    .await;
    session.make_group().await;
    let path = in_group("Contoso.Test/widgets/w");
    let answer = session
        .send("PUT", &path, Some(json!({"location": "westus2"})))
        .await;
    let poll = header(&answer, "azure-asyncoperation").unwrap();
    assert_eq!(
        session.json("GET", &poll, None).await.1["status"],
        "InProgress"
    );
    let (_, all) = session.json("GET", "/simulator/operations", None).await;
    let name = all["value"][0]["id"].as_str().unwrap();
    assert_eq!(
        session.json("GET", "/simulator/stats", None).await.1["operationsRunning"],
        1
    );
    let end = format!("/simulator/operations/{name}");
    let failure = json!({"failure": {"code": "Conflict", "message": "No."}});
    assert_eq!(session.json("POST", &end, Some(failure)).await.0, 204);
    assert_eq!(
        session.json("GET", &poll, None).await.1["error"]["code"],
        "Conflict"
    );
    assert_eq!(session.json("POST", "/simulator/reset", None).await.0, 204);
    assert_eq!(session.running.simulator().ids(), Vec::<String>::new());
    session.running.stop().await;
}

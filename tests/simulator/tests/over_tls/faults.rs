//! Faults that only a client over HTTP sees, and those that a client cannot tell from Azure being Azure.

use std::time::Duration;

use armature_simulator::{Chaos, Failure, FaultRule, OperationRule, Settings, Spoil, Style};
use serde_json::{Value, json};

use crate::common::client::Session;
use crate::common::{SUBSCRIPTION, in_group};

fn widget() -> String {
    in_group("Contoso.Test/widgets/w")
}

fn once(method: &str) -> FaultRule {
    FaultRule {
        method: Some(method.to_owned()),
        path: Some("/widgets/".to_owned()),
        count: Some(1),
        ..FaultRule::default()
    }
}

fn body() -> Option<Value> {
    Some(json!({"location": "westus2"}))
}

async fn session(rule: OperationRule) -> Session {
    let session = Session::start(Settings::default()).await;
    session.make_group().await;
    let simulator = session.running.simulator();
    simulator.set_operation_rule(Some("Contoso.Test/widgets"), rule);
    session
}

async fn immediate() -> Session {
    session(OperationRule {
        put: Some(Style::Immediate),
        delete: Some(Style::Immediate),
        ..OperationRule::default()
    })
    .await
}

#[tokio::test]
async fn a_spoilt_answer_is_to_a_request_that_was_carried_out() {
    for spoil in [Spoil::Reset, Spoil::Truncated, Spoil::NoJson] {
        let session = immediate().await;
        let rule = FaultRule {
            spoil: Some(spoil),
            ..once("PUT")
        };
        session.running.simulator().add_fault(rule);
        match session.try_send("PUT", &widget(), body()).await {
            Err(_) => assert_eq!(spoil, Spoil::Reset),
            Ok(answer) => {
                assert_eq!(answer.status(), 201, "{spoil:?}");
                let text = answer.text().await.unwrap();
                let is_json = serde_json::from_str::<Value>(&text).is_ok();
                assert!(!text.is_empty() && !is_json, "{spoil:?}: {text}");
            }
        }
        assert_eq!(session.json("GET", &widget(), None).await.0, 200);
        session.running.stop().await;
    }
}

#[tokio::test]
async fn a_cut_spares_other_requests() {
    let session = immediate().await;
    session.running.simulator().add_fault(FaultRule {
        reset: true,
        ..once("PUT")
    });
    session.running.simulator().add_fault(FaultRule {
        delay: Some(Duration::from_millis(300)),
        ..once("GET")
    });
    let path = widget();
    let slow = session.send("GET", &path, None);
    let cut = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        session.try_send("PUT", &widget(), body()).await.is_err()
    };
    let (slow, is_cut) = tokio::join!(slow, cut);
    assert!(is_cut);
    assert_eq!(slow.status(), 404, "the cut request has done nothing");
    session.running.stop().await;
}

#[tokio::test]
async fn a_stale_read_shows_what_was_before_the_last_write() {
    let session = immediate().await;
    let simulator = session.running.simulator();
    let stale = |path: &str| {
        simulator.add_fault(FaultRule {
            path: Some(path.to_owned()),
            stale: true,
            ..once("GET")
        })
    };
    let group = format!("{SUBSCRIPTION}/resourceGroups/other");
    let tagged =
        |stage: u8| Some(json!({"location": "westus2", "tags": {"stage": stage.to_string()}}));
    session.json("PUT", &group, tagged(1)).await;
    stale(&group);
    assert_eq!(session.json("GET", &group, None).await.0, 404);
    session.json("PUT", &group, tagged(2)).await;
    stale(&group);
    let old = session.json("GET", &group, None).await.1;
    let new = session.json("GET", &group, None).await.1;
    assert_eq!(
        (&old["tags"]["stage"], &new["tags"]["stage"]),
        (&json!("1"), &json!("2"))
    );
    session.json("PUT", &widget(), body()).await;
    session.json("DELETE", &widget(), None).await;
    stale("/widgets/");
    assert_eq!(session.json("GET", &widget(), None).await.0, 200);
    assert_eq!(session.json("GET", &widget(), None).await.0, 404);
    session.running.stop().await;
}

#[tokio::test]
async fn an_endless_operation_ends_when_the_provider_gives_up() {
    let session = session(OperationRule {
        put: Some(Style::AsyncOperation),
        ..OperationRule::default()
    })
    .await;
    let simulator = session.running.simulator();
    simulator.add_fault(FaultRule {
        endless: true,
        ..once("PUT")
    });
    let answer = session.send("PUT", &widget(), body()).await;
    let poll = answer.headers()["azure-asyncoperation"].to_str().unwrap();
    for _ in 0..3 {
        let status = session.json("GET", poll, None).await.1;
        assert_eq!(status["status"], "InProgress");
    }
    let failure = Failure {
        code: "OperationTimedOut".into(),
        message: "The operation took too long.".into(),
    };
    assert_eq!(simulator.fail_operations(&widget(), &failure).unwrap(), 1);
    let status = session.json("GET", poll, None).await.1;
    assert_eq!(status["status"], "Failed");
    assert_eq!(simulator.fail_operations(&widget(), &failure).unwrap(), 0);
    session.running.stop().await;
}

#[tokio::test]
async fn faults_from_a_seed_come_and_go() {
    let session = immediate().await;
    let simulator = session.running.simulator();
    simulator.set_chaos(Some(Chaos { seed: 1, rate: 1.0 }));
    let mut harmed = 0;
    for _ in 0..10 {
        let answer = session.try_send("GET", &widget(), None).await;
        harmed += usize::from(!answer.is_ok_and(|answer| answer.status() == 404));
    }
    assert!(harmed >= 5, "{harmed} of 10");
    simulator.set_chaos(None);
    assert_eq!(session.json("GET", &widget(), None).await.0, 404);
    session.running.stop().await;
}

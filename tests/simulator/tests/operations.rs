//! Long-running operations in each style (ARM RPC, async API).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod common;

use std::time::Duration;

use armature_simulator::{Failure, FaultRule, OperationRule, Settings, Style};
use common::{Bench, SUBSCRIPTION, code, in_group};
use serde_json::json;

fn bench(rule: OperationRule) -> Bench {
    let bench = Bench::with_group(Settings::default());
    bench
        .simulator
        .set_operation_rule(Some("Contoso.Test/widgets"), rule);
    bench
}

fn rule(style: Style) -> OperationRule {
    OperationRule {
        put: Some(style),
        delete: Some(style),
        polls: Some(1),
        retry_after: Some(3),
        ..OperationRule::default()
    }
}

fn widget() -> String {
    in_group("Contoso.Test/widgets/w")
}

fn state(bench: &Bench) -> Option<String> {
    let body = bench.get(&widget()).body?;
    let state = body["properties"]["provisioningState"].as_str()?;
    Some(state.to_owned())
}

#[test]
fn a_patch_is_immediate_unless_a_rule_says_otherwise() {
    let patch = |rule: OperationRule| {
        let bench = bench(rule);
        let poll = bench.put(&widget(), json!({"location": "westus2"}));
        let poll = poll.header("azure-asyncoperation").unwrap().to_owned();
        for _ in 0..2 {
            bench.get(&poll);
        }
        let answer = bench.send("PATCH", &widget(), Some(json!({"location": "westus2"})));
        (
            answer.status,
            answer.header("azure-asyncoperation").is_some(),
        )
    };
    let rule = rule(Style::AsyncOperation);
    assert_eq!(patch(rule.clone()), (200, false));
    let long_running = OperationRule {
        patch: Some(Style::AsyncOperation),
        ..rule
    };
    assert_eq!(patch(long_running), (200, true));
}

#[test]
fn an_async_operation_shows_the_resource_and_a_status() {
    let bench = bench(rule(Style::AsyncOperation));
    let answer = bench.put(&widget(), json!({"location": "westus2"}));
    assert_eq!(answer.status, 201);
    assert_eq!(answer.header("retry-after"), Some("3"));
    assert_eq!(answer.header("location"), None);
    assert_eq!(
        answer.body.as_ref().unwrap()["properties"]["provisioningState"],
        "Creating"
    );
    let poll = answer.header("azure-asyncoperation").unwrap();
    let running = bench.get(poll);
    assert_eq!(running.status, 200, "a status is always 200");
    assert_eq!(running.body.as_ref().unwrap()["status"], "InProgress");
    assert_eq!(running.header("retry-after"), Some("3"));
    let ended = bench.get(poll);
    assert_eq!(ended.body.as_ref().unwrap()["status"], "Succeeded");
    assert_eq!(ended.header("retry-after"), None);
    assert_eq!(state(&bench).as_deref(), Some("Succeeded"));
}

#[test]
fn a_location_answers_as_the_request_would_have() {
    let bench = bench(rule(Style::Location));
    let answer = bench.put(&widget(), json!({"location": "westus2"}));
    assert_eq!((answer.status, &answer.body), (202, &None));
    assert_eq!(answer.header("azure-asyncoperation"), None);
    assert_eq!(bench.get(&widget()).status, 404, "not there until the end");
    let poll = answer.header("location").unwrap();
    let running = bench.get(poll);
    assert_eq!((running.status, &running.body), (202, &None));
    assert!(running.header("location").is_some());
    let ended = bench.get(poll);
    assert_eq!(ended.status, 200);
    assert_eq!(ended.body.unwrap()["name"], "w");
    assert_eq!(state(&bench).as_deref(), Some("Succeeded"));

    let answer = bench.delete(&widget());
    assert_eq!(answer.status, 202);
    assert_eq!(state(&bench).as_deref(), Some("Deleting"));
    let poll = answer.header("location").unwrap();
    assert_eq!(bench.get(poll).status, 202);
    assert_eq!(bench.get(poll).status, 200);
    assert_eq!(code(&bench.get(&widget())), "ResourceNotFound");
}

#[test]
fn both_headers_lead_to_the_same_operation() {
    let bench = bench(rule(Style::Both));
    let answer = bench.put(&widget(), json!({"location": "westus2"}));
    assert_eq!(answer.status, 202);
    let status = bench.get(answer.header("azure-asyncoperation").unwrap());
    assert_eq!(status.body.unwrap()["status"], "InProgress");
    assert_eq!(bench.get(answer.header("location").unwrap()).status, 200);
}

#[test]
fn a_provisioning_state_is_polled_on_the_resource() {
    let bench = bench(rule(Style::ProvisioningState));
    let answer = bench.put(&widget(), json!({"location": "westus2"}));
    assert_eq!(answer.status, 201);
    assert_eq!(answer.header("azure-asyncoperation"), None);
    assert_eq!(answer.header("location"), None);
    assert_eq!(state(&bench).as_deref(), Some("Creating"));
    assert_eq!(state(&bench).as_deref(), Some("Succeeded"));
    assert_eq!(
        bench.put(&widget(), json!({"location": "westus2"})).status,
        200
    );
    assert_eq!(state(&bench).as_deref(), Some("Updating"));
    assert_eq!(state(&bench).as_deref(), Some("Succeeded"));
}

#[test]
fn without_an_operation_the_answer_is_final() {
    let bench = bench(rule(Style::Immediate));
    let answer = bench.put(&widget(), json!({"location": "westus2"}));
    assert_eq!(answer.status, 201);
    assert_eq!(
        answer.body.unwrap()["properties"]["provisioningState"],
        "Succeeded"
    );
    assert_eq!(bench.delete(&widget()).status, 200);
}

#[test]
fn latency_is_time_and_not_polls() {
    let bench = bench(OperationRule {
        polls: None,
        latency: Some(Duration::from_secs(10)),
        ..rule(Style::AsyncOperation)
    });
    let answer = bench.put(&widget(), json!({"location": "westus2"}));
    let poll = answer.header("azure-asyncoperation").unwrap();
    for _ in 0..3 {
        assert_eq!(bench.get(poll).body.unwrap()["status"], "InProgress");
    }
    bench.pass(10);
    assert_eq!(bench.get(poll).body.unwrap()["status"], "Succeeded");
}

#[test]
fn an_operation_ends_early_when_it_is_told_to() {
    let bench = bench(OperationRule {
        latency: Some(Duration::MAX),
        ..rule(Style::AsyncOperation)
    });
    let answer = bench.put(&widget(), json!({"location": "westus2"}));
    let poll = answer.header("azure-asyncoperation").unwrap();
    assert_eq!(bench.get(poll).body.unwrap()["status"], "InProgress");
    assert_eq!(bench.simulator.finish_operations(&widget()), Ok(1));
    assert_eq!(bench.get(poll).body.unwrap()["status"], "Succeeded");
    assert_eq!(bench.simulator.finish_operations(&widget()), Ok(0));
}

#[test]
fn a_write_while_an_operation_runs_is_refused() {
    let bench = bench(rule(Style::AsyncOperation));
    bench.put(&widget(), json!({"location": "westus2"}));
    let answer = bench.put(&widget(), json!({"location": "westus2"}));
    assert_eq!(
        (answer.status, code(&answer)),
        (409, "AnotherOperationInProgress")
    );
}

#[test]
fn a_group_on_its_way_out_takes_nothing_in() {
    let bench = bench(rule(Style::Immediate));
    let settings = OperationRule {
        latency: Some(Duration::from_secs(10)),
        ..OperationRule::default()
    };
    bench.simulator.set_operation_rule(None, settings);
    let group = format!("{SUBSCRIPTION}/resourceGroups/group");
    assert_eq!(bench.delete(&group).status, 202);
    let shown = bench.get(&group).body.unwrap();
    assert_eq!(shown["properties"]["provisioningState"], "Deleting");
    for path in [&group, &widget()] {
        let answer = bench.put(path, json!({"location": "westus2"}));
        assert_eq!(
            (answer.status, code(&answer)),
            (409, "ResourceGroupBeingDeleted")
        );
    }
    bench.pass(10);
    assert_eq!(code(&bench.get(&group)), "ResourceGroupNotFound");
}

fn failing(bench: &Bench, method: &str) {
    bench.simulator.add_fault(FaultRule {
        method: Some(method.into()),
        fail_operation: Some(Failure {
            code: "SkuNotAvailable".into(),
            message: "No capacity.".into(),
        }),
        count: Some(1),
        ..FaultRule::default()
    });
}

#[test]
fn a_failed_create_leaves_a_resource_to_put_again() {
    let bench = bench(rule(Style::AsyncOperation));
    failing(&bench, "PUT");
    let answer = bench.put(&widget(), json!({"location": "westus2"}));
    let poll = answer.header("azure-asyncoperation").unwrap();
    bench.get(poll);
    let ended = bench.get(poll);
    assert_eq!(ended.status, 200);
    let body = ended.body.unwrap();
    assert_eq!(body["status"], "Failed");
    assert_eq!(
        body["error"],
        json!({"code": "SkuNotAvailable", "message": "No capacity."})
    );
    assert_eq!(state(&bench).as_deref(), Some("Failed"));
    assert_eq!(
        bench.put(&widget(), json!({"location": "westus2"})).status,
        200
    );
}

#[test]
fn a_failed_update_returns_to_the_old_state() {
    let bench = Bench::with_group(Settings::default());
    let path = in_group("Microsoft.Storage/storageAccounts/account");
    let body = |tag: &str| {
        json!({
            "location": "westus2",
            "kind": "StorageV2",
            "sku": {"name": "Standard_LRS"},
            "tags": {"t": tag},
        })
    };
    bench.put(&path, body("old"));
    bench.get(&path);
    failing(&bench, "PUT");
    let answer = bench.put(&path, body("new"));
    let ended = bench.get(answer.header("location").unwrap());
    assert_eq!((ended.status, code(&ended)), (409, "SkuNotAvailable"));
    let shown = bench.get(&path).body.unwrap();
    assert_eq!(shown["tags"]["t"], "old");
    assert_eq!(shown["properties"]["provisioningState"], "Failed");
}

#[test]
fn operations_are_seen_by_who_started_them() {
    let bench = bench(rule(Style::AsyncOperation));
    let answer = bench.put(&widget(), json!({"location": "westus2"}));
    let poll = answer.header("azure-asyncoperation").unwrap();
    bench.sign_in_as("somebody-else");
    let answer = bench.get(poll);
    assert_eq!((answer.status, code(&answer)), (404, "OperationNotFound"));
}

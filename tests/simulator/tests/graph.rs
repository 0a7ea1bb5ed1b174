//! Azure Resource Graph: what it has, what it tells of changes, how late, and how often it may be asked.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod common;

use std::time::Duration;

use armature_simulator::{Answer, FaultRule, GraphSettings, OperationRule, Settings, Style};
use common::{Bench, SUBSCRIPTION, in_group, kinds};
use serde_json::{Value, json};

const URL: &str = "/providers/Microsoft.ResourceGraph/resources?api-version=2022-10-01";

const CHANGES: &str = "resourcechanges | extend at = todatetime(properties.changeAttributes.timestamp), \
    target = tostring(properties.targetResourceId), word = tostring(properties.changeType) \
    | where at > datetime(1970-01-01T00:00:00Z) | project id, target, at, word | order by at asc";

fn ask(bench: &Bench, query: &str, options: Value) -> Answer {
    let subscription = SUBSCRIPTION.trim_start_matches("/subscriptions/");
    let mut all = json!({"resultFormat": "objectArray"});
    for (name, value) in options.as_object().unwrap() {
        all[name] = value.clone();
    }
    let body = json!({"subscriptions": ["other", subscription], "query": query, "options": all});
    bench.send("POST", URL, Some(body))
}

fn rows(bench: &Bench, query: &str) -> Vec<Value> {
    let body = ask(bench, query, json!({})).body.unwrap();
    body["data"]
        .as_array()
        .unwrap_or_else(|| panic!("{body}"))
        .clone()
}

fn words(bench: &Bench) -> Vec<String> {
    let rows = rows(bench, CHANGES);
    rows.iter()
        .map(|row| row["word"].as_str().unwrap().to_owned())
        .collect()
}

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.header(name).unwrap()
}

/// A bench with an account, a child of it, and its type.
fn with_account(graph: GraphSettings) -> (Bench, String) {
    let settings = Settings {
        graph,
        ..Settings::default()
    };
    let bench = Bench::with_group(settings);
    let id = in_group("Microsoft.Storage/storageAccounts/account");
    let body = json!({"location": "westus2", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}});
    let made = bench.put(&id, body);
    assert!(made.status < 300, "{made:?}");
    assert_eq!(bench.get(&id).status, 200);
    (bench, id)
}

#[test]
fn it_has_tracked_resources_and_groups_and_nothing_else() {
    let (bench, id) = with_account(GraphSettings::default());
    assert!(kinds::KINDS.len() > 2);
    let child = format!("{id}/blobServices/default");
    let made = bench.put(&child, json!({"properties": {"cors": true}}));
    assert!(made.status < 300, "{made:?}");
    let shown = rows(&bench, "resources | project id, type | order by id asc");
    assert_eq!(
        shown,
        [json!({"id": id, "type": "microsoft.storage/storageaccounts"})]
    );
    let groups = rows(&bench, "resourcecontainers | project id");
    assert_eq!(
        groups,
        [json!({"id": format!("{SUBSCRIPTION}/resourceGroups/group")})]
    );
    let none = "resources | where type in~ ('microsoft.sql/servers') | project id";
    assert_eq!(rows(&bench, none), [Value::Null; 0]);
}

#[test]
fn it_tells_of_changes_once_and_in_its_own_casing() {
    let (bench, id) = with_account(GraphSettings::default());
    assert_eq!(words(&bench), ["Create"]);
    bench.get(&id);
    assert_eq!(words(&bench), ["Create"]);
    bench.pass(60);
    bench
        .simulator
        .drift(&id, &json!({"tags": {"by": "hand"}}))
        .unwrap();
    bench.pass(60);
    bench.simulator.remove(&id).unwrap();
    assert_eq!(words(&bench), ["Create", "Update", "Delete"]);
    let all = rows(&bench, CHANGES);
    assert_eq!(all[1]["target"], id.to_lowercase());
    assert_eq!(all[1]["at"], "1970-01-12T13:47:40.000Z");
    let containers = CHANGES.replace("resourcechanges", "resourcecontainerchanges");
    assert_eq!(rows(&bench, &containers).len(), 1);
    assert_eq!(rows(&bench, "resources | project id"), [Value::Null; 0]);
}

#[test]
fn it_is_as_late_as_it_is_told_to_be() {
    let delay = Duration::from_secs(60);
    let (bench, _) = with_account(GraphSettings {
        delay,
        ..GraphSettings::default()
    });
    bench.pass(59);
    assert_eq!(words(&bench), [""; 0]);
    assert_eq!(rows(&bench, "resources | project id").len(), 0);
    bench.pass(1);
    assert_eq!(words(&bench), ["Create"]);
    assert_eq!(rows(&bench, "resources | project id").len(), 1);
}

#[test]
fn it_gives_pages_where_rows_have_ids() {
    let (bench, id) = with_account(GraphSettings::default());
    for number in 0..2 {
        bench.pass(1);
        let patch = json!({"tags": {"n": number.to_string()}});
        bench.simulator.drift(&id, &patch).unwrap();
    }
    let first = ask(&bench, CHANGES, json!({"$top": 2})).body.unwrap();
    assert_eq!(
        (&first["count"], &first["totalRecords"]),
        (&json!(2), &json!(3))
    );
    let token = first["$skipToken"].clone();
    let second = ask(&bench, CHANGES, json!({"$top": 2, "$skipToken": token}));
    let second = second.body.unwrap();
    assert_eq!(
        (&second["count"], &second["$skipToken"]),
        (&json!(1), &Value::Null)
    );
    let without = CHANGES.replace("project id, ", "project ");
    let cut = ask(&bench, &without, json!({"$top": 2})).body.unwrap();
    assert_eq!(
        (&cut["resultTruncated"], &cut["$skipToken"]),
        (&json!("true"), &Value::Null)
    );
}

#[test]
fn it_takes_so_many_queries_in_a_window_and_says_so() {
    let (bench, _) = with_account(GraphSettings {
        quota: 2,
        ..GraphSettings::default()
    });
    let query = "resources | project id";
    for left in ["1", "0"] {
        let answer = ask(&bench, query, json!({}));
        assert_eq!(
            (answer.status, header(&answer, "x-ms-user-quota-remaining")),
            (200, left)
        );
        assert_eq!(header(&answer, "x-ms-user-quota-resets-after"), "00:00:05");
    }
    let refused = ask(&bench, query, json!({}));
    assert_eq!(refused.status, 429);
    assert!(refused.header("retry-after").is_some());
    bench.pass(5);
    assert_eq!(ask(&bench, query, json!({})).status, 200);
}

#[test]
fn it_refuses_what_it_does_not_understand_and_whom_a_rule_names() {
    let (bench, _) = with_account(GraphSettings::default());
    assert_eq!(
        ask(&bench, "resources | summarize count()", json!({})).status,
        400
    );
    let body = json!({"subscriptions": ["unknown"], "query": "resources", "options": {"resultFormat": "objectArray"}});
    assert_eq!(bench.send("POST", URL, Some(body)).status, 403);
    bench.simulator.add_fault(FaultRule {
        path: Some("/providers/Microsoft.ResourceGraph/resources$".to_owned()),
        status: Some(403),
        ..FaultRule::default()
    });
    assert_eq!(ask(&bench, "resources | project id", json!({})).status, 403);
}

/// By whose request something changed, also where that came to its end later.
#[test]
fn it_tells_by_which_request_something_changed() {
    let slow = OperationRule {
        put: Some(Style::AsyncOperation),
        polls: Some(0),
        latency: Some(Duration::from_secs(30)),
        ..OperationRule::default()
    };
    let bench = Bench::with_group(Settings::default());
    let id = in_group("Microsoft.Storage/storageAccounts/account");
    let mut body =
        json!({"location": "westus2", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}});
    let with = |correlation| [("x-ms-correlation-request-id", correlation)];
    bench.send_with("PUT", &id, body.clone(), &with("put-1"));
    bench.pass(1);
    bench.simulator.set_operation_rule(None, slow);
    body["tags"] = json!({"by": "hand"});
    let sent = bench.send_with("PUT", &id, body, &with("put-2"));
    assert!(sent.status < 300, "{sent:?}");
    bench.pass(60);
    bench.get(&id);
    bench.pass(1);
    let patch = json!({"tags": {"by": "somebody"}});
    bench.simulator.drift(&id, &patch).unwrap();
    let query = "resourcechanges | extend at = todatetime(properties.changeAttributes.timestamp), \
        correlation = tostring(properties.changeAttributes.correlationId), \
        sort = tostring(properties.changeAttributes.changedByType) \
        | where at > datetime(1970-01-01T00:00:00Z) | project id, at, correlation, sort | order by at asc";
    let rows = rows(&bench, query);
    let told = rows.iter().map(|row| (&row["correlation"], &row["sort"]));
    let told: Vec<String> = told.map(|(id, sort)| format!("{id} {sort}")).collect();
    let expected = [
        r#""put-1" "Application""#,
        r#""put-2" "Application""#,
        r#""put-2" "Application""#,
        r#"null "System""#,
    ];
    assert_eq!(told, expected, "{rows:#?}");
}

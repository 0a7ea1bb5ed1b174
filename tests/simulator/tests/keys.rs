//! List actions answer keys.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use armature_runtime::kind::{KindInfo, SecretSource};
use armature_runtime::reconcile::secret_source::values;
use armature_simulator::{OperationRule, Settings, Style};
use common::{Bench, SUBSCRIPTION, in_group};
use serde_json::{Value, json};

/// A simulator of all kinds, with the test's resource group.
fn bench() -> Bench {
    let bench = Bench::serving(armature_generated::KINDS, Settings::default());
    let group = format!("{SUBSCRIPTION}/resourceGroups/group?api-version=2020-06-01");
    let made = bench.put(&group, json!({"location": "westus2"}));
    assert_eq!(made.status, 201);
    bench
}

/// Puts a resource of the kind, and all that it is in, into Azure; its id.
fn place(bench: &Bench, kind: &KindInfo) -> String {
    let mut segments = kind.remote_type().split('/');
    let mut path = segments.next().unwrap().to_owned();
    let mut id = String::new();
    for segment in segments {
        path = format!("{path}/{segment}/thing");
        id = in_group(&path);
        let body = json!({"id": id, "name": "thing", "location": "westus2", "properties": {}});
        bench.simulator.place(&id, body).unwrap();
    }
    id
}

/// Each key of a Secret that comes from an action is in the answer that Azure's specs or recordings have, where the
/// operator looks for it.
#[test]
fn every_action_that_secrets_come_from_answers_with_their_keys() {
    let bench = bench();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for kind in armature_generated::KINDS {
        let rows = kind.secrets.iter().filter_map(|row| match row.source {
            SecretSource::Action { action, .. } => Some((row.key.to_owned(), action)),
            _ => None,
        });
        let rows: Vec<(String, &str)> = rows.collect();
        if rows.is_empty() {
            continue;
        }
        let id = place(&bench, kind);
        let version = kind.versions.last().unwrap().api_version;
        let mut answers: BTreeMap<&str, Value> = BTreeMap::new();
        for (_, action) in &rows {
            // A rule that comes with the resource is there once that is made by a PUT.
            if let Some((rule, _)) = action.rsplit_once('/') {
                let rule = format!("{id}/{rule}");
                bench.simulator.place(&rule, json!({"id": rule})).unwrap();
            }
            let url = format!("{id}/{action}?api-version={version}");
            let answer = bench.send("POST", &url, None);
            if answer.status == 200 {
                answers.insert(action, answer.body.unwrap());
            } else {
                wrong.push(format!("{} {action}: {answer:?}", kind.kind));
            }
        }
        let wanted: BTreeSet<String> = rows.into_iter().map(|(key, _)| key).collect();
        let found = values(kind, &wanted, &Value::Null, None, &answers).0;
        seen += found.len();
        let is_there = |key: &&String| found.get(*key).is_some_and(|text| !text.is_empty());
        for key in wanted.iter().filter(|key| !is_there(key)) {
            wrong.push(format!("{} {key}: not in {answers:?}", kind.kind));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 90, "{seen} keys come from actions");
}

#[test]
fn list_actions_answer_keys_where_the_specs_have_them() {
    let bench = bench();
    let account = json!({
        "databaseAccountOfferType": "Standard",
        "locations": [{"locationName": "westus2"}],
    });
    for (arm_type, version, body, action, places) in [
        (
            "Microsoft.DocumentDB/databaseAccounts",
            "2024-08-15",
            json!({"location": "westus2", "properties": account}),
            "listKeys",
            &["/primaryMasterKey", "/secondaryReadonlyMasterKey"][..],
        ),
        (
            "Microsoft.Search/searchServices",
            "2023-11-01",
            json!({"location": "westus2", "sku": {"name": "standard"}}),
            "listAdminKeys",
            &["/primaryKey", "/secondaryKey"],
        ),
        (
            "Microsoft.Search/searchServices",
            "2023-11-01",
            json!({"location": "westus2", "sku": {"name": "standard"}}),
            "listQueryKeys",
            &["/value/0/key"],
        ),
    ] {
        let rule = OperationRule {
            put: Some(Style::Immediate),
            ..OperationRule::default()
        };
        bench.simulator.set_operation_rule(Some(arm_type), rule);
        let id = in_group(&format!("{arm_type}/thing"));
        let query = format!("?api-version={version}");
        let made = bench.put(&format!("{id}{query}"), body);
        assert!(made.status < 300, "{arm_type}: {made:?}");
        let answer = bench.send("POST", &format!("{id}/{action}{query}"), None);
        let answer = answer.body.unwrap();
        for place in places {
            let key = answer.pointer(place).and_then(|key| key.as_str());
            assert!(key.is_some_and(|key| key.len() >= 32), "{action}: {answer}");
        }
    }
}

//! List actions answer keys.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use armature_simulator::{OperationRule, Settings, Style};
use common::{Bench, SUBSCRIPTION, in_group};
use serde_json::json;

#[test]
fn list_actions_answer_keys_where_the_specs_have_them() {
    let bench = Bench::serving(armature_generated::KINDS, Settings::default());
    let group = format!("{SUBSCRIPTION}/resourceGroups/group?api-version=2020-06-01");
    assert_eq!(
        bench.put(&group, json!({"location": "westus2"})).status,
        201
    );
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

//! Deleted vaults are kept, in the way of a new one, until they are recovered or purged.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod common;

use armature_simulator::{OperationRule, Settings, Style};
use common::{Bench, SUBSCRIPTION, code, in_group};
use serde_json::{Value, json};

const API: &str = "?api-version=2023-07-01";

fn vault(create_mode: &str) -> Value {
    json!({
        "location": "westus2",
        "properties": {
            "tenantId": common::TENANT,
            "sku": {"family": "A", "name": "standard"},
            "accessPolicies": [],
            "createMode": create_mode,
        },
    })
}

fn bench() -> Bench {
    let bench = Bench::serving(armature_generated::KINDS, Settings::default());
    let group = format!("{SUBSCRIPTION}/resourceGroups/group?api-version=2020-06-01");
    assert_eq!(
        bench.put(&group, json!({"location": "westus2"})).status,
        201
    );
    let rule = OperationRule {
        put: Some(Style::Immediate),
        delete: Some(Style::Immediate),
        polls: Some(1),
        ..OperationRule::default()
    };
    let arm_type = "Microsoft.KeyVault/vaults";
    bench.simulator.set_operation_rule(Some(arm_type), rule);
    bench
}

#[test]
fn a_deleted_vault_is_recovered_or_purged_before_its_name_is_free() {
    let bench = bench();
    let id = in_group("Microsoft.KeyVault/vaults/kept-vault");
    let url = format!("{id}{API}");
    let deleted = format!(
        "{SUBSCRIPTION}/providers/Microsoft.KeyVault/locations/westus2/deletedVaults/kept-vault"
    );
    let kept = format!("{deleted}{API}");
    assert_eq!(code(&bench.get(&kept)), "DeletedVaultNotFound");
    assert_eq!(
        code(&bench.put(&url, vault("recover"))),
        "DeletedVaultNotFound"
    );
    assert_eq!(bench.put(&url, vault("default")).status, 201);
    assert_eq!(bench.delete(&url).status, 200);

    let answer = bench.get(&kept);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body.unwrap()["properties"]["vaultId"], id.as_str());
    assert!(
        !bench
            .simulator
            .ids()
            .iter()
            .any(|id| id.contains("deletedVaults"))
    );
    assert_eq!(code(&bench.put(&url, vault("default"))), "ConflictError");
    assert_eq!(bench.put(&url, vault("recover")).status, 201);
    assert_eq!(code(&bench.get(&kept)), "DeletedVaultNotFound");

    // With its group, too.
    bench
        .simulator
        .remove(&format!("{SUBSCRIPTION}/resourceGroups/group"))
        .unwrap();
    assert_eq!(bench.get(&kept).status, 200);
    let purge = format!("{deleted}/purge{API}");
    let answer = bench.send("POST", &purge, None);
    assert_eq!(answer.status, 202);
    let poll = answer.header("location").unwrap().to_owned();
    let again = bench.send("POST", &purge, None);
    assert_eq!(again.status, 409, "one at a time");
    assert_eq!(bench.get(&poll).status, 202);
    assert_eq!(bench.get(&poll).status, 200);
    assert_eq!(code(&bench.get(&kept)), "DeletedVaultNotFound");
    assert_eq!(
        code(&bench.send("POST", &purge, None)),
        "DeletedVaultNotFound"
    );
}

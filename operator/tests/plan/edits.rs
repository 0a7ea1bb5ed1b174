//! What Azure makes of an edit is told by the value, on real kinds: nobody is sent to delete a database on a guess.

use serde_json::{Value, json};

use super::commands::World;
use super::{GROUP, plan, writes};

const SERVER: &str = "Microsoft.DBforPostgreSQL/flexibleServers/orders";
const ACCOUNT: &str = "Microsoft.Storage/storageAccounts/shopdata";

fn server(zone: &str, size: u64, version: &str) -> Value {
    json!({
        "apiVersion": "dbforpostgresql.azure.com/v20250801", "kind": "FlexibleServer", "metadata": {"name": "orders"},
        "spec": {
            "location": "westeurope", "owner": {"name": "shop"}, "version": version, "availabilityZone": zone,
            "highAvailability": {"mode": "ZoneRedundant", "standbyAvailabilityZone": "2"},
            "storage": {"storageSizeGB": size, "autoGrow": "Disabled"},
        },
    })
}

fn account(sku: &str, hns: bool) -> Value {
    json!({
        "apiVersion": "storage.azure.com/v1api20230101", "kind": "StorageAccount", "metadata": {"name": "shopdata"},
        "spec": {
            "location": "westeurope", "owner": {"name": "shop"}, "kind": "StorageV2", "sku": {"name": sku},
            "isHnsEnabled": hns,
        },
    })
}

/// With the owner, which has to be there.
fn with_group(manifest: &Value) -> String {
    let group = json!({
        "apiVersion": "resources.azure.com/v1api20200601", "kind": "ResourceGroup",
        "metadata": {"name": "shop"}, "spec": {"location": "westeurope"},
    });
    json!({"apiVersion": "v1", "kind": "List", "items": [group, manifest]}).to_string()
}

/// The action, the message, and each property with what its edit takes.
fn told(found: &Value) -> (&str, &str, Vec<String>) {
    let one = &found["resources"][1];
    let properties = one["properties"].as_array().into_iter().flatten();
    let properties = properties.map(|property| {
        let takes = property["takes"].as_str().unwrap_or("-");
        format!("{} {takes}", property["path"].as_str().unwrap())
    });
    let text = |member: &str| one[member].as_str().unwrap_or_default();
    (text("action"), text("message"), properties.collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_azure_makes_of_an_edit_is_told_by_its_value() {
    let world = World::start_without_operator("plan.md").await;
    let place = |id: &str, body: Value| world.azure().place(id, body).unwrap();
    let done = json!({"provisioningState": "Succeeded"});
    place(GROUP, json!({"location": "westeurope", "properties": done}));
    // After a failover, so that the zones are exchanged.
    place(
        &format!("{GROUP}/providers/{SERVER}"),
        json!({"location": "westeurope", "properties": {
            "state": "Ready", "version": "16", "availabilityZone": "2",
            "highAvailability": {"mode": "ZoneRedundant", "standbyAvailabilityZone": "1"},
            "storage": {"storageSizeGB": 256, "autoGrow": "Disabled"},
        }}),
    );
    place(
        &format!("{GROUP}/providers/{ACCOUNT}"),
        json!({"location": "westeurope", "kind": "StorageV2", "sku": {"name": "Standard_GRS"}, "properties": {
            "provisioningState": "Succeeded", "isHnsEnabled": false,
        }}),
    );
    let (size, version) = ("properties.storage.storageSizeGB", "properties.version");
    let zone = "properties.availabilityZone";
    let standby = "properties.highAvailability.standbyAvailabilityZone";
    let refused = "Azure refuses some of this: put the values back, else nothing of it is changed";
    let row = |path: &str, takes: &str| format!("{path} {takes}");
    let table = [
        (server("1", 256, "16"), "adopt", "", vec![]),
        (
            server("1", 128, "16"),
            "update",
            refused,
            vec![row(size, "refused")],
        ),
        (
            server("1", 512, "17"),
            "update",
            "",
            vec![row(size, "in-place"), row(version, "in-place")],
        ),
        (
            server("1", 256, "15"),
            "update",
            refused,
            vec![row(version, "refused")],
        ),
        // No exchange: Azure says whether it takes it.
        (
            server("3", 256, "16"),
            "update",
            "",
            vec![row(zone, "-"), row(standby, "-")],
        ),
        (
            account("Standard_LRS", false),
            "update",
            "",
            vec![row("sku.name", "in-place")],
        ),
        (
            account("Standard_ZRS", true),
            "update",
            refused,
            vec![
                row("properties.isHnsEnabled", "refused"),
                row("sku.name", "refused"),
            ],
        ),
    ];
    for (manifest, action, message, properties) in table {
        world.write("edit.json", &with_group(&manifest));
        let found = plan(&world, "-f edit.json -n shop", 0).await;
        assert_eq!(
            told(&found),
            (action, message, properties),
            "{manifest:#}: {found:#}"
        );
    }
    world.write("edit.json", &with_group(&server("1", 128, "16")));
    let text = world.run("armature plan -f edit.json -n shop", 0).await;
    let expected = "256 -> 128 (Azure refuses it; rule: refused unless larger)";
    assert!(text.contains(expected), "{text}");
    assert_eq!(writes(&world), 0);
}

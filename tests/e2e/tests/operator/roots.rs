//! What is not in a resource group: one kind for each place in Azure where a resource can be, from apply to gone.

use armature_e2e::World;
use serde_json::{Value, json};

use crate::{SUBSCRIPTION, is_ready, resource_group};

const NAMESPACE: &str = "roots";
const PRINCIPAL: &str = "00000000-0000-0000-0000-0000000000aa";
const ACCOUNT: &str = "/providers/Microsoft.Storage/storageAccounts/rootsaccount";

fn object(kind: (&str, &str), name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": kind.1,
        "kind": kind.0,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": spec,
    })
}

fn assignment(name: &str, owner: Value) -> Value {
    let spec = json!({
        "azureName": name,
        "owner": owner,
        "principalId": PRINCIPAL,
        "roleDefinitionReference": {"wellKnownName": "Reader"},
    });
    let kind = ("RoleAssignment", "authorization.azure.com/v1api20220401");
    object(kind, name, spec)
}

fn uuid(number: u8) -> String {
    format!("00000000-0000-0000-0000-0000000000{number:02}")
}

fn role(number: u8) -> String {
    format!(
        "/providers/Microsoft.Authorization/roleAssignments/{}",
        uuid(number)
    )
}

#[test]
fn resources_of_the_tenant_of_subscriptions_and_of_other_resources_come_and_go() {
    World::shared().run(NAMESPACE, async |world, objects| {
        let group = format!("{SUBSCRIPTION}/resourceGroups/roots-rg");
        let account = format!("{group}{ACCOUNT}");
        let parents = [
            serde_saphyr::from_str(&resource_group("roots-rg", NAMESPACE)).unwrap(),
            object(
                ("StorageAccount", "storage.azure.com/v1api20210401"),
                "rootsaccount",
                json!({
                    "location": "westeurope",
                    "kind": "StorageV2",
                    "sku": {"name": "Standard_LRS"},
                    "owner": {"name": "roots-rg"},
                }),
            ),
        ];
        let of_account = json!({
            "group": "storage.azure.com", "kind": "StorageAccount", "name": "rootsaccount",
        });
        let alias = json!({"properties": {"displayName": "team", "workload": "DevTest"}});
        let alias = object(
            ("Alias", "subscription.azure.com/v1api20211001"),
            "roots-alias",
            alias,
        );
        let rows = [
            (
                alias,
                "/providers/Microsoft.Subscription/aliases/roots-alias".to_owned(),
            ),
            (
                assignment(&uuid(1), json!({"armId": SUBSCRIPTION})),
                format!("{SUBSCRIPTION}{}", role(1)),
            ),
            (
                assignment(&uuid(2), json!({"armId": group})),
                format!("{group}{}", role(2)),
            ),
            (
                assignment(&uuid(3), of_account),
                format!("{account}{}", role(3)),
            ),
            (
                assignment(&uuid(4), json!({"armId": account})),
                format!("{account}{}", role(4)),
            ),
        ];
        let names = |manifest: &Value| {
            let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str);
            let (kind, name) = (text("/kind").unwrap(), text("/metadata/name").unwrap());
            (kind.to_owned(), name.to_owned())
        };
        for manifest in parents
            .iter()
            .chain(rows.iter().map(|(manifest, _)| manifest))
        {
            objects.apply_value(manifest).await.unwrap();
        }
        for (manifest, id) in &rows {
            let (kind, name) = names(manifest);
            objects.wait_ready(&kind, &name, is_ready).await;
            assert!(world.azure().resource(id).is_some(), "{id}");
        }
        for (manifest, id) in &rows {
            let (kind, name) = names(manifest);
            objects.delete(&kind, &name).await.unwrap();
            objects.wait_gone(&kind, &name).await;
            assert!(world.azure().resource(id).is_none(), "{id}");
        }
    });
}

/// Of the credential's subscription alone requests may be about; an alias's own is the exception.
#[test]
fn the_subscription_of_an_alias_is_cancelled_before_it_goes() {
    const NAMESPACE: &str = "aliased";
    World::shared().run(NAMESPACE, async |world, objects| {
        let manifest = json!({
            "apiVersion": "subscription.azure.com/v1api20211001",
            "kind": "Alias",
            "metadata": {"name": "aliased", "namespace": NAMESPACE},
            "spec": {"properties": {"displayName": "team", "workload": "DevTest"}},
        });
        objects.apply_value(&manifest).await.unwrap();
        objects.wait_ready("Alias", "aliased", is_ready).await;
        let alias = "/providers/Microsoft.Subscription/aliases/aliased";
        let made = world.azure().resource(alias).unwrap();
        let name = made["properties"]["subscriptionId"].as_str().unwrap();
        let subscription = format!("/subscriptions/{name}");
        let state = || world.azure().resource(&subscription).unwrap()["state"].clone();
        assert_eq!(state(), "Enabled");
        objects.delete("Alias", "aliased").await.unwrap();
        objects.wait_gone("Alias", "aliased").await;
        assert!(world.azure().resource(alias).is_none());
        assert_eq!(state(), "Disabled");
    });
}

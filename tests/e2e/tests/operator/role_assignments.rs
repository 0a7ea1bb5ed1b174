//! Role assignments: a name that is a UUID, a role that is called by its name, any resource as the owner.

use armature_e2e::World;
use armature_simulator::{FaultRule, Query};
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::{SUBSCRIPTION, has_reason, is_ready, resource_group, sent};

const KIND: &str = "RoleAssignment";
const VERSION: &str = "v1api20220401";
const READER: &str = "acdd72a7-3385-48ef-bd42-f606fba81ae7";

fn assignment(namespace: &str, name: &str, spec: &Value) -> Value {
    let mut manifest = json!({
        "apiVersion": format!("authorization.azure.com/{VERSION}"),
        "kind": KIND,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "principalId": "00000000-0000-0000-0000-0000000000aa",
            "roleDefinitionReference": {"wellKnownName": "reader"},
        },
    });
    for (member, value) in spec.as_object().into_iter().flatten() {
        manifest["spec"][member] = value.clone();
    }
    manifest
}

fn of_group(group: &str) -> Value {
    json!({"name": group, "group": "resources.azure.com", "kind": "ResourceGroup"})
}

/// Bodies of PUTs below this id.
fn bodies(world: &World, id: &str) -> Vec<Value> {
    let query = Query {
        method: Some("PUT".to_owned()),
        path: Some(id.to_owned()),
        ..Query::default()
    };
    let requests = world.azure().requests(&query).into_iter();
    requests.filter_map(|request| request.body).collect()
}

#[test]
fn a_role_is_assigned_by_its_name_under_a_name_that_stays() {
    World::shared().run("roles", async |world, objects| {
        let group = resource_group("roles-rg", "roles");
        objects.apply(&group).await.unwrap();
        for (name, convention) in [("steady", "stable"), ("chance", "random")] {
            let spec = json!({
                "owner": of_group("roles-rg"),
                "operatorSpec": {"namingConvention": convention},
            });
            let manifest = assignment("roles", name, &spec);
            objects.apply_value(&manifest).await.unwrap();
            objects.wait_ready(KIND, name, is_ready).await;
            let object = objects.get(KIND, VERSION, name).await.unwrap();
            let uuid = object["spec"]["azureName"].as_str().unwrap().to_owned();
            let id = format!(
                "{SUBSCRIPTION}/resourceGroups/roles-rg/providers/Microsoft.Authorization/roleAssignments/{uuid}"
            );
            assert_eq!(object["status"]["id"], json!(id));
            let role = format!("{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{READER}");
            let body = &bodies(world, &id)[0];
            assert_eq!(body["properties"]["roleDefinitionId"], json!(role));
            assert_eq!(body["name"], json!(uuid));

            // A manifest without the name takes the object's place.
            let api = objects.api(KIND, VERSION);
            let no_name = Patch::Merge(json!({"spec": {"azureName": null, "description": "read"}}));
            api.patch(name, &PatchParams::default(), &no_name).await.unwrap();
            let is_described = || bodies(world, &id).last().is_some_and(|body| {
                body["properties"]["description"] == "read"
            });
            crate::wait_until("the description is sent", async || is_described()).await;
            objects.wait_ready(KIND, name, is_ready).await;

            objects.delete(KIND, name).await.unwrap();
            objects.wait_gone(KIND, name).await;
            assert!(world.azure().resource(&id).is_none(), "{name}");
        }
    });
}

#[test]
fn a_role_that_azure_does_not_have_is_told() {
    World::shared().run("no-role", async |world, objects| {
        objects.apply(&resource_group("no-role-rg", "no-role")).await.unwrap();
        let spec = json!({
            "owner": of_group("no-role-rg"),
            "azureName": "00000000-0000-0000-0000-0000000000bb",
            "roleDefinitionReference": {"wellKnownName": "Raeder"},
        });
        let manifest = assignment("no-role", "misspelt", &spec);
        objects.apply_value(&manifest).await.unwrap();
        let failed = has_reason("Failed");
        let (told, _) = objects.wait_ready(KIND, "misspelt", failed).await;
        let message = told["message"].as_str().unwrap();
        assert!(message.contains("no built-in role 'Raeder'"), "{message}");
        let id = format!(
            "{SUBSCRIPTION}/resourceGroups/no-role-rg/providers/Microsoft.Authorization/roleAssignments/00000000-0000-0000-0000-0000000000bb"
        );
        assert_eq!(sent(world, "PUT", &id), 0);
    });
}

/// Azure answers the role's id with the subscription of the scope, whatever was sent, and refuses every update.
#[test]
fn a_role_by_another_subscriptions_id_is_adopted_without_a_write() {
    World::shared().run("other-roles", async |world, objects| {
        objects
            .apply(&resource_group("other-roles-rg", "other-roles"))
            .await
            .unwrap();
        objects
            .wait_ready("ResourceGroup", "other-roles-rg", is_ready)
            .await;
        let role = format!("providers/Microsoft.Authorization/roleDefinitions/{READER}");
        let group = format!("{SUBSCRIPTION}/resourceGroups/other-roles-rg");
        world.azure().add_fault(FaultRule {
            method: Some("PUT".into()),
            path: Some(format!("{group}/providers/Microsoft.Authorization/")),
            status: Some(400),
            code: Some("RoleAssignmentUpdateNotPermitted".into()),
            ..FaultRule::default()
        });
        let scopes = [
            ("tenant-form", ""),
            (
                "other-subscription",
                "/subscriptions/99999999-9999-9999-9999-999999999999",
            ),
        ];
        for (number, (name, scope)) in scopes.into_iter().enumerate() {
            let azure_name = format!("0a4ddb1a-0001-4c0a-9a51-7a3a6d0a000{number}");
            let id =
                format!("{group}/providers/Microsoft.Authorization/roleAssignments/{azure_name}");
            let body = json!({"properties": {
                "principalId": "00000000-0000-0000-0000-0000000000aa",
                "roleDefinitionId": format!("{SUBSCRIPTION}/{role}"), "scope": group,
            }});
            world.azure().place(&id, body).unwrap();
            let spec = json!({
                "owner": of_group("other-roles-rg"),
                "azureName": azure_name,
                "roleDefinitionReference": {"armId": format!("{scope}/{role}")},
            });
            let mut manifest = assignment("other-roles", name, &spec);
            manifest["metadata"]["annotations"] = json!({"armature.azure.com/adopt": "if-equal"});
            objects.apply_value(&manifest).await.unwrap();
            objects.wait_ready(KIND, name, is_ready).await;
            assert_eq!(sent(world, "PUT", &id), 0, "{name}");
        }
    });
}

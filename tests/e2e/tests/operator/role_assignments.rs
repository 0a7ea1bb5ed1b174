//! Role assignments: a name that is a UUID, a role that is called by its name, any resource as the owner.

use armature_e2e::World;
use armature_simulator::Query;
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

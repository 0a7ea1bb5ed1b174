//! What happens to a namespace happens to its objects.

use armature_e2e::World;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use serde_json::json;

use crate::{SUBSCRIPTION, has_reason, is_ready, resource_group, sent};

const IDENTITY: &str = "
apiVersion: managedidentity.azure.com/v1api20230131
kind: UserAssignedIdentity
metadata: {name: leaving-identity, namespace: leaving}
spec:
  location: westeurope
  owner: {name: leaving-rg}
  operatorSpec:
    configMaps:
      clientId: {name: identity, key: client}
      principalId: {name: identity, key: principal}
      tenantId: {name: identity, key: tenant}
";

/// Namespace `name` with this reconcile policy, or without one.
async fn set_policy(world: &World, name: &str, policy: Option<&str>) {
    let namespaces: Api<Namespace> = Api::all(world.client().clone());
    let annotations = json!({ "serviceoperator.azure.com/reconcile-policy": policy });
    let patch = Patch::Merge(json!({ "metadata": { "annotations": annotations } }));
    let parameters = PatchParams::default();
    namespaces.patch(name, &parameters, &patch).await.unwrap();
}

#[test]
fn a_policy_of_the_namespace_holds_and_its_end_wakes_the_objects() {
    World::shared().run("followers", async |world, objects| {
        set_policy(world, "followers", Some("skip")).await;
        let group = resource_group("followers-rg", "followers");
        objects.apply(&group).await.unwrap();
        let group = ("ResourceGroup", "followers-rg");
        let absent = has_reason("AzureResourceNotFound");
        objects.wait_ready(group.0, group.1, absent).await;
        let id = format!("{SUBSCRIPTION}/resourceGroups/followers-rg");
        assert_eq!(sent(world, "PUT", &id), 0);
        set_policy(world, "followers", None).await;
        let (_, took) = objects.wait_ready(group.0, group.1, is_ready).await;
        println!(
            "policy of the namespace removed: {:.3} s to Ready",
            took.as_secs_f64()
        );
        assert_eq!(sent(world, "PUT", &id), 1);
    });
}

/// There is no namespace controller here: the test deletes what is in the namespace, as it does, all at once. The API server
/// refuses to create anything in the namespace by then, events included.
#[test]
fn everything_in_a_namespace_that_goes_can_go() {
    World::shared().run("leaving", async |world, objects| {
        let group = resource_group("leaving-rg", "leaving");
        objects.apply(&group).await.unwrap();
        objects.apply(IDENTITY).await.unwrap();
        let leaving = [
            ("ResourceGroup", "leaving-rg"),
            ("UserAssignedIdentity", "leaving-identity"),
        ];
        for (kind, name) in leaving {
            objects.wait_ready(kind, name, is_ready).await;
        }
        let maps: Api<ConfigMap> = Api::namespaced(world.client().clone(), "leaving");
        let exported = maps.get("identity").await.unwrap().data.unwrap();
        let identity = objects
            .get("UserAssignedIdentity", "v1api20230131", "leaving-identity")
            .await
            .unwrap();
        for (key, field) in [
            ("client", "clientId"),
            ("principal", "principalId"),
            ("tenant", "tenantId"),
        ] {
            assert_eq!(identity["status"][field], exported[key], "{key}");
        }

        let namespaces: Api<Namespace> = Api::all(world.client().clone());
        let parameters = DeleteParams::default();
        namespaces.delete("leaving", &parameters).await.unwrap();
        maps.delete("identity", &parameters).await.unwrap();
        for (kind, name) in leaving {
            objects.delete(kind, name).await.unwrap();
        }
        for (kind, name) in leaving {
            objects.wait_gone(kind, name).await;
        }
        let id = format!("{SUBSCRIPTION}/resourceGroups/leaving-rg");
        let left = world.azure().ids();
        let left: Vec<_> = left.iter().filter(|left| left.starts_with(&id)).collect();
        assert!(left.is_empty(), "{left:?}");
    });
}

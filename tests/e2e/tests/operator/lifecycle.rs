//! Objects from `kubectl apply` to Ready and away again.

use armature_e2e::World;
use armature_simulator::Query;
use k8s_openapi::api::core::v1::Event;
use kube::api::{Api, ListParams};

use crate::{SUBSCRIPTION, is_ready, resource_group};

#[test]
fn a_resource_group_and_a_storage_account_become_ready_and_go() {
    World::shared().run("lifecycle", async |world, objects| {
        let group = resource_group("lifecycle-rg", "lifecycle");
        objects.apply(&group).await.unwrap();
        let (_, took) = objects
            .wait_ready("ResourceGroup", "lifecycle-rg", is_ready)
            .await;
        println!("ResourceGroup: {:.3} s to Ready", took.as_secs_f64());
        let account = r"
apiVersion: storage.azure.com/v1api20210401
kind: StorageAccount
metadata: {name: lifecyclesa, namespace: lifecycle}
spec:
  location: westeurope
  kind: StorageV2
  sku: {name: Standard_LRS}
  owner: {name: lifecycle-rg}
  accessTier: Hot
";
        objects.apply(account).await.unwrap();
        let (_, took) = objects
            .wait_ready("StorageAccount", "lifecyclesa", is_ready)
            .await;
        println!("StorageAccount: {:.3} s to Ready", took.as_secs_f64());

        let id = format!(
            "{SUBSCRIPTION}/resourceGroups/lifecycle-rg/providers/Microsoft.Storage/storageAccounts/lifecyclesa"
        );
        let azure = world.azure().resource(&id).expect("it is in Azure");
        assert_eq!(azure["properties"]["accessTier"], "Hot");
        let puts = world.azure().requests(&Query {
            method: Some("PUT".into()),
            path: Some(id.clone()),
            ..Query::default()
        });
        assert_eq!(puts.len(), 1, "{puts:#?}");
        let other = objects
            .get("StorageAccount", "v20230101", "lifecyclesa")
            .await
            .unwrap();
        assert_eq!(other["spec"]["accessTier"], "Hot");
        assert_eq!(other["status"]["id"], id.as_str());

        let events: Api<Event> = Api::namespaced(world.client().clone(), "lifecycle");
        let events = events.list(&ListParams::default()).await.unwrap().items;
        let put = events.iter().find(|event| {
            event.involved_object.name.as_deref() == Some("lifecyclesa")
                && event.reason.as_deref() == Some("BeginCreateOrUpdate")
        });
        assert!(put.is_some(), "{events:#?}");

        objects.delete("StorageAccount", "lifecyclesa").await.unwrap();
        objects
            .wait_gone("StorageAccount", "lifecyclesa")
            .await;
        assert!(world.azure().resource(&id).is_none());
        objects.delete("ResourceGroup", "lifecycle-rg").await.unwrap();
        objects
            .wait_gone("ResourceGroup", "lifecycle-rg")
            .await;
    });
}

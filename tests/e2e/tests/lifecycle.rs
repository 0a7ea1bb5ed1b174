//! Objects from `kubectl apply` to Ready and away again.

use std::time::Duration;

use armature_e2e::World;
use armature_simulator::Query;

const SUBSCRIPTION: &str = "/subscriptions/00000000-0000-0000-0000-000000000001";
const LIMIT: Duration = Duration::from_secs(30);

fn is_ready(condition: &serde_json::Value) -> bool {
    condition["status"] == "True"
}

#[test]
fn a_resource_group_and_a_storage_account_become_ready_and_go() {
    World::shared().run("lifecycle", async |world, objects| {
        let group = r"
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: lifecycle-rg, namespace: lifecycle}
spec: {location: westeurope}
";
        objects.apply(group).await.unwrap();
        let (_, took) = objects
            .wait_ready("ResourceGroup", "lifecycle-rg", LIMIT, is_ready)
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
            .wait_ready("StorageAccount", "lifecyclesa", LIMIT, is_ready)
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

        objects.delete("StorageAccount", "lifecyclesa").await.unwrap();
        objects
            .wait_gone("StorageAccount", "lifecyclesa", LIMIT)
            .await;
        assert!(world.azure().resource(&id).is_none());
        objects.delete("ResourceGroup", "lifecycle-rg").await.unwrap();
        objects
            .wait_gone("ResourceGroup", "lifecycle-rg", LIMIT)
            .await;
    });
}

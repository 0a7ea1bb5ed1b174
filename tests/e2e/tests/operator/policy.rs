//! Reconcile policies, and deletion of what Azure has lost already.

use armature_e2e::{Objects, World};
use serde_json::{Value, json};

use crate::{SUBSCRIPTION, is_ready, resource_group, sent};

/// Manifest of a storage account in a resource group.
fn account(name: &str, namespace: &str, group: &str, policy: &str) -> Value {
    json!({
        "apiVersion": "storage.azure.com/v1api20210401",
        "kind": "StorageAccount",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": { "serviceoperator.azure.com/reconcile-policy": policy },
        },
        "spec": {
            "location": "westeurope",
            "kind": "StorageV2",
            "sku": { "name": "Standard_LRS" },
            "owner": { "name": group },
            "accessTier": "Hot",
        },
    })
}

fn account_id(group: &str, name: &str) -> String {
    format!(
        "{SUBSCRIPTION}/resourceGroups/{group}/providers/Microsoft.Storage/storageAccounts/{name}"
    )
}

async fn ready_group(objects: &Objects, name: &str) {
    let group = resource_group(name, objects.namespace());
    objects.apply(&group).await.unwrap();
    objects.wait_ready("ResourceGroup", name, is_ready).await;
}

#[test]
fn a_skipped_resource_is_read_and_never_written() {
    World::shared().run("skip", async |world, objects| {
        ready_group(&objects, "skip-rg").await;
        let id = account_id("skip-rg", "skippedsa");
        let body = json!({
            "id": id,
            "name": "skippedsa",
            "type": "Microsoft.Storage/storageAccounts",
            "location": "westeurope",
            "kind": "StorageV2",
            "sku": { "name": "Premium_LRS", "tier": "Premium" },
            "properties": { "provisioningState": "Succeeded", "accessTier": "Cool" },
        });
        world.azure().place(&id, body).unwrap();
        let manifest = account("skippedsa", "skip", "skip-rg", "skip");
        objects.apply_value(&manifest).await.unwrap();
        objects
            .wait_ready("StorageAccount", "skippedsa", is_ready)
            .await;
        let object = objects
            .get("StorageAccount", "v1api20210401", "skippedsa")
            .await
            .unwrap();
        assert_eq!(object["status"]["accessTier"], "Cool");
        objects.delete("StorageAccount", "skippedsa").await.unwrap();
        objects.wait_gone("StorageAccount", "skippedsa").await;
        assert!(world.azure().resource(&id).is_some());
        assert_eq!(
            (sent(world, "PUT", &id), sent(world, "DELETE", &id)),
            (0, 0)
        );
    });
}

#[test]
fn a_detached_resource_stays_when_its_object_goes_and_is_taken_over_without_a_write() {
    World::shared().run("detach", async |world, objects| {
        ready_group(&objects, "detach-rg").await;
        let id = account_id("detach-rg", "detachedsa");
        let manifest = account("detachedsa", "detach", "detach-rg", "detach-on-delete");
        objects.apply_value(&manifest).await.unwrap();
        objects
            .wait_ready("StorageAccount", "detachedsa", is_ready)
            .await;
        objects
            .delete("StorageAccount", "detachedsa")
            .await
            .unwrap();
        objects.wait_gone("StorageAccount", "detachedsa").await;
        assert!(world.azure().resource(&id).is_some());
        let writes = || (sent(world, "PUT", &id), sent(world, "DELETE", &id));
        assert_eq!(writes(), (1, 0));

        // A new object for what Azure has already.
        objects.apply_value(&manifest).await.unwrap();
        objects
            .wait_ready("StorageAccount", "detachedsa", is_ready)
            .await;
        assert_eq!(writes(), (1, 0));
    });
}

#[test]
fn an_object_can_be_deleted_when_its_owner_is_gone_from_azure() {
    World::shared().run("orphan", async |world, objects| {
        ready_group(&objects, "orphan-rg").await;
        let manifest = account("orphansa", "orphan", "orphan-rg", "manage");
        objects.apply_value(&manifest).await.unwrap();
        objects
            .wait_ready("StorageAccount", "orphansa", is_ready)
            .await;
        let group = format!("{SUBSCRIPTION}/resourceGroups/orphan-rg");
        world.azure().remove(&group).unwrap();
        objects.delete("StorageAccount", "orphansa").await.unwrap();
        objects.wait_gone("StorageAccount", "orphansa").await;
        objects.delete("ResourceGroup", "orphan-rg").await.unwrap();
        objects.wait_gone("ResourceGroup", "orphan-rg").await;
        assert!(world.azure().resource(&group).is_none());
    });
}

#[test]
fn an_object_can_be_deleted_when_the_object_of_its_owner_is_gone() {
    World::shared().run("ownerless", async |world, objects| {
        ready_group(&objects, "ownerless-rg").await;
        let manifest = account("ownerlesssa", "ownerless", "ownerless-rg", "manage");
        objects.apply_value(&manifest).await.unwrap();
        objects
            .wait_ready("StorageAccount", "ownerlesssa", is_ready)
            .await;
        // Deleting the group in Azure takes the account with it.
        objects
            .delete("ResourceGroup", "ownerless-rg")
            .await
            .unwrap();
        objects.wait_gone("ResourceGroup", "ownerless-rg").await;
        objects
            .delete("StorageAccount", "ownerlesssa")
            .await
            .unwrap();
        objects.wait_gone("StorageAccount", "ownerlesssa").await;
        let id = account_id("ownerless-rg", "ownerlesssa");
        assert!(world.azure().resource(&id).is_none());
    });
}

//! What a user edits reaches Azure, whatever Azure shows; what is copied from another object is not believed.

use armature_e2e::{Objects, World};
use serde_json::{Value, json};

use crate::{SUBSCRIPTION, is_ready, resource_group, sent};

const NAMESPACE: &str = "edits";

fn account(name: &str, edited: bool) -> Value {
    let mut manifest = json!({
        "apiVersion": "storage.azure.com/v1api20210401",
        "kind": "StorageAccount",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "location": "westeurope",
            "kind": "StorageV2",
            "sku": {"name": "Standard_LRS"},
            "owner": {"name": "edits-rg"},
            "accessTier": "Hot",
            "tags": {"team": "web", "stage": "test"},
            "identity": {"type": "SystemAssigned"},
            "networkAcls": {"defaultAction": "Deny", "bypass": "Logging"},
        },
    });
    if edited {
        let spec = manifest["spec"].as_object_mut().unwrap();
        spec.remove("identity");
        spec.remove("networkAcls");
        spec["tags"] = json!({"team": "web"});
    }
    manifest
}

fn network(servers: &[&str]) -> Value {
    json!({
        "apiVersion": "network.azure.com/v1api20201101",
        "kind": "VirtualNetwork",
        "metadata": {"name": "edits-vnet", "namespace": NAMESPACE},
        "spec": {
            "location": "westeurope",
            "owner": {"name": "edits-rg"},
            "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]},
            "dhcpOptions": {"dnsServers": servers},
        },
    })
}

fn id(kind: &str, name: &str) -> String {
    format!("{SUBSCRIPTION}/resourceGroups/edits-rg/providers/Microsoft.{kind}/{name}")
}

/// Applies, and waits until the object is ready with what was applied.
async fn apply(objects: &Objects, manifest: &Value) {
    let applied = objects.apply_value(manifest).await.unwrap();
    let (kind, name) = (
        manifest["kind"].as_str().unwrap(),
        applied.metadata.name.unwrap(),
    );
    let generation = json!(applied.metadata.generation);
    let is_done = |ready: &Value| is_ready(ready) && ready["observedGeneration"] == generation;
    objects.wait_ready(kind, &name, is_done).await;
}

#[test]
fn what_is_taken_out_of_a_spec_or_reordered_in_it_reaches_azure_once() {
    World::shared().run(NAMESPACE, async |world, objects| {
        objects
            .apply(&resource_group("edits-rg", NAMESPACE))
            .await
            .unwrap();
        apply(&objects, &account("editsaccount", false)).await;
        apply(&objects, &account("editsfresh", true)).await;
        let of = |name: &str| id("Storage/storageAccounts", name);
        let azure = |name: &str| {
            let mut account = world.azure().resource(&of(name)).unwrap();
            let parts = ["tags", "identity"].map(|part| account[part].take());
            (parts, account["properties"]["networkAcls"].take())
        };
        assert_ne!(azure("editsaccount"), azure("editsfresh"));
        apply(&objects, &account("editsaccount", true)).await;
        assert_eq!(azure("editsaccount"), azure("editsfresh"));
        assert_eq!(sent(world, "PUT", &of("editsaccount")), 2);

        let vnet = id("Network/virtualNetworks", "edits-vnet");
        for servers in [["10.0.0.4", "10.0.0.5"], ["10.0.0.5", "10.0.0.4"]] {
            apply(&objects, &network(&servers)).await;
            let azure = world.azure().resource(&vnet).unwrap();
            assert_eq!(
                azure["properties"]["dhcpOptions"]["dnsServers"],
                json!(servers)
            );
        }

        // A manifest that somebody copied from the cluster, with another name.
        let mut copy = account("editscopy", true);
        copy["metadata"]["annotations"] =
            json!({"serviceoperator.azure.com/resource-id": of("editsaccount")});
        apply(&objects, &copy).await;
        assert!(world.azure().resource(&of("editscopy")).is_some());
        objects.delete("StorageAccount", "editscopy").await.unwrap();
        objects.wait_gone("StorageAccount", "editscopy").await;
        assert!(world.azure().resource(&of("editscopy")).is_none());
        assert!(world.azure().resource(&of("editsaccount")).is_some());
        assert_eq!(sent(world, "DELETE", &of("editsaccount")), 0);
    });
}

//! A version that Azure Service Operator does not have, and back: nothing of it is lost, and what is stored is in the
//! version that Azure Service Operator stores.

use armature_e2e::{Objects, World, condition, kind_info};
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::{SUBSCRIPTION, is_ready, resource_group};

const NAMESPACE: &str = "ahead";
const NAME: &str = "aheadaccount";
const KIND: &str = "StorageAccount";
const AHEAD: &str = "v20260401";
const OF_ASO: &str = "v20250601";

fn account() -> Value {
    json!({
        "apiVersion": format!("storage.azure.com/{AHEAD}"),
        "kind": KIND,
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {
            "location": "westeurope",
            "kind": "StorageV2",
            "sku": {"name": "Standard_LRS"},
            "owner": {"name": "ahead-rg"},
            "dataCollaborationPolicyProperties": {"allowStorageConnectors": true},
        },
    })
}

/// Edits a tag in a version, and waits until Azure has it.
async fn tag(objects: &Objects, version: &str, stage: &str) -> Value {
    let patch = json!({"spec": {"tags": {"stage": stage}}});
    let api = objects.api(KIND, version);
    let patched = api
        .patch(NAME, &PatchParams::default(), &Patch::Merge(&patch))
        .await;
    let generation = json!(patched.unwrap().metadata.generation);
    let is_done = |ready: &Value| is_ready(ready) && ready["observedGeneration"] == generation;
    objects.wait_ready(KIND, NAME, is_done).await;
    objects.get(KIND, version, NAME).await.unwrap()
}

#[test]
fn an_object_goes_from_a_newer_version_than_azure_service_operator_has_to_its_own_and_back() {
    World::shared().run(NAMESPACE, async |world, objects| {
        let group = resource_group("ahead-rg", NAMESPACE);
        objects.apply(&group).await.unwrap();
        objects.apply_value(&account()).await.unwrap();
        objects.wait_ready(KIND, NAME, is_ready).await;
        let id = format!(
            "{SUBSCRIPTION}/resourceGroups/ahead-rg/providers/Microsoft.Storage/storageAccounts/{NAME}"
        );
        let policy = || {
            let account = world.azure().resource(&id).unwrap();
            account["properties"]["dataCollaborationPolicyProperties"].clone()
        };
        let wanted = json!({"allowStorageConnectors": true});
        assert_eq!(policy(), wanted);

        let storage = kind_info(KIND).hub.storage_version;
        assert_eq!(storage, format!("{OF_ASO}storage"));
        let stored = objects.get(KIND, storage, NAME).await.unwrap();
        let bag = &stored["spec"]["$propertyBag"]["DataCollaborationPolicyProperties"];
        let in_bag: Value = serde_json::from_str(bag.as_str().unwrap()).unwrap();
        assert_eq!(in_bag, wanted);
        assert_eq!(stored["spec"]["originalVersion"], AHEAD);

        let older = tag(&objects, OF_ASO, "older").await;
        assert_eq!(older["spec"]["tags"]["stage"], "older");
        assert!(older["spec"].get("dataCollaborationPolicyProperties").is_none());
        let newer = tag(&objects, AHEAD, "newer").await;
        assert_eq!(newer["spec"]["tags"]["stage"], "newer");
        assert_eq!(newer["spec"]["dataCollaborationPolicyProperties"], wanted);
        assert_eq!(policy(), wanted);
        assert_eq!(condition(&newer, "Ready")["status"], "True");
    });
}

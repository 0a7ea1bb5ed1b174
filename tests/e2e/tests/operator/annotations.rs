//! Annotations by which users steer the operator. Nothing here waits for a sync: the world's operator has none.

use armature_e2e::{Objects, World, condition};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};

use crate::{SUBSCRIPTION, has_reason, is_ready, resource_group, sent, wait_until};

const GROUP: (&str, &str) = ("ResourceGroup", "v1api20200601");
const IDENTITY: (&str, &str) = ("UserAssignedIdentity", "v1api20230131");

const MANIFEST: &str = "
apiVersion: managedidentity.azure.com/v1api20230131
kind: UserAssignedIdentity
metadata: {name: steered, namespace: steered}
spec:
  location: westeurope
  owner: {name: steered-rg}
  tags: {by: spec}
  operatorSpec:
    configMaps:
      clientId: {name: facts, key: client}
";

async fn annotate(
    objects: &Objects,
    kind: (&str, &str),
    name: &str,
    annotation: &str,
    text: Value,
) {
    let annotation = format!("armature.azure.com/{annotation}");
    let patch = json!({"metadata": {"annotations": {annotation: text}}});
    let api = objects.api(kind.0, kind.1);
    let parameters = PatchParams::default();
    api.patch(name, &parameters, &Patch::Merge(patch))
        .await
        .unwrap();
}

/// The identity `steered` in a group, ready; its ARM id.
async fn steered(objects: &Objects) -> String {
    let group = resource_group("steered-rg", "steered");
    for manifest in [group.as_str(), MANIFEST] {
        objects.apply(manifest).await.unwrap();
    }
    objects.wait_ready(IDENTITY.0, "steered", is_ready).await;
    format!(
        "{SUBSCRIPTION}/resourceGroups/steered-rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/steered"
    )
}

async fn shows(objects: &Objects, name: &str, wanted: bool) {
    wait_until(name, async || {
        let object = objects.get(IDENTITY.0, IDENTITY.1, "steered").await;
        condition(&object.unwrap(), name).is_object() == wanted
    })
    .await;
}

#[test]
fn an_object_is_paused_looked_at_when_asked_and_protected() {
    World::shared().run("steered", async |world, objects| {
        let id = steered(&objects).await;
        let identity = |annotation, text| annotate(&objects, IDENTITY, "steered", annotation, text);

        // An edit during a pause is sent after it.
        identity("paused", json!("true")).await;
        shows(&objects, "Paused", true).await;
        let before = (sent(world, "PUT", &id), sent(world, "GET", &id));
        objects
            .apply(&MANIFEST.replace("{by: spec}", "{by: edit}"))
            .await
            .unwrap();
        identity("reconcile-now", json!("paused")).await;
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        assert_eq!((sent(world, "PUT", &id), sent(world, "GET", &id)), before);
        identity("paused", Value::Null).await;
        shows(&objects, "Paused", false).await;
        wait_until("the edit is sent", async || {
            sent(world, "PUT", &id) == before.0 + 1
        })
        .await;
        shows(&objects, "ReconcileNow", true).await;

        // A pass that is asked for, and no other.
        let looks = sent(world, "GET", &id);
        identity("reconcile-now", json!("again")).await;
        wait_until("a look", async || sent(world, "GET", &id) > looks).await;

        // A target that goes is written at once.
        let maps: Api<ConfigMap> = Api::namespaced(world.client().clone(), "steered");
        let facts = maps.get("facts").await.unwrap().data;
        maps.delete("facts", &DeleteParams::default())
            .await
            .unwrap();
        wait_until("facts are written again", async || {
            let found = maps.get_opt("facts").await.unwrap();
            found.is_some_and(|found| found.data == facts)
        })
        .await;
        let robbed = Patch::Merge(json!({"data": {"client": null}}));
        maps.patch("facts", &PatchParams::default(), &robbed)
            .await
            .unwrap();
        wait_until("the key is written again", async || {
            maps.get("facts").await.unwrap().data == facts
        })
        .await;

        // What the identity is in stays.
        identity("protect", json!("delete")).await;
        shows(&objects, "Protected", true).await;
        objects.delete(GROUP.0, "steered-rg").await.unwrap();
        let protected = has_reason("Protected");
        let (refusal, _) = objects.wait_ready(GROUP.0, "steered-rg", protected).await;
        let message = refusal["message"].as_str().unwrap();
        assert!(
            message.contains("UserAssignedIdentity steered/steered"),
            "{message}"
        );
        let group_id = format!("{SUBSCRIPTION}/resourceGroups/steered-rg");
        assert_eq!(sent(world, "DELETE", &group_id), 0);
        identity("protect", json!("none")).await;
        objects.wait_gone(GROUP.0, "steered-rg").await;
    });
}

#[test]
fn what_must_not_be_taken_over_is_left_alone_for_good() {
    World::shared().run("adopting", async |world, objects| {
        let id = format!("{SUBSCRIPTION}/resourceGroups/adopting-rg");
        let body = json!({
            "id": id, "name": "adopting-rg", "type": "Microsoft.Resources/resourceGroups",
            "location": "westeurope", "tags": {"by": "others"},
            "properties": {"provisioningState": "Succeeded"},
        });
        world.azure().place(&id, body).unwrap();
        let mut group: Value =
            serde_saphyr::from_str(&resource_group("adopting-rg", "adopting")).unwrap();
        group["spec"]["tags"] = json!({"by": "spec"});
        group["metadata"]["annotations"] = json!({"armature.azure.com/adopt": "if-equal"});
        objects.apply_value(&group).await.unwrap();
        let refused = has_reason("AdoptionRefused");
        let (refusal, _) = objects.wait_ready(GROUP.0, "adopting-rg", refused).await;
        let message = refusal["message"].as_str().unwrap();
        assert!(message.contains("tags.by"), "{message}");
        objects.delete(GROUP.0, "adopting-rg").await.unwrap();
        objects.wait_gone(GROUP.0, "adopting-rg").await;
        assert_eq!(world.azure().resource(&id).unwrap()["tags"]["by"], "others");

        group["metadata"]["annotations"] = json!({});
        objects.apply_value(&group).await.unwrap();
        objects.wait_ready(GROUP.0, "adopting-rg", is_ready).await;
        assert_eq!(world.azure().resource(&id).unwrap()["tags"]["by"], "spec");
        assert_eq!(sent(world, "DELETE", &id), 0);
    });
}

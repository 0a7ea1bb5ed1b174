//! Objects that are observed, and policies of the operator: what is in Azure is reported, and left as it is.

use std::time::Duration;

use armature::{Operator, OperatorConfig};
use armature_e2e::World;
use armature_exposure::scrape;
use armature_runtime::reconcile::policy::Policy;
use k8s_openapi::api::core::v1::Event;
use kube::api::{Api, ListParams};
use serde_json::{Value, json};

use crate::{SUBSCRIPTION, has_reason, is_ready, sent, wait_until};

const RESOURCE_GROUP: (&str, &str) = ("ResourceGroup", "resources.azure.com/v1api20200601");
const ACCOUNT: (&str, &str) = ("StorageAccount", "storage.azure.com/v1api20210401");

/// An object of the operator of its namespace.
fn object(kind: (&str, &str), namespace: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": kind.1,
        "kind": kind.0,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {"serviceoperator.azure.com/operator-namespace": namespace},
        },
        "spec": spec,
    })
}

fn account(name: &str, tier: &str) -> Value {
    let mut account = object(
        ACCOUNT,
        "observe",
        name,
        json!({
            "location": "westeurope",
            "kind": "StorageV2",
            "sku": {"name": "Standard_LRS"},
            "owner": {"name": "observe-rg"},
            "accessTier": tier,
        }),
    );
    account["metadata"]["annotations"]["armature.azure.com/observe"] = json!("true");
    account
}

/// What others have made in Azure.
fn place(world: &World, id: &str, arm_type: &str, more: Value) {
    let mut body = json!({
        "id": id,
        "name": id.rsplit('/').next(),
        "type": arm_type,
        "location": "westeurope",
        "properties": {"provisioningState": "Succeeded"},
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        body[key] = value.clone();
    }
    world.azure().place(id, body).unwrap();
}

/// PUTs and DELETEs of a resource.
fn writes(world: &World, id: &str) -> (usize, usize) {
    (sent(world, "PUT", id), sent(world, "DELETE", id))
}

/// An operator that looks every second.
async fn watchful(world: &World) -> Operator {
    let config = OperatorConfig {
        sync_period: Some(Duration::from_secs(1)),
        metrics_listen: Some("127.0.0.1:0".parse().unwrap()),
        ..world.operator_config("observe")
    };
    Operator::start(config).await.unwrap()
}

/// Whether a condition reports that the tier is another one than desired.
fn is_drifted(condition: &Value) -> bool {
    let message = condition["message"].as_str().unwrap_or_default();
    let parts = ["properties.accessTier", "Hot", "Cool"];
    condition["reason"] == "Drifted" && parts.iter().all(|part| message.contains(part))
}

/// Waits for the event of the changed tier, and looks for it in the metrics.
async fn assert_reported(world: &World, operator: &Operator) {
    let events: Api<Event> = Api::namespaced(world.client().clone(), "observe");
    wait_until("the event", async || {
        let events = events.list(&ListParams::default()).await.unwrap().items;
        let drifted = |event: &&Event| event.reason.as_deref() == Some("Drifted");
        let mut messages = events
            .iter()
            .filter(drifted)
            .filter_map(|event| event.message.as_deref());
        messages.any(|message| message.contains("properties.accessTier"))
    })
    .await;
    let metrics = scrape(operator.metrics_address().unwrap()).await.unwrap();
    let path = "armature_drift_paths_total{group=\"storage.azure.com\",\
                kind=\"StorageAccount\",path=\"properties.accessTier\"} ";
    assert!(metrics.contains(path), "no {path} in {metrics}");
}

#[test]
fn what_is_observed_is_adopted_reported_and_never_written() {
    World::shared().run("observe", async |world, objects| {
        let operator = watchful(world).await;
        let location = json!({"location": "westeurope"});
        let group = object(RESOURCE_GROUP, "observe", "observe-rg", location);
        objects.apply_value(&group).await.unwrap();
        objects
            .wait_ready("ResourceGroup", "observe-rg", is_ready)
            .await;
        let accounts = format!(
            "{SUBSCRIPTION}/resourceGroups/observe-rg/providers/Microsoft.Storage/storageAccounts"
        );
        let [id, absent] =
            ["observedsa", "observedabsent"].map(|name| format!("{accounts}/{name}"));
        let wait = async |name: &str, is_so: &dyn Fn(&Value) -> bool| {
            objects.wait_ready("StorageAccount", name, is_so).await;
        };

        // What matches is adopted; what is not there is not made.
        let more = json!({
            "kind": "StorageV2",
            "sku": {"name": "Standard_LRS", "tier": "Standard"},
            "properties": {"provisioningState": "Succeeded", "accessTier": "Hot"},
        });
        place(world, &id, "Microsoft.Storage/storageAccounts", more);
        for name in ["observedsa", "observedabsent"] {
            objects.apply_value(&account(name, "Hot")).await.unwrap();
        }
        wait("observedsa", &is_ready).await;
        wait("observedabsent", &has_reason("AzureResourceNotFound")).await;

        // Somebody else changes it, and changes it back.
        let change = |tier: &str| {
            let patch = json!({"properties": {"accessTier": tier}});
            world.azure().drift(&id, &patch).unwrap();
        };
        change("Cool");
        wait("observedsa", &is_drifted).await;
        assert_reported(world, &operator).await;
        let looks = sent(world, "GET", &id);
        wait_until("two more syncs", async || {
            sent(world, "GET", &id) >= looks + 2
        })
        .await;
        let azure = world.azure().resource(&id).unwrap();
        assert_eq!(azure["properties"]["accessTier"], "Cool");
        change("Hot");
        wait("observedsa", &is_ready).await;

        // An edited spec is compared, and not sent either.
        let edited = account("observedsa", "Cool");
        objects.apply_value(&edited).await.unwrap();
        wait("observedsa", &is_drifted).await;
        for name in ["observedsa", "observedabsent"] {
            objects.delete("StorageAccount", name).await.unwrap();
            objects.wait_gone("StorageAccount", name).await;
        }
        assert!(world.azure().resource(&id).is_some());
        assert_eq!(writes(world, &id), (0, 0));
        assert_eq!(writes(world, &absent), (0, 0));
        operator.stop().await;
    });
}

/// Objects without a policy in a namespace without one; an object's own policy comes first.
#[test]
fn the_operators_policy_holds_where_no_other_is() {
    for (namespace, policy) in [
        ("by-default-skipped", Policy::Skip),
        ("by-default-detached", Policy::DetachOnDelete),
    ] {
        World::shared().run(namespace, async |world, objects| {
            let config = OperatorConfig {
                default_policy: policy,
                ..world.operator_config(namespace)
            };
            let operator = Operator::start(config).await.unwrap();
            let group = |name: &str| {
                let name = format!("{namespace}-{name}");
                let spec = json!({"location": "westeurope", "tags": {"by": "spec"}});
                let manifest = object(RESOURCE_GROUP, namespace, &name, spec);
                let id = format!("{SUBSCRIPTION}/resourceGroups/{name}");
                (manifest, name, id)
            };
            let (manifest, followed, followed_id) = group("followed");
            let tags = json!({"tags": {"by": "others"}});
            place(
                world,
                &followed_id,
                "Microsoft.Resources/resourceGroups",
                tags,
            );
            objects.apply_value(&manifest).await.unwrap();
            let (mut manifest, managed, managed_id) = group("managed");
            manifest["metadata"]["annotations"]["serviceoperator.azure.com/reconcile-policy"] =
                json!("manage");
            objects.apply_value(&manifest).await.unwrap();
            for name in [&followed, &managed] {
                objects.wait_ready("ResourceGroup", name, is_ready).await;
                objects.delete("ResourceGroup", name).await.unwrap();
                objects.wait_gone("ResourceGroup", name).await;
            }
            let left = world.azure().resource(&followed_id).unwrap();
            let expected = match policy {
                Policy::Skip => ("others", (0, 0)),
                _ => ("spec", (1, 0)),
            };
            let found = (
                left["tags"]["by"].as_str().unwrap(),
                writes(world, &followed_id),
            );
            assert_eq!(found, expected, "{policy:?}");
            assert_eq!(writes(world, &managed_id), (1, 1), "{policy:?}");
            assert!(world.azure().resource(&managed_id).is_none());
            operator.stop().await;
        });
    }
}

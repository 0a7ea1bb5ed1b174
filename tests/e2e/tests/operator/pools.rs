//! A node pool waits while its cluster is busy, the cluster's kubeconfig is exported as what it says, and what the service does
//! to pools by itself stays.

use armature_e2e::{Objects, World};
use armature_simulator::Query;
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::{SUBSCRIPTION, has_reason, is_ready, resource_group, sent, wait_until};

const CLUSTER: &str = "
apiVersion: containerservice.azure.com/v1api20240901
kind: ManagedCluster
metadata: {name: pooled, namespace: pools}
spec:
  location: westeurope
  owner: {name: pools-rg}
  dnsPrefix: pooled
  identity: {type: SystemAssigned}
  agentPoolProfiles: [{name: system, count: 1, vmSize: Standard_DS2_v2, mode: System, osType: Linux}]
  operatorSpec: {secrets: {adminCredentials: {name: pooled-admin, key: kubeconfig}}}
";

const POOL: &str = "
apiVersion: containerservice.azure.com/v1api20240901
kind: ManagedClustersAgentPool
metadata: {name: user, namespace: pools}
spec:
  owner: {name: pooled}
  count: 1
  vmSize: Standard_DS2_v2
  osType: Linux
  mode: User
";

#[test]
fn nothing_is_sent_for_a_pool_while_its_cluster_is_updating() {
    World::shared().run("pools", async |world, objects| {
        let id = format!(
            "{SUBSCRIPTION}/resourceGroups/pools-rg/providers/Microsoft.ContainerService/managedClusters/pooled"
        );
        let set_state = |state: &str| {
            let patch = json!({"properties": {"provisioningState": state}});
            world.azure().drift(&id, &patch).unwrap();
        };
        let requests = || {
            world.azure().requests(&Query {
                path: Some("/managedClusters/pooled/agentPools/user".to_owned()),
                ..Query::default()
            })
        };
        objects
            .apply(&resource_group("pools-rg", "pools"))
            .await
            .unwrap();
        objects.apply(CLUSTER).await.unwrap();
        objects
            .wait_ready("ManagedCluster", "pooled", is_ready)
            .await;
        let secrets: Api<Secret> = Api::namespaced(world.client().clone(), "pools");
        let secret = secrets.get("pooled-admin").await.unwrap();
        let file = secret.data.unwrap_or_default()["kubeconfig"].0.clone();
        let file = String::from_utf8(file).unwrap();
        assert!(file.contains("https://pooled.azmk8s.io:443"), "{file}");

        set_state("Updating");
        objects.apply(POOL).await.unwrap();
        let (blocked, _) = objects
            .wait_ready(
                "ManagedClustersAgentPool",
                "user",
                has_reason("ReconciliationBlocked"),
            )
            .await;
        let message = blocked["message"].as_str().unwrap();
        assert!(message.contains("ManagedCluster 'pooled'"), "{blocked}");
        assert!(requests().is_empty(), "{:#?}", requests());

        set_state("Succeeded");
        objects
            .wait_ready("ManagedClustersAgentPool", "user", is_ready)
            .await;
    });
}

const SCALED: &str = "
apiVersion: containerservice.azure.com/v1api20240901
kind: ManagedCluster
metadata: {name: scaled, namespace: autoscaled}
spec:
  location: westeurope
  owner: {name: autoscaled-rg}
  dnsPrefix: scaled
  identity: {type: SystemAssigned}
  agentPoolProfiles: [{name: system, count: 1, vmSize: Standard_DS2_v2, mode: System, osType: Linux}]
";

const SPOT: &str = "
apiVersion: containerservice.azure.com/v1api20240901
kind: ManagedClustersAgentPool
metadata: {name: spot, namespace: autoscaled}
spec:
  owner: {name: scaled}
  count: 2
  enableAutoScaling: true
  minCount: 1
  maxCount: 5
  vmSize: Standard_DS2_v2
  osType: Linux
  mode: User
";

/// Has the object looked at, and waits until Azure was asked and all is well.
async fn look(world: &World, objects: &Objects, (kind, name): (&str, &str), id: &str, now: &str) {
    let before = sent(world, "GET", id);
    let api = objects.api(kind, "v1api20240901");
    let patch = json!({"metadata": {"annotations": {"armature.azure.com/reconcile-now": now}}});
    api.patch(name, &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    wait_until("a look", async || sent(world, "GET", id) > before).await;
    objects.wait_ready(kind, name, is_ready).await;
}

#[test]
fn what_the_autoscaler_moves_and_what_the_service_adds_stays() {
    World::shared().run("autoscaled", async |world, objects| {
        let cluster = format!(
            "{SUBSCRIPTION}/resourceGroups/autoscaled-rg/providers/Microsoft.ContainerService/managedClusters/scaled"
        );
        let pool = format!("{cluster}/agentPools/spot");
        let drift = |id: &str, patch: &Value| world.azure().drift(id, patch).unwrap();
        objects.apply(&resource_group("autoscaled-rg", "autoscaled")).await.unwrap();
        objects.apply(SCALED).await.unwrap();
        objects.wait_ready("ManagedCluster", "scaled", is_ready).await;
        objects.apply(SPOT).await.unwrap();
        objects.wait_ready("ManagedClustersAgentPool", "spot", is_ready).await;
        let label = "kubernetes.azure.com/scalesetpriority";
        drift(&pool, &json!({"properties": {"count": 4, "nodeLabels": {label: "spot"}}}));
        let mut pools = world.azure().resource(&cluster).unwrap()["properties"]["agentPoolProfiles"].clone();
        pools.as_array_mut().unwrap().push(json!({"name": "spot", "count": 4, "mode": "User"}));
        drift(&cluster, &json!({"properties": {"agentPoolProfiles": pools}}));
        look(world, &objects, ("ManagedClustersAgentPool", "spot"), &pool, "1").await;
        look(world, &objects, ("ManagedCluster", "scaled"), &cluster, "1").await;
        assert_eq!((sent(world, "PUT", &pool), sent(world, "PUT", &cluster)), (1, 1));

        // Edits carry what is Azure's.
        let labelled = format!("{SPOT}  nodeLabels: {{team: shop}}\n");
        objects.apply(&labelled).await.unwrap();
        wait_until("the edit", async || sent(world, "PUT", &pool) == 2).await;
        let properties = world.azure().resource(&pool).unwrap()["properties"].clone();
        assert_eq!(properties["count"], 4, "{properties}");
        assert_eq!(properties["nodeLabels"], json!({"team": "shop", label: "spot"}));
        let tagged = format!("{SCALED}  tags: {{team: shop}}\n");
        objects.apply(&tagged).await.unwrap();
        wait_until("the other edit", async || sent(world, "PUT", &cluster) == 2).await;
        let body = world.azure().resource(&cluster).unwrap();
        let names: Vec<_> = body["properties"]["agentPoolProfiles"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
        assert_eq!(names, ["system", "spot"], "{body}");

        // An edit of the very value is sent.
        objects.apply(&labelled.replace("count: 2", "count: 3")).await.unwrap();
        wait_until("the edit of the count", async || sent(world, "PUT", &pool) == 3).await;
        assert_eq!(world.azure().resource(&pool).unwrap()["properties"]["count"], 3);
    });
}

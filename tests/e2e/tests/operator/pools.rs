//! A node pool waits while its cluster is busy, and the cluster's kubeconfig is exported as what it says.

use armature_e2e::World;
use armature_simulator::Query;
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use serde_json::json;

use crate::{SUBSCRIPTION, has_reason, is_ready, resource_group};

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

//! A Kusto database waits while its cluster is busy, without a request under its own path.

use armature_e2e::World;
use armature_simulator::{ClusterState, Query};

use crate::{has_reason, is_ready, resource_group, wait_until};

const CLUSTER: &str = "
apiVersion: kusto.azure.com/v1api20230815
kind: Cluster
metadata: {name: busycluster, namespace: kusto}
spec:
  location: westeurope
  owner: {name: kusto-rg}
  sku: {name: Standard_D13_v2, tier: Standard, capacity: 2}
";

const DATABASE: &str = "
apiVersion: kusto.azure.com/v1api20230815
kind: Database
metadata: {name: orders, namespace: kusto}
spec:
  owner: {name: busycluster}
  readWriteDatabase: {kind: ReadWrite, location: westeurope}
";

#[test]
fn nothing_is_sent_for_a_database_while_its_cluster_is_updating() {
    World::shared().run("kusto", async |world, objects| {
        let set_state = |state: &str| {
            let wanted = ClusterState {
                cluster: "busycluster".into(),
                provisioning_state: Some(state.into()),
                state: None,
            };
            world.azure().set_cluster_state(&wanted).unwrap();
        };
        let requests = |method: Option<&str>, path: &str| {
            world.azure().requests(&Query {
                method: method.map(str::to_owned),
                path: Some(path.to_owned()),
                ..Query::default()
            })
        };
        let database_requests = || requests(None, "/clusters/busycluster/databases/orders");
        let looks = || requests(Some("GET"), "/clusters/busycluster$").len();
        objects
            .apply(&resource_group("kusto-rg", "kusto"))
            .await
            .unwrap();
        objects.apply(CLUSTER).await.unwrap();
        objects
            .wait_ready("kusto/Cluster", "busycluster", is_ready)
            .await;

        set_state("Updating");
        let before = looks();
        objects.apply(DATABASE).await.unwrap();
        let (blocked, _) = objects
            .wait_ready(
                "kusto/Database",
                "orders",
                has_reason("ReconciliationBlocked"),
            )
            .await;
        assert!(
            blocked["message"].as_str().unwrap().contains("Updating"),
            "{blocked}"
        );
        // It looks at the cluster again and again, and still asks nothing of the database.
        wait_until("two looks", async || looks() >= before + 2).await;
        assert!(database_requests().is_empty(), "{:#?}", database_requests());

        set_state("Succeeded");
        objects
            .wait_ready("kusto/Database", "orders", is_ready)
            .await;
        assert!(!database_requests().is_empty());
    });
}

//! A Kusto database waits while its cluster is busy, without a request under its own path.

use armature_e2e::World;
use armature_simulator::{ClusterState, Query};

use crate::{LIMIT, has_reason, is_ready, resource_group};

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
        let database_requests = || {
            world.azure().requests(&Query {
                path: Some("/clusters/busycluster/databases/orders".into()),
                ..Query::default()
            })
        };
        objects
            .apply(&resource_group("kusto-rg", "kusto"))
            .await
            .unwrap();
        objects.apply(CLUSTER).await.unwrap();
        objects
            .wait_ready("Cluster", "busycluster", LIMIT, is_ready)
            .await;

        set_state("Updating");
        objects.apply(DATABASE).await.unwrap();
        let (blocked, _) = objects
            .wait_ready(
                "Database",
                "orders",
                LIMIT,
                has_reason("ReconciliationBlocked"),
            )
            .await;
        assert!(
            blocked["message"].as_str().unwrap().contains("Updating"),
            "{blocked}"
        );
        // Long enough for another look at it.
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        assert!(database_requests().is_empty(), "{:#?}", database_requests());

        set_state("Succeeded");
        objects
            .wait_ready("Database", "orders", LIMIT, is_ready)
            .await;
        assert!(!database_requests().is_empty());
    });
}

//! SIGTERM while Azure is slow to answer.

use std::time::Duration;

use armature_simulator::{FaultRule, Query};

use crate::chart::NAMESPACE;
use crate::cluster::{Cluster, namespace};

const GROUP: &str = "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: slow, namespace: team}
spec: {location: westeurope}
";

#[tokio::test(flavor = "multi_thread")]
async fn running_work_is_finished_and_the_lease_given_back() {
    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "team"] {
        cluster.apply(&namespace(name)).await;
    }
    let manifests = cluster.render(&[]).await;
    for manifest in &manifests {
        cluster.apply(manifest).await;
    }
    let pod = cluster.run(&manifests, "armature-0", "127.0.0.1").await;
    cluster.azure.simulator().add_fault(FaultRule {
        method: Some("PUT".to_owned()),
        delay: Some(Duration::from_secs(3)),
        ..FaultRule::default()
    });
    cluster.apply(&serde_saphyr::from_str(GROUP).unwrap()).await;
    let reads = Query {
        method: Some("GET".to_owned()),
        path: Some("**/resourceGroups/slow".to_owned()),
        ..Query::default()
    };
    cluster
        .until(
            "the resource was read, so that it is about to be written",
            async |cluster| !cluster.azure.simulator().requests(&reads).is_empty(),
        )
        .await;
    tokio::time::sleep(Duration::from_millis(500)).await;

    let (status, took) = pod.terminate().await;
    assert!(status.success(), "{status}");
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert_eq!(cluster.holder().await, "", "the Lease is given back");
    let puts = Query {
        method: Some("PUT".to_owned()),
        ..reads
    };
    let puts = cluster.azure.simulator().requests(&puts);
    assert_eq!(puts.len(), 1);
    let status = puts[0].status;
    assert!(
        (200..300).contains(&status),
        "the PUT was answered {status}"
    );
    println!("stopped in {took:?}");
}

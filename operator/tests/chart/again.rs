//! An operator that starts again: it applies no CRD that is as it left it, and all where one is not.

use std::time::Duration;

use armature_runtime::kubernetes::InstalledCrd;
use kube::api::{Api, Patch, PatchParams};
use serde_json::json;

use crate::chart::NAMESPACE;
use crate::cluster::{Cluster, namespace};
use crate::pod::Ports;

/// Where the operator notes what it has applied.
const APPLIED: &str = "armature.azure.com/applied-crds";

/// What an operator has applied its CRDs within after it started, where it does: it looks for other replicas first.
const TIME_TO_APPLY: Duration = Duration::from_secs(8);

#[tokio::test(flavor = "multi_thread")]
async fn crds_are_applied_again_only_where_somebody_has_changed_one() {
    let cluster = Cluster::start().await;
    cluster.apply(&namespace(NAMESPACE)).await;
    let manifests = cluster.render(&[]).await;
    for manifest in &manifests {
        cluster.apply(manifest).await;
    }
    // In a cluster the webhook stays where it is.
    let ports = Ports::free();
    let url = format!("https://127.0.0.1:{}/convert", ports.webhook);
    let run = async || cluster.run_at(&manifests, "armature-0", ports, &url).await;
    let noted = async || {
        let annotations = cluster.certificate().await.metadata.annotations;
        annotations.and_then(|known| known.get(APPLIED).cloned())
    };
    let pod = run().await;
    cluster
        .until("what was applied is noted", async |_| {
            noted().await.is_some()
        })
        .await;
    pod.terminate().await;
    let first = (noted().await, applied(&cluster).await);
    assert!(first.1 >= 2, "{} were applied", first.1);

    let pod = run().await;
    tokio::time::sleep(TIME_TO_APPLY).await;
    pod.terminate().await;
    assert_eq!((noted().await, applied(&cluster).await), first);

    let crds: Api<InstalledCrd> = Api::all(cluster.client.clone());
    let name = "resourcegroups.resources.azure.com";
    let edit = Patch::Merge(json!({"spec": {"names": {"shortNames": ["mine"]}}}));
    let edited = crds.patch(name, &PatchParams::default(), &edit).await;
    let edited = edited.unwrap().metadata.generation;
    let pod = run().await;
    cluster
        .until("all are applied", async |_| noted().await != first.0)
        .await;
    pod.terminate().await;
    let now = crds.get(name).await.unwrap().metadata.generation;
    println!("generation {edited:?}, then {now:?}");
    assert_eq!(applied(&cluster).await, 2 * first.1);
}

/// How many times CRDs were applied since the API server started, by its own count.
async fn applied(cluster: &Cluster) -> u64 {
    let request = http::Request::get("/metrics").body(Vec::new()).unwrap();
    let text = cluster.client.request_text(request).await.unwrap();
    let lines = text.lines().filter(|line| {
        line.starts_with("apiserver_request_total{")
            && line.contains("resource=\"customresourcedefinitions\"")
            && line.contains("verb=\"APPLY\"")
    });
    let counts = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
    counts.sum()
}

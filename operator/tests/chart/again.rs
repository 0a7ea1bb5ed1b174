//! An operator that starts again: it applies no CRD that is as it left it, and all where one is not.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, Patch, PatchParams};
use serde_json::json;

use crate::chart::NAMESPACE;
use crate::cluster::Cluster;
use crate::pod::Ports;

/// Where the operator notes what it has applied.
const APPLIED: &str = "armature.azure.com/applied-crds";

/// What an operator has applied its CRDs within after it started, where it does: it looks for other replicas first.
const TIME_TO_APPLY: Duration = Duration::from_secs(8);

#[tokio::test(flavor = "multi_thread")]
async fn crds_are_applied_again_only_where_somebody_has_changed_one() {
    let cluster = Cluster::start().await;
    let manifests = cluster.install(&[NAMESPACE]).await;
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

    // Somebody takes a column out that `kubectl get` shows.
    let crds: Api<CustomResourceDefinition> = Api::all(cluster.client.clone());
    let name = "resourcegroups.resources.azure.com";
    let columns = async || {
        let mut crd = crds.get(name).await.unwrap();
        crd.spec.versions.swap_remove(0).additional_printer_columns
    };
    let before = columns().await;
    assert!(before.is_some(), "there are columns");
    let edit = json!([{"op": "remove", "path": "/spec/versions/0/additionalPrinterColumns"}]);
    let edit = Patch::Json::<()>(serde_json::from_value(edit).unwrap());
    crds.patch(name, &PatchParams::default(), &edit)
        .await
        .unwrap();
    assert_eq!(columns().await, None);
    let pod = run().await;
    cluster
        .until("all are applied", async |_| noted().await != first.0)
        .await;
    pod.terminate().await;
    assert_eq!(columns().await, before, "the columns are back");
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

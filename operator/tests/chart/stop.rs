//! SIGTERM while Azure is slow to answer, and does not answer at all.

use std::time::Duration;

use armature_simulator::{FaultRule, Query};
use kube::api::{Api, ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use serde_json::json;

use crate::chart::NAMESPACE;
use crate::cluster::{Cluster, namespace};

/// Names of resource groups, and how long Azure takes to answer their PUTs.
const GROUPS: [(&str, Duration); 2] = [
    ("slow", Duration::from_secs(3)),
    ("endless", Duration::from_secs(3600)),
];

/// What the kubelet gives a pod at most, less than its grace period of 30 s.
const LIMIT: Duration = Duration::from_secs(20);

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
    for (name, delay) in GROUPS {
        cluster.azure.simulator().add_fault(FaultRule {
            method: Some("PUT".to_owned()),
            path: Some(format!("/resourceGroups/{name}$")),
            delay: Some(delay),
            ..FaultRule::default()
        });
        let group = json!({
            "apiVersion": "resources.azure.com/v1api20200601",
            "kind": "ResourceGroup",
            "metadata": {"name": name, "namespace": "team"},
            "spec": {"location": "westeurope"},
        });
        cluster.apply(&group).await;
    }
    let puts = |cluster: &Cluster| {
        let query = Query {
            method: Some("PUT".to_owned()),
            ..Query::default()
        };
        let requests = cluster.azure.simulator().requests(&query).into_iter();
        let mut paths: Vec<String> = requests.map(|request| request.path).collect();
        paths.sort();
        paths
    };
    cluster
        .until("both are being written", async |cluster| {
            puts(cluster).len() == GROUPS.len()
        })
        .await;

    let (status, took) = pod.terminate().await;
    println!("stopped in {took:?}");
    assert!(status.success(), "{status}");
    assert!(took < LIMIT, "{took:?}");
    assert_eq!(cluster.holder().await, "", "the Lease is given back");
    let sent = puts(&cluster);
    let expected = ["endless", "slow"].map(|name| {
        format!("/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/{name}")
    });
    assert_eq!(sent, expected);
    // What Azure answered after the signal was taken in; what it did not answer was given up.
    assert_eq!(ready(&cluster, "slow").await, "True");
    assert_ne!(ready(&cluster, "endless").await, "True");
}

/// Status of the condition `Ready`, read as it is stored: conversion is away.
async fn ready(cluster: &Cluster, name: &str) -> String {
    let kind = "ResourceGroup";
    let stored = GroupVersionKind::gvk("resources.azure.com", "v1api20200601storage", kind);
    let resource = ApiResource::from_gvk(&stored);
    let groups: Api<DynamicObject> =
        Api::namespaced_with(cluster.client.clone(), "team", &resource);
    let group = groups.get(name).await.unwrap();
    let conditions = group.data["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let ready = conditions.find(|condition| condition["type"] == "Ready");
    let status = ready.and_then(|ready| ready["status"].as_str());
    status.unwrap_or_default().to_owned()
}

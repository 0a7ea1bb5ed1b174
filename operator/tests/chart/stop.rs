//! SIGTERM while Azure is slow to answer, does not answer at all, and works on what an object has not told of yet.

use std::time::{Duration, Instant};

use armature_runtime::names::POLLER_RESUME_TOKEN;
use armature_simulator::{FaultRule, OperationRule, Query, Style};
use kube::api::{Api, ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use serde_json::json;

use crate::chart::NAMESPACE;
use crate::cluster::Cluster;

/// Names of resource groups, and how long Azure takes to answer their PUTs.
const GROUPS: [(&str, Duration); 2] = [
    ("slow", Duration::from_secs(3)),
    ("endless", Duration::from_secs(3600)),
];

#[tokio::test(flavor = "multi_thread")]
async fn running_work_is_finished_and_the_lease_given_back() {
    let cluster = Cluster::start().await;
    let manifests = cluster.install(&[NAMESPACE, "team"]).await;
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
    cluster
        .until("both are being written", async |cluster| {
            puts(cluster).len() == GROUPS.len()
        })
        .await;

    let status = pod.terminate().await;
    assert!(status.success(), "{status}");
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

/// Paths that a PUT was sent to, in order of letters.
fn puts(cluster: &Cluster) -> Vec<String> {
    let query = Query {
        method: Some("PUT".to_owned()),
        ..Query::default()
    };
    let requests = cluster.azure.simulator().requests(&query).into_iter();
    let mut paths: Vec<String> = requests.map(|request| request.path).collect();
    paths.sort();
    paths
}

/// An object says nothing of an operation for 5 s after its creation.
const SILENT: Duration = Duration::from_secs(4);

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_that_its_object_does_not_tell_of_is_written_down() {
    const GROUP: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/there";
    let identity = format!("{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id");
    let cluster = Cluster::start().await;
    let manifests = cluster.install(&[NAMESPACE, "team"]).await;
    let azure = cluster.azure.simulator();
    azure
        .place(GROUP, json!({"location": "westeurope"}))
        .unwrap();
    azure.set_operation_rule(
        Some("Microsoft.ManagedIdentity/userAssignedIdentities"),
        OperationRule {
            put: Some(Style::AsyncOperation),
            // Past the end of the first process, until the test ends it.
            latency: Some(Duration::MAX),
            retry_after: Some(1),
            ..OperationRule::default()
        },
    );
    let pod = cluster.run(&manifests, "armature-0", "127.0.0.1").await;
    let object = json!({
        "apiVersion": "managedidentity.azure.com/v1api20230131",
        "kind": "UserAssignedIdentity",
        "metadata": {"name": "id", "namespace": "team"},
        "spec": {"location": "westeurope", "owner": {"armId": GROUP}},
    });
    cluster.apply(&object).await;
    let created = Instant::now();
    let api = of_stored(&cluster, "UserAssignedIdentity");
    let is_told = async || {
        let object = api.get("id").await.unwrap();
        let annotations = object.metadata.annotations.unwrap_or_default();
        annotations.contains_key(POLLER_RESUME_TOKEN)
    };
    let polls = |cluster: &Cluster| {
        let all = cluster.azure.simulator().requests(&Query::default());
        let of_it = |subject: &Option<String>| {
            let subject = subject.as_deref();
            subject.is_some_and(|subject| subject.eq_ignore_ascii_case(&identity))
        };
        all.iter().filter(|sent| of_it(&sent.subject)).count()
    };
    cluster
        .until("the operation is being followed", async |cluster| {
            polls(cluster) > 0
        })
        .await;
    let is_told_before = is_told().await;
    // A busy machine may be past it.
    let may_speak = created.elapsed() >= SILENT;
    assert!(
        may_speak || !is_told_before,
        "nothing is written while it may be silent"
    );
    let status = pod.terminate().await;
    assert!(status.success(), "{status}");
    assert!(is_told().await, "the next process can follow the operation");
    let before = polls(&cluster);
    let pod = cluster.run(&manifests, "armature-0", "127.0.0.1").await;
    cluster
        .until(
            "the operation is followed by the next process",
            async |cluster| polls(cluster) > before,
        )
        .await;
    assert_eq!(azure.finish_operations(&identity).unwrap(), 1);
    cluster
        .until("the identity is ready", async |_| {
            is_ready(&api.get("id").await.unwrap()) == "True"
        })
        .await;
    assert_eq!(puts(&cluster), [identity.as_str()], "it is written once");
    pod.terminate().await;
}

/// Objects of a kind as they are stored: conversion is away when no process runs.
fn of_stored(cluster: &Cluster, kind: &str) -> Api<DynamicObject> {
    let mut kinds = armature_generated::KINDS.iter();
    let info = kinds.find(|info| info.kind == kind).unwrap();
    let stored = GroupVersionKind::gvk(info.group, info.hub.storage_version, kind);
    let resource = ApiResource::from_gvk_with_plural(&stored, info.plural);
    Api::namespaced_with(cluster.client.clone(), "team", &resource)
}

/// Status of the condition `Ready` of a resource group.
async fn ready(cluster: &Cluster, name: &str) -> String {
    let groups = of_stored(cluster, "ResourceGroup");
    is_ready(&groups.get(name).await.unwrap())
}

fn is_ready(object: &DynamicObject) -> String {
    let conditions = object.data["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let ready = conditions.find(|condition| condition["type"] == "Ready");
    let status = ready.and_then(|ready| ready["status"].as_str());
    status.unwrap_or_default().to_owned()
}

//! Nobody goes around what the API server checks by writing at the version in which objects are stored.

use armature_controlplane::waiting::until_ok;
use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

use crate::chart::{NAMESPACE, policy};
use crate::cluster::{Cluster, namespace};
use crate::protection;

/// The kind with a version for users, and one in which it is stored.
fn crd() -> Value {
    let mut crd = protection::crd();
    let mut stored = crd["spec"]["versions"][0].clone();
    stored["name"] = json!("v1storage");
    crd["spec"]["versions"][0]["storage"] = json!(false);
    crd["spec"]["versions"].as_array_mut().unwrap().push(stored);
    crd
}

fn groups(cluster: &Cluster, version: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("resources.azure.com", version, "ResourceGroup");
    let resource = ApiResource::from_gvk(&kind);
    Api::namespaced_with(cluster.client.clone(), NAMESPACE, &resource)
}

/// What the API server says to a new object at this version; nothing where it takes it.
async fn refusal(cluster: &Cluster, version: &str) -> Option<String> {
    let object = json!({
        "apiVersion": format!("resources.azure.com/{version}"),
        "kind": "ResourceGroup",
        "metadata": {"name": "new"},
        "spec": {"location": "westeurope"},
    });
    let object: DynamicObject = serde_json::from_value(object).unwrap();
    let parameters = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let created = groups(cluster, version).create(&parameters, &object).await;
    created.err().map(|error| error.to_string())
}

/// What it says to a change of one that is there.
async fn refusal_of(cluster: &Cluster, version: &str, change: Value) -> Option<String> {
    let change = Patch::Merge(change);
    let groups = groups(cluster, version);
    let patched = groups
        .patch("there", &PatchParams::default(), &change)
        .await;
    patched.err().map(|error| error.to_string())
}

async fn cluster_with(settings: &[&str]) -> Cluster {
    let cluster = Cluster::start().await;
    cluster.apply(&namespace(NAMESPACE)).await;
    cluster.apply(&crd()).await;
    let there = json!({
        "apiVersion": "resources.azure.com/v1",
        "kind": "ResourceGroup",
        "metadata": {"name": "there", "namespace": NAMESPACE},
        "spec": {"location": "westeurope"},
    });
    let parameters = PatchParams::apply("tests");
    until_ok("the kind to be served", async || {
        cluster.request(&there, &parameters).await
    })
    .await;
    let manifests = cluster.render(settings).await;
    for policy in policy(&manifests, "armature-storage-version") {
        cluster.apply(policy).await;
    }
    cluster
}

#[tokio::test(flavor = "multi_thread")]
async fn spec_is_not_written_where_nothing_checks_it() {
    let cluster = cluster_with(&["storageVersionWriters={nobody}"]).await;
    cluster
        .until("the policy is in force", async |cluster| {
            refusal(cluster, "v1storage").await.is_some()
        })
        .await;
    let refused = refusal(&cluster, "v1storage").await.unwrap();
    for part in [
        "version v1storage",
        "armature-admin",
        "storageVersionWriters",
    ] {
        assert!(refused.contains(part), "{refused}");
    }
    assert_eq!(refusal(&cluster, "v1").await, None);
    let edit = |location: &str| json!({"spec": {"location": location}});
    let refused = refusal_of(&cluster, "v1storage", edit("x")).await;
    assert!(refused.is_some(), "an edit");
    assert_eq!(refusal_of(&cluster, "v1", edit("northeurope")).await, None);
    // Whoever collects garbage or backs up sends metadata at any version.
    let notes = json!({"metadata": {"annotations": {"a": "b"}, "finalizers": ["tests.example/a"]}});
    assert_eq!(refusal_of(&cluster, "v1storage", notes).await, None);
    let free = json!({"metadata": {"finalizers": null}});
    assert_eq!(refusal_of(&cluster, "v1storage", free).await, None);
    let groups = groups(&cluster, "v1storage");
    groups
        .delete("there", &DeleteParams::default())
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_named_writes_as_objects_are_stored() {
    let cluster = cluster_with(&["storageVersionWriters={armature-admin,velero}"]).await;
    // In force at the same time as the one above: others are refused.
    let manifests = cluster.render(&["storageVersionWriters={velero}"]).await;
    let theirs = policy(&manifests, "armature-storage-version");
    let texts: Vec<String> = theirs.iter().map(|one| one.to_string()).collect();
    assert!(
        texts.iter().any(|text| text.contains("'velero'")),
        "{texts:?}"
    );
    assert_eq!(refusal(&cluster, "v1storage").await, None);
    for policy in theirs {
        cluster.apply(policy).await;
    }
    cluster
        .until("the administrator is no longer named", async |cluster| {
            refusal(cluster, "v1storage").await.is_some()
        })
        .await;
}

//! What is annotated is not deleted: the API server refuses it by itself, without an operator.

use armature_controlplane::waiting::until_ok;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

use crate::chart::{NAMESPACE, policy};
use crate::cluster::{Cluster, namespace};

const PROTECT: &str = "armature.azure.com/protect";
const BINDING: &str = "armature.azure.com/binding";

/// A kind of one of the operator's groups.
pub fn crd() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "resourcegroups.resources.azure.com"},
        "spec": {
            "group": "resources.azure.com",
            "scope": "Namespaced",
            "names": {"kind": "ResourceGroup", "plural": "resourcegroups"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    })
}

fn annotated(mut manifest: Value, text: Option<&str>) -> Value {
    if let Some(text) = text {
        manifest["metadata"]["annotations"] = json!({PROTECT: text});
    }
    manifest
}

fn group(namespace: &str, name: &str, protect: Option<&str>) -> Value {
    let manifest = json!({
        "apiVersion": "resources.azure.com/v1",
        "kind": "ResourceGroup",
        "metadata": {"name": name, "namespace": namespace},
    });
    annotated(manifest, protect)
}

fn groups(cluster: &Cluster, namespace: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("resources.azure.com", "v1", "ResourceGroup");
    let resource = ApiResource::from_gvk(&kind);
    Api::namespaced_with(cluster.client.clone(), namespace, &resource)
}

/// What the API server says to a deletion; nothing where it is allowed.
async fn refusal(cluster: &Cluster, namespace: &str, name: &str) -> Option<String> {
    let ask = DeleteParams {
        dry_run: true,
        ..DeleteParams::default()
    };
    let deleted = groups(cluster, namespace).delete(name, &ask).await;
    deleted.err().map(|error| error.to_string())
}

/// The policy, in force; and the kind.
async fn protected_cluster() -> Cluster {
    let cluster = Cluster::start().await;
    cluster.apply(&namespace(NAMESPACE)).await;
    cluster.apply(&crd()).await;
    let manifests = cluster.render(&[]).await;
    let policies = policy(&manifests, "armature-protect");
    assert_eq!(policies.len(), 2, "a policy and its binding");
    for policy in policies {
        cluster.apply(policy).await;
    }
    let probe = group(NAMESPACE, "probe", Some("delete"));
    let parameters = kube::api::PatchParams::apply("tests");
    until_ok("the kind to be served", async || {
        cluster.request(&probe, &parameters).await
    })
    .await;
    cluster
        .until("the policy is in force", async |cluster| {
            refusal(cluster, NAMESPACE, "probe").await.is_some()
        })
        .await;
    cluster
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_annotated_is_not_deleted() {
    let cluster = protected_cluster().await;
    let message = "is protected from deletion by the annotation armature.azure.com/protect";
    for (team, of_namespace, binding) in [
        ("free", None, None),
        ("guarded", Some("delete"), None),
        ("odd", Some("x"), None),
        ("bound", Some("delete"), Some("adopt, protect")),
        ("bound-by-mistake", Some("delete"), Some("protection")),
        ("bound-to-nothing", None, Some("protect")),
        ("bound-elsewhere", Some("delete"), Some("adopt")),
    ] {
        let mut manifest = annotated(namespace(team), of_namespace);
        if let Some(binding) = binding {
            manifest["metadata"]["annotations"][BINDING] = json!(binding);
        }
        cluster.apply(&manifest).await;
        let is_bound = of_namespace.is_some() && binding.is_some_and(|text| text != "adopt");
        for (name, own, is_free) in [
            ("plain", None, of_namespace.is_none()),
            ("protected", Some("delete"), false),
            ("released", Some("none"), !is_bound),
            ("unknown", Some("Delete"), false),
        ] {
            cluster.apply(&group(team, name, own)).await;
            let refusal = refusal(&cluster, team, name).await;
            assert_eq!(refusal.is_none(), is_free, "{team}/{name}: {refusal:?}");
            let Some(refusal) = refusal else { continue };
            assert!(refusal.contains(message), "{refusal}");
            let (whose, word) = match own.filter(|_| !is_bound) {
                Some(word) => ("the object", Some(word)),
                None => ("its namespace", of_namespace),
            };
            assert!(refusal.contains(whose), "{refusal}");
            let is_known = word == Some("delete");
            let told = if is_known {
                "remove it first"
            } else {
                "its text is unknown"
            };
            assert!(refusal.contains(told), "{team}/{name}: {refusal}");
        }
    }

    // Nor with all others, as when a namespace goes.
    let guarded = groups(&cluster, "guarded");
    let (how, all) = (DeleteParams::default(), ListParams::default());
    let deleted = guarded.delete_collection(&how, &all).await;
    assert!(deleted.is_err());
    let left = guarded.list(&all).await.unwrap().items;
    let left: Vec<_> = left
        .iter()
        .filter_map(|group| group.metadata.name.as_deref())
        .collect();
    for name in ["plain", "protected", "unknown"] {
        assert!(left.contains(&name), "{left:?}");
    }
}

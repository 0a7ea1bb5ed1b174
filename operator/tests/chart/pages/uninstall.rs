//! `docs/uninstall.md`: its commands, in each of the ways that it shows.

use std::collections::BTreeSet;

use armature_controlplane::waiting::until;
use armature_simulator::Query;

use super::stage::{SUBSCRIPTION, Stage};
use crate::chart::NAMESPACE;

const GROUPS: &str = "resources.azure.com/*;storage.azure.com/StorageAccount";

/// Two objects, one in the other, with an export and a word against deletion.
const OBJECTS: &str = "cat > objects.yaml <<'EOF'
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: shop
  namespace: team
  annotations: {serviceoperator.azure.com/reconcile-policy: manage}
spec: {location: westeurope}
---
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata:
  name: shopdata
  namespace: team
  annotations: {armature.azure.com/protect: delete}
spec:
  location: westeurope
  kind: StorageV2
  sku: {name: Standard_LRS}
  accessTier: Hot
  owner: {name: shop}
EOF
kubectl wait --for=condition=Established --timeout=120s crd/resourcegroups.resources.azure.com crd/storageaccounts.storage.azure.com
kubectl apply --server-side -f objects.yaml
kubectl -n team wait --for=condition=Ready --timeout=300s resourcegroup/shop storageaccount/shopdata";

async fn stage() -> Stage {
    let stage = Stage::with_operator("uninstall.md", GROUPS).await;
    stage.prepare(OBJECTS).await;
    assert_eq!(stage.resources().len(), 2);
    stage
}

fn deletions(stage: &Stage) -> usize {
    let query = Query {
        method: Some("DELETE".to_owned()),
        ..Query::default()
    };
    stage.azure().requests(&query).len()
}

/// What is left in the operator's namespace, but for what Kubernetes makes in each.
async fn left(stage: &Stage) -> BTreeSet<String> {
    let kinds = "secrets,configmaps,leases,deployments,services,serviceaccounts,roles,rolebindings,poddisruptionbudgets,networkpolicies";
    let command = format!("kubectl -n {NAMESPACE} get {kinds} --output name");
    let names = stage.prepare(&command).await;
    let made_by_kubernetes = ["configmap/kube-root-ca.crt", "serviceaccount/default"];
    let names = names
        .lines()
        .filter(|name| !made_by_kubernetes.contains(name));
    names.map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_stay_and_the_cluster_is_clean() {
    let mut stage = stage().await;
    stage.run("detach").await;
    // The pods of the upgrade. In a cluster the URL of the webhook stays; here the API server learns of another one.
    stage.stop_operator().await;
    stage.start_operator().await;
    stage
        .until("kubectl -n team annotate azure --all armature.azure.com/probe=x --dry-run=server")
        .await;
    let policies = stage.run("look").await;
    assert_eq!(policies.trim(), "2 detach-on-delete");
    stage.run("delete").await;
    assert_eq!((deletions(&stage), stage.resources().len()), (0, 2));
    stage.skip("delete-in-azure");
    stage.run("remove").await;
    stage.stop_operator().await;
    let left = left(&stage).await;
    let expected = [
        "configmap/armature-settings",
        "configmap/armature-webhook-certificate",
        "secret/armature-digest-key",
        "secret/armature-webhook-certificate",
    ];
    let (leases, others): (BTreeSet<_>, BTreeSet<_>) = left
        .into_iter()
        .partition(|name| name.starts_with("lease.coordination.k8s.io/"));
    assert!(!leases.is_empty());
    assert_eq!(
        others,
        expected.map(str::to_owned).into(),
        "the page names what stays"
    );
    let crds = stage.prepare("kubectl get crd --output name").await;
    assert_eq!(crds, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_go_with_their_objects() {
    let mut stage = stage().await;
    for name in ["detach", "look", "delete"] {
        stage.skip(name);
    }
    stage
        .prepare("kubectl annotate azure --all --all-namespaces armature.azure.com/protect-")
        .await;
    stage.run("delete-in-azure").await;
    assert_eq!(stage.resources(), [""; 0]);
    stage.run("remove").await;
    stage.stop_operator().await;
}

/// What the page warns of, and the way out of it.
#[tokio::test(flavor = "multi_thread")]
async fn objects_that_are_stuck_are_freed_by_hand() {
    let mut stage = stage().await;
    for name in ["detach", "look", "delete", "delete-in-azure", "remove"] {
        stage.skip(name);
    }
    let remove = format!("helm uninstall armature --namespace {NAMESPACE}");
    stage.prepare(&remove).await;
    stage.stop_operator().await;
    // Nobody converts.
    let read = "if kubectl -n team get resourcegroup shop; then exit 1; fi";
    stage.prepare(read).await;
    stage.run("rescue").await;
    stage
        .prepare("kubectl delete crd --selector app.kubernetes.io/name=armature --timeout=120s")
        .await;
    until("the CRDs to be gone", async || {
        let crds = stage.prepare("kubectl get crd --output name").await;
        crds.is_empty()
    })
    .await;
    let group = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/shop");
    assert!(
        stage.azure().resource(&group).is_some(),
        "nothing is deleted in Azure"
    );
    assert_eq!(deletions(&stage), 0);
    stage.finish();
}

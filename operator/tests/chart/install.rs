//! The chart installed: its manifests are accepted, and the operator runs with the rights that they give, using each.

use std::collections::BTreeSet;
use std::path::Path;

use k8s_openapi::api::core::v1::{ConfigMap, Event, Secret};
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

use crate::chart::{NAMESPACE, add_argument, deployment};
use crate::cluster::{ACCOUNT, Cluster, account, namespace};
use crate::metrics::ask_who_reads;
use crate::rights::{Right, given, used};

/// One object of each kind that the chart's tests install; they read and write Secrets and ConfigMaps.
pub const OBJECTS: &str = "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: shop, namespace: team}
spec: {location: westeurope}
---
apiVersion: managedidentity.azure.com/v1api20230131
kind: UserAssignedIdentity
metadata: {name: web, namespace: team}
spec:
  location: westeurope
  owner: {name: shop}
  operatorSpec:
    secrets: {clientId: {name: web, key: id}}
    configMaps: {principalId: {name: web, key: principal}}
---
apiVersion: managedidentity.azure.com/v1api20230131
kind: FederatedIdentityCredential
metadata: {name: web, namespace: team}
spec:
  owner: {name: web}
  audiences: [api://AzureADTokenExchange]
  issuerFromConfig: {name: cluster, key: issuer}
  subject: system:serviceaccount:team:web
";

/// Rights that a run may or may not need.
const DEPENDS: [(&str, &str, &str, &str); 2] = [
    (
        "",
        "namespaces",
        "get",
        "an object may come before the watch of its namespace",
    ),
    (
        "*.azure.com",
        "*",
        "get",
        "an object is read only where a write met a conflict",
    ),
];

/// A pod as the Deployment would make it.
fn pod_of(manifests: &[Value]) -> Value {
    let template = &deployment(manifests)["spec"]["template"];
    let mut pod = template.clone();
    pod["apiVersion"] = "v1".into();
    pod["kind"] = "Pod".into();
    pod["metadata"]["name"] = "armature-0".into();
    pod["metadata"]["namespace"] = NAMESPACE.into();
    pod
}

async fn accepts_the_chart(cluster: &Cluster, manifests: &[Value]) {
    for manifest in manifests {
        cluster.apply(manifest).await;
    }
    // Everything that is off by default is accepted, too.
    let all = cluster
        .render(&[
            "metrics.mode=armature",
            "metrics.authentication=true",
            "networkPolicies.enable=true",
            "networkPolicies.kubernetesApiCIDR=10.0.0.1/32",
            "podDisruptionBudget.minAvailable=50%",
            "flowSchema.enabled=true",
            "useWorkloadIdentityAuth=true",
            "logVerbosity=2",
            "priorityClassName=system-cluster-critical",
            "nodeSelector.disk=ssd",
        ])
        .await;
    let check = PatchParams {
        dry_run: true,
        ..PatchParams::apply("helm").force()
    };
    for manifest in &all {
        cluster
            .request(manifest, &check)
            .await
            .unwrap_or_else(|error| panic!("{error}: {manifest:#}"));
    }
    for pod in [pod_of(manifests), pod_of(&all)] {
        let pods: Api<k8s_openapi::api::core::v1::Pod> = cluster.api(NAMESPACE);
        let check = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        let pod = serde_json::from_value(pod).unwrap();
        pods.create(&check, &pod)
            .await
            .expect("the pod keeps to the restricted security standard");
    }
}

/// Has objects reconciled that read and write Secrets and ConfigMaps.
pub async fn works(cluster: &Cluster) {
    let issuer = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "cluster", "namespace": "team"},
        "data": {"issuer": "https://oidc.example.com/cluster/"}});
    cluster.apply(&issuer).await;
    let objects: Vec<Value> = serde_saphyr::from_multiple(OBJECTS).unwrap();
    for object in &objects {
        cluster.apply(object).await;
    }
    let credential = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/shop/providers\
        /Microsoft.ManagedIdentity/userAssignedIdentities/web/federatedIdentityCredentials/web";
    cluster
        .until("the last object is in Azure", async |cluster| {
            cluster.azure.simulator().resource(credential).is_some()
        })
        .await;
    cluster
        .until("exports are written", async |cluster| {
            let secret = cluster.api::<Secret>("team").get_opt("web").await.unwrap();
            let map = cluster
                .api::<ConfigMap>("team")
                .get_opt("web")
                .await
                .unwrap();
            secret.is_some() && map.is_some()
        })
        .await;
    change_again(cluster, &objects[0]).await;
}

/// Changes an object until something happens a second time, which is counted in the series of the event that tells of it.
async fn change_again(cluster: &Cluster, object: &Value) {
    let series = async |cluster: &Cluster| {
        let events = cluster.api::<Event>("team").list(&Default::default()).await;
        let events = events.unwrap().items.into_iter();
        let counted = events.filter_map(|event| event.series?.count);
        counted.filter(|count| *count >= 2).count()
    };
    let before = series(cluster).await;
    // From one to two is told twice in the same words.
    for change in ["one", "two", "one", "two"] {
        let mut object = object.clone();
        object["spec"]["tags"] = json!({"change": change});
        cluster.apply(&object).await;
        let id = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/shop";
        let has_it = async |cluster: &Cluster| {
            let group = cluster.azure.simulator().resource(id);
            group.is_some_and(|group| group["tags"]["change"] == change)
        };
        cluster.until("Azure has the change", has_it).await;
    }
    let is_counted = async |cluster: &Cluster| series(cluster).await > before;
    cluster.until("an event has a series", is_counted).await;
}

/// Objects may be stored at a version of long ago, as the CRD says.
pub async fn migrates_stored_objects(cluster: &Cluster) {
    let name = "resourcegroups.resources.azure.com";
    let (old, current) = ("v1beta20200601storage", "v1api20200601storage");
    let crds: Api<CustomResourceDefinition> = Api::all(cluster.client.clone());
    let mut crd = crds.get(name).await.unwrap();
    let versions = &mut crd.spec.versions;
    let mut kept = versions.last().unwrap().clone();
    kept.name = old.to_owned();
    (kept.served, kept.storage) = (false, false);
    versions.push(kept);
    crds.replace(name, &PostParams::default(), &crd)
        .await
        .unwrap();
    let stored = json!({"status": {"storedVersions": [old, current]}});
    crds.patch_status(name, &PatchParams::default(), &Patch::Merge(stored))
        .await
        .unwrap();
    cluster
        .until("the CRD names the storage version alone", async |_| {
            let status = crds.get(name).await.unwrap().status.unwrap();
            status.stored_versions == Some(vec![current.to_owned()])
        })
        .await;
}

/// A second operator, limited to one namespace, which leaves Azure as it is when objects go.
async fn works_in_one_namespace(cluster: &Cluster) {
    let values = [
        "azureTargetNamespaces={team}",
        "defaultReconcilePolicy=detach-on-delete",
    ];
    let limited = cluster.render(&values).await;
    let bindings: Api<ClusterRoleBinding> = Api::all(cluster.client.clone());
    bindings
        .delete("armature-objects", &Default::default())
        .await
        .unwrap();
    for manifest in &limited {
        cluster.apply(manifest).await;
    }
    let before = cluster.certificate().await;
    let pod = cluster.run(&limited, "armature-1", "localhost").await;
    let after = cluster.certificate().await;
    assert_ne!(before.data, after.data, "the certificate names localhost");

    let objects: Vec<Value> = serde_saphyr::from_multiple(OBJECTS).unwrap();
    change_again(cluster, &objects[0]).await;

    let group = GroupVersionKind::gvk("resources.azure.com", "v1api20200601", "ResourceGroup");
    let groups: Api<DynamicObject> = Api::namespaced_with(
        cluster.client.clone(),
        "team",
        &ApiResource::from_gvk(&group),
    );
    groups.delete("shop", &Default::default()).await.unwrap();
    cluster
        .until("the resource group is gone", async |_| {
            groups.get_opt("shop").await.unwrap().is_none()
        })
        .await;
    let id = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/shop";
    assert!(
        cluster.azure.simulator().resource(id).is_some(),
        "the chart's policy holds"
    );
    let status = pod.terminate().await;
    assert!(status.success(), "{status}");
}

/// Rights that the chart gives and nothing used.
fn idle(manifests: &[Value], audit: &Path) -> Vec<Right> {
    let used = used(audit, &account(ACCOUNT));
    assert_eq!(
        used.refused, [""; 0],
        "requests that the chart does not allow"
    );
    let depends: BTreeSet<Right> = DEPENDS
        .map(|(group, resource, verb, _)| (group.into(), resource.into(), verb.into()))
        .into();
    let given = given(manifests);
    assert!(depends.is_subset(&given), "rights that only some runs need");
    let idle = given.difference(&used.rights);
    idle.filter(|right| !depends.contains(right))
        .cloned()
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_has_the_rights_that_it_uses_and_no_others() {
    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "team"] {
        cluster.apply(&namespace(name)).await;
    }
    let mut manifests = cluster.render(&[]).await;
    accepts_the_chart(&cluster, &manifests).await;
    add_argument(&mut manifests, "--storage-migration-delay=2s");

    let pod = cluster.run(&manifests, "armature-0", "127.0.0.1").await;
    works(&cluster).await;
    migrates_stored_objects(&cluster).await;
    ask_who_reads(&cluster, &pod).await;
    assert!(cluster.holder().await.starts_with("armature-0"));
    let status = pod.terminate().await;
    assert!(status.success(), "{status}");
    assert_eq!(cluster.holder().await, "", "the Lease is given back");

    works_in_one_namespace(&cluster).await;
    assert_eq!(idle(&manifests, &cluster.path("audit")), []);
}

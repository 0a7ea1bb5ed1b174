//! Priority and Fairness: what the API server does with the operator's requests.

use axum::http::{Method, Request};
use k8s_openapi::api::flowcontrol::v1::PriorityLevelConfiguration;
use kube::api::Api;
use kube::client::Body;

use crate::chart::{NAMESPACE, deployment};
use crate::cluster::{Cluster, namespace};

/// Name of the level that the API server gave a request of the operator.
async fn level(cluster: &Cluster, client: &kube::Client, method: Method, path: &str) -> String {
    let request = Request::builder().method(method).uri(path);
    let request = request.body(Body::empty()).unwrap();
    let answer = client.send(request).await.unwrap();
    let uid = answer.headers()["x-kubernetes-pf-prioritylevel-uid"].to_str();
    let uid = uid.unwrap().to_owned();
    let levels: Api<PriorityLevelConfiguration> = Api::all(cluster.client.clone());
    let levels = levels.list(&Default::default()).await.unwrap();
    let mut levels = levels.items.into_iter();
    let level = levels.find(|level| level.metadata.uid.as_ref() == Some(&uid));
    level.and_then(|level| level.metadata.name).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn leases_are_told_from_the_rest_and_nothing_is_more_than_workload_low() {
    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "team"] {
        cluster.apply(&namespace(name)).await;
    }
    let manifests = cluster.render(&["flowSchema.enabled=true"]).await;
    for manifest in &manifests {
        cluster.apply(manifest).await;
    }
    let client = cluster.client_of(deployment(&manifests)).await;
    let leases = format!("/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases");
    let lease = format!("{leases}/controllers-leader-election-azinfra-generated");
    let rows = [
        (Method::GET, lease.as_str(), "leader-election"),
        (
            Method::GET,
            "/api/v1/namespaces/team/secrets",
            "workload-low",
        ),
        (
            Method::GET,
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            "workload-low",
        ),
        (Method::GET, "/version", "workload-low"),
    ];
    // The API server takes the schemas over a moment after they were written.
    cluster
        .until("the schemas count", async |cluster| {
            level(cluster, &client, Method::GET, &lease).await == "leader-election"
        })
        .await;
    for (method, path, expected) in rows {
        let level = level(&cluster, &client, method, path).await;
        assert_eq!(level, expected, "{path}");
    }
}

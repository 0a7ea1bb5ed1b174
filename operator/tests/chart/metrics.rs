//! `/metrics` with authentication, as a Prometheus in the cluster reads it.

use k8s_openapi::ByteString;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::{Api, PostParams};
use serde_json::json;

use crate::chart::{NAMESPACE, find};
use crate::cluster::{Cluster, namespace};
use crate::pod::Pod;

/// A token of a service account in [`NAMESPACE`], which is made for it.
async fn token(cluster: &Cluster, account: &str) -> String {
    let manifest = json!({"apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": account, "namespace": NAMESPACE}});
    cluster.apply(&manifest).await;
    let accounts: Api<ServiceAccount> = cluster.api(NAMESPACE);
    let wanted = TokenRequest {
        spec: TokenRequestSpec::default(),
        ..TokenRequest::default()
    };
    let parameters = PostParams::default();
    let request = accounts.create_token_request(account, &parameters, &wanted);
    request.await.unwrap().status.unwrap().token
}

/// A client that trusts the authority of the webhook's certificate, and nothing else.
async fn client(cluster: &Cluster) -> reqwest::Client {
    let data = cluster.certificate().await.data.unwrap();
    let ByteString(authority) = &data["ca.crt"];
    let authorities = reqwest::Certificate::from_pem_bundle(authority).unwrap();
    reqwest::Client::builder()
        .tls_certs_only(authorities)
        .build()
        .unwrap()
}

async fn read(client: &reqwest::Client, pod: &Pod, token: Option<&str>) -> (u16, String) {
    let url = format!("https://127.0.0.1:{}/metrics", pod.ports().metrics);
    let mut request = client.get(url);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_are_for_whom_the_roles_allow() {
    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "team"] {
        cluster.apply(&namespace(name)).await;
    }
    let manifests = cluster.render(&["metrics.authentication=true"]).await;
    for manifest in &manifests {
        cluster.apply(manifest).await;
    }
    let pod = cluster.run(&manifests, "armature-0", "127.0.0.1").await;
    let client = client(&cluster).await;
    let role = find(&manifests, "ClusterRole", "armature-metrics-reader");
    let prometheus = token(&cluster, "prometheus").await;
    for (token, expected) in [
        (None, 401),
        (Some("no token of this cluster"), 401),
        (Some(prometheus.as_str()), 403),
    ] {
        let (status, text) = read(&client, &pod, token).await;
        assert_eq!(status, expected, "{text}");
        assert!(!text.contains("armature_"), "{text}");
    }
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "prometheus-reads-armature"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
            "name": role["metadata"]["name"]},
        "subjects": [{"kind": "ServiceAccount", "name": "prometheus", "namespace": NAMESPACE}],
    });
    cluster.apply(&binding).await;
    cluster
        .until("the binding counts", async |_| {
            read(&client, &pod, Some(&prometheus)).await.0 == 200
        })
        .await;
    let (_, text) = read(&client, &pod, Some(&prometheus)).await;
    assert!(text.contains("armature_build_info"), "{text}");
    let plain = format!("http://127.0.0.1:{}/metrics", pod.ports().metrics);
    let plain = reqwest::get(plain).await;
    assert!(plain.is_err(), "nothing is served in plain HTTP");
}

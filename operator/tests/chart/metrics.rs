//! `/metrics` with authentication, as a Prometheus in the cluster reads it.

use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use kube::api::{Api, PostParams};
use reqwest::tls::Version;
use serde_json::{Value, json};

use crate::chart::{NAMESPACE, find};
use crate::cluster::{Cluster, namespace};
use crate::pod::Pod;
use crate::profile;

/// The Service by which Azure Service Operator's metrics are found.
pub const THEIR_SERVICE: &str = "azureserviceoperator-controller-manager-metrics-service";

/// A token of a service account in [`NAMESPACE`], which is made for it.
pub async fn token(cluster: &Cluster, account: &str) -> String {
    token_of(cluster, NAMESPACE, account).await
}

/// The same in another namespace.
pub async fn token_of(cluster: &Cluster, namespace: &str, account: &str) -> String {
    let manifest = json!({"apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": account, "namespace": namespace}});
    cluster.apply(&manifest).await;
    let accounts: Api<ServiceAccount> = cluster.api(namespace);
    let wanted = TokenRequest {
        spec: TokenRequestSpec::default(),
        ..TokenRequest::default()
    };
    let parameters = PostParams::default();
    let request = accounts.create_token_request(account, &parameters, &wanted);
    request.await.unwrap().status.unwrap().token
}

/// A client that trusts the authorities that the ServiceMonitor names, and nothing else.
pub async fn client(cluster: &Cluster, config_map: &str) -> reqwest::ClientBuilder {
    let config_maps: Api<ConfigMap> = cluster.api(NAMESPACE);
    let data = config_maps.get(config_map).await.unwrap().data.unwrap();
    assert_eq!(data.len(), 1, "no keys: {:?}", data.keys());
    let authorities = reqwest::Certificate::from_pem_bundle(data["ca.crt"].as_bytes()).unwrap();
    reqwest::Client::builder().tls_certs_only(authorities)
}

/// Reads the metrics of an operator that serves no conversion as the ServiceMonitor says: by the name and the authorities that it has.
pub async fn are_read_by(cluster: &Cluster, pod: &Pod, monitor: &Value) {
    let tls = &monitor["spec"]["endpoints"][0]["tlsConfig"];
    assert!(tls.get("insecureSkipVerify").is_none(), "{tls:#}");
    let name = tls["serverName"].as_str().unwrap();
    let address = ([127, 0, 0, 1], pod.ports().metrics).into();
    let authority = tls["ca"]["configMap"]["name"].as_str().unwrap();
    let client = client(cluster, authority).await.resolve(name, address);
    let url = format!("https://{name}:{}/metrics", pod.ports().metrics);
    let answer = client.build().unwrap().get(url).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 401);
}

/// Whether a server takes clients that speak TLS 1.2 alone, and such that speak 1.3 alone. It is reached by this name, which the
/// authorities in the ConfigMap must have certified.
pub async fn tls_versions(cluster: &Cluster, authority: &str, name: &str, port: u16) -> [bool; 2] {
    let mut taken = [false; 2];
    for (taken, version) in taken.iter_mut().zip([Version::TLS_1_2, Version::TLS_1_3]) {
        let client = client(cluster, authority).await;
        let client = client.resolve(name, ([127, 0, 0, 1], port).into());
        let client = client.tls_version_min(version).tls_version_max(version);
        let url = format!("https://{name}:{port}/");
        let answer = client.build().unwrap().get(url).send().await;
        if let Err(error) = &answer {
            let cause = format!("{error:?}");
            assert!(cause.contains("ProtocolVersion"), "{cause}");
        }
        *taken = answer.is_ok();
    }
    taken
}

/// Gives a ClusterRole to a service account in [`NAMESPACE`].
pub async fn bind(cluster: &Cluster, role: &Value, account: &str) {
    bind_in(cluster, role, NAMESPACE, account).await;
}

/// The same in another namespace.
pub async fn bind_in(cluster: &Cluster, role: &Value, namespace: &str, account: &str) {
    let name = &role["metadata"]["name"];
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": format!("{account}-has-{}", name.as_str().unwrap())},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
    });
    cluster.apply(&binding).await;
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

/// Reads the metrics of an operator as somebody whom no role allows it.
pub async fn ask_who_reads(cluster: &Cluster, pod: &Pod) {
    let client = client(cluster, "armature-webhook-certificate").await;
    let stranger = token(cluster, "stranger").await;
    let (status, text) = read(&client.build().unwrap(), pod, Some(&stranger)).await;
    assert_eq!(status, 403, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_are_for_whom_the_roles_allow() {
    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "team"] {
        cluster.apply(&namespace(name)).await;
    }
    let settings = ["metrics.authentication=true", "metrics.profiling=true"];
    let manifests = cluster.render(&settings).await;
    for manifest in &manifests {
        cluster.apply(manifest).await;
    }
    let pod = cluster.run(&manifests, "armature-0", "127.0.0.1").await;
    let client = client(&cluster, "armature-webhook-certificate").await;
    let client = client.build().unwrap();
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
    bind(&cluster, role, "prometheus").await;
    cluster
        .until("the binding counts", async |_| {
            read(&client, &pod, Some(&prometheus)).await.0 == 200
        })
        .await;
    let (_, text) = read(&client, &pod, Some(&prometheus)).await;
    assert!(text.contains("armature_build_info"), "{text}");
    profile::are_taken_by_whom_the_roles_allow(&cluster, &pod, &manifests, &prometheus).await;
    // Scrape jobs check the name of the Service that they find.
    let service = find(&manifests, "Service", THEIR_SERVICE);
    let name = format!(
        "{}.{NAMESPACE}.svc",
        service["metadata"]["name"].as_str().unwrap()
    );
    let trusting = self::client(&cluster, "armature-webhook-certificate").await;
    let address = ([127, 0, 0, 1], pod.ports().metrics).into();
    let named = trusting.resolve(&name, address).build().unwrap();
    let url = format!("https://{name}:{}/metrics", pod.ports().metrics);
    let answer = named.get(url).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 401);
    // Who says nothing of TLS goes on with what they speak.
    for port in [pod.ports().metrics, pod.ports().webhook] {
        let authority = "armature-webhook-certificate";
        let taken = tls_versions(&cluster, authority, "127.0.0.1", port).await;
        assert_eq!(taken, [true, true]);
    }
    let plain = format!("http://127.0.0.1:{}/metrics", pod.ports().metrics);
    let plain = reqwest::get(plain).await;
    assert!(plain.is_err(), "nothing is served in plain HTTP");
}

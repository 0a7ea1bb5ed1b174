//! What a release takes over, by helm: from Azure Service Operator's, and from its own past.

use k8s_openapi::api::core::v1::{Secret, Service};
use serde_json::{Value, json};

use crate::chart::{NAMESPACE, deployment, find, helm, template};
use crate::cluster::{Cluster, namespace};

const SERVICE: &str = "azureserviceoperator-controller-manager-metrics-service";

/// What Azure Service Operator's chart leaves that has our names.
fn theirs() -> [Value; 3] {
    let metadata = |name: &str| json!({"name": name, "namespace": NAMESPACE});
    [
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": metadata(SERVICE),
            "spec": {
                "ports": [{"name": "metrics", "port": 8443}],
                "selector": {"control-plane": "controller-manager"},
            },
        }),
        json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": metadata("aso-controller-settings"),
            "stringData": {
                "AZURE_SUBSCRIPTION_ID": "before",
                "AZURE_TARGET_NAMESPACES": "team",
                "RATE_LIMIT_MODE": "disabled",
            },
        }),
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": metadata("azureserviceoperator-default"),
        }),
    ]
}

/// Runs helm in the cluster.
async fn run(cluster: &Cluster, arguments: &[&str], settings: &[&str]) -> String {
    run_in(cluster, NAMESPACE, arguments, settings).await
}

/// The same in a namespace.
pub async fn run_in(
    cluster: &Cluster,
    namespace: &str,
    arguments: &[&str],
    settings: &[&str],
) -> String {
    let kubeconfig = cluster.admin_kubeconfig();
    let place = [
        "--namespace",
        namespace,
        "--kubeconfig",
        kubeconfig.to_str().unwrap(),
    ];
    let output = helm(&[arguments, &place].concat(), settings).await;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_of_azure_service_operators_release_serve_ours() {
    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "team"] {
        cluster.apply(&namespace(name)).await;
    }
    for one in theirs() {
        cluster.apply(&one).await;
    }
    let settings = ["azureSubscriptionID=after"];
    let install = ["install", "armature", "--take-ownership"];
    let text = run(&cluster, &install, &settings).await;
    let rendered = cluster.render(&[]).await;
    let labels = &deployment(&rendered)["spec"]["template"]["metadata"]["labels"];
    let service: Service = cluster.api(NAMESPACE).get(SERVICE).await.unwrap();
    let spec = service.spec.unwrap();
    assert_eq!(spec.ports.unwrap()[0].port, 8443);
    for (label, value) in spec.selector.unwrap() {
        assert_eq!(labels[&label], value, "pods have {label}");
    }
    let secret: Secret = cluster
        .api(NAMESPACE)
        .get("aso-controller-settings")
        .await
        .unwrap();
    let data = secret.data.unwrap();
    assert_eq!(data["AZURE_SUBSCRIPTION_ID"].0, b"after");
    // Of what the chart does not write nothing is lost, and rights are for it.
    assert_eq!(data["AZURE_TARGET_NAMESPACES"].0, b"team");
    assert!(
        text.contains("AZURE_TARGET_NAMESPACES=team is in Secret"),
        "{text}"
    );
    let manifest = run(
        &cluster,
        &["upgrade", "armature", "--dry-run=server", "--output=json"],
        &settings,
    )
    .await;
    let release: Value = serde_json::from_str(&manifest).unwrap();
    let manifests: Vec<Value> =
        serde_saphyr::from_multiple(release["manifest"].as_str().unwrap()).unwrap();
    let binding = find(&manifests, "RoleBinding", "armature-objects");
    assert_eq!(binding["metadata"]["namespace"], "team");
    find(&manifests, "Service", SERVICE);
    find(&manifests, "NetworkPolicy", "armature-egress");
}

/// Metrics and traffic of a rendered release: where metrics are, and how many policies there are.
fn habits(manifests: &[Value]) -> (String, usize) {
    let container = &deployment(manifests)["spec"]["template"]["spec"]["containers"][0];
    let mut flags = container["args"].as_array().unwrap().iter();
    let address = flags.find_map(|flag| flag.as_str()?.strip_prefix("--metrics-addr="));
    let policies = manifests
        .iter()
        .filter(|one| one["kind"] == "NetworkPolicy");
    (address.unwrap().to_owned(), policies.count())
}

/// An upgrade changes neither who reads metrics nor what pods reach, until it is asked to.
#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_keeps_metrics_and_traffic_as_they_were() {
    let cluster = Cluster::start().await;
    cluster.apply(&namespace(NAMESPACE)).await;
    let kubeconfig = cluster.admin_kubeconfig();
    let upgrade = async |settings: &[&str]| {
        let cluster = ["--dry-run=server", "--kubeconfig"];
        let more = [
            &cluster[..],
            &[kubeconfig.to_str().unwrap(), "--is-upgrade"],
        ]
        .concat();
        habits(&template("armature", &more, settings).await)
    };
    let new = cluster.render(&[]).await;
    assert_eq!(habits(&new), ("0.0.0.0:8443".to_owned(), 2));
    let before = ("127.0.0.1:8080".to_owned(), 0);
    assert_eq!(upgrade(&[]).await, before, "nothing is known");

    let mut role = find(&new, "Role", "armature").clone();
    let kept = role["metadata"]["annotations"].take();
    cluster.apply(&role).await;
    assert_eq!(upgrade(&[]).await, before, "a release that had neither");
    let rows: [(&[&str], (&str, usize)); 5] = [
        (&["networkPolicy.enabled=true"], ("127.0.0.1:8080", 1)),
        (&["networkPolicies.enable=true"], ("127.0.0.1:8080", 2)),
        (&["metrics.authentication=true"], ("0.0.0.0:8080", 0)),
        (&["metrics.mode=aso"], ("0.0.0.0:8443", 0)),
        // What the values of that release were, which `--reuse-values` takes over.
        (
            &[
                "metrics.mode=null",
                "metrics.port=8080",
                "metrics.authentication=false",
                "networkPolicies=null",
            ],
            ("127.0.0.1:8080", 0),
        ),
    ];
    for (settings, expected) in rows {
        let (address, policies) = upgrade(settings).await;
        assert_eq!((address.as_str(), policies), expected, "{settings:?}");
    }

    role["metadata"]["annotations"] = kept;
    cluster.apply(&role).await;
    assert_eq!(
        upgrade(&[]).await,
        habits(&new),
        "a release that began with them"
    );
    let off = ["metrics.mode=armature", "networkPolicies.enable=false"];
    assert_eq!(upgrade(&off).await, before);
}

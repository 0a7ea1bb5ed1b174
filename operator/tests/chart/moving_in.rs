//! From `armature takeover check` to Ready: an installation of Azure Service Operator as people keep it, with its settings in a Secret
//! of their own, no global credential, and workload identity in the Secrets of namespaces. What the check says of each setting is what
//! the operator does, which the chart runs with the values of the other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use armature_controlplane::waiting::{self, until_ok};
use armature_simulator::{Client, Federation, Query, Settings};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service, ServiceAccount};
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::aso;
use crate::chart::{deployment, find, template};
use crate::cluster::Cluster;
use crate::files::path;
use crate::meanings::THEIRS;
use crate::metrics::{THEIR_SERVICE, bind_in, token_of};
use crate::pod::{Mounted, Pod, Ports};
use crate::takeover::run_in;

/// What the API server calls itself in tokens.
const ISSUER: &str = "https://kubernetes.default.svc";

const ACCOUNT: &str = "azureserviceoperator-default";

/// The identity of the namespace `shop`, which trusts the operator's service account, and one that trusts another account.
const TRUSTING: &str = "00000000-0000-0000-0000-0000000001e1";
const STRANGER: &str = "00000000-0000-0000-0000-0000000001e2";

/// The Secret with the settings, beside where the simulated Azure is.
const SETTINGS: [(&str, &str); 9] = [
    ("AZURE_SUBSCRIPTION_ID", ""),
    ("AZURE_TENANT_ID", ""),
    ("AZURE_CLIENT_ID", ""),
    ("AZURE_TARGET_NAMESPACES", "shop,finance"),
    ("AZURE_SYNC_PERIOD", "15m"),
    ("DEFAULT_RECONCILE_POLICY", "skip"),
    ("MAX_CONCURRENT_RECONCILES", "4"),
    ("RATE_LIMIT_MODE", "disabled"),
    ("AZURE_USER_AGENT_SUFFIX", "shop"),
];

fn namespace(name: &str, policy: Option<&str>) -> Value {
    let annotations =
        policy.map(|policy| json!({"serviceoperator.azure.com/reconcile-policy": policy}));
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "annotations": annotations}})
}

fn secret(namespace: &str, name: &str, keys: &BTreeMap<&str, String>) -> Value {
    let metadata = json!({"name": name, "namespace": namespace});
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": keys})
}

/// Workload identity as Azure Service Operator takes it: three keys.
fn credential(namespace: &str, name: &str, client: &str) -> Value {
    let keys = BTreeMap::from([
        ("AZURE_CLIENT_ID", client.to_owned()),
        ("AZURE_TENANT_ID", Settings::default().tenant),
        (
            "AZURE_SUBSCRIPTION_ID",
            Settings::default().subscriptions[0].clone(),
        ),
    ]);
    secret(namespace, name, &keys)
}

fn group(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "resources.azure.com/v1api20200601",
        "kind": "ResourceGroup",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"location": "westeurope"},
    })
}

/// The Deployment as the chart of that operator has it: every setting from a key of the Secret.
fn their_deployment() -> Value {
    let names = SETTINGS.iter().map(|(name, _)| *name).chain([
        "AZURE_AUTHORITY_HOST",
        "AZURE_RESOURCE_MANAGER_ENDPOINT",
        "AZURE_RESOURCE_MANAGER_AUDIENCE",
    ]);
    let env = names.map(|name| {
        let key = json!({"name": "aso-controller-settings", "key": name, "optional": true});
        json!({"name": name, "valueFrom": {"secretKeyRef": key}})
    });
    let container = json!({
        "name": "manager",
        "image": "mcr.microsoft.com/k8s/azureserviceoperator:v2.20.0",
        "env": env.collect::<Vec<_>>(),
        "args": [
            "--metrics-addr=0.0.0.0:8443", "--secure-metrics=true", "--profiling-metrics=false", "--health-addr=:8081",
            "--enable-leader-election", "--v=2", "--crd-pattern=", "--webhook-port=9443",
            "--webhook-cert-dir=/tmp/k8s-webhook-server/serving-certs",
        ],
        "ports": [{"name": "metrics-port", "containerPort": 8443}],
    });
    json!({"spec": {"template": {"spec": {"containers": [container]}}}})
}

/// Beside what every installation has: settings, credentials, the Service of the metrics.
async fn leave(cluster: &Cluster) {
    let client = &cluster.client;
    for (name, policy) in [
        ("shop", Some("manage")),
        ("finance", None),
        ("elsewhere", None),
    ] {
        cluster.apply(&namespace(name, policy)).await;
    }
    let shapes = aso::shapes().expect("looked for before");
    for (id, body) in aso::RESOURCES.iter().zip(aso::bodies()) {
        cluster.azure.simulator().place(id, body).unwrap();
    }
    aso::leave(client, &shapes, aso::NAMESPACE).await;
    let mut keys: BTreeMap<&str, String> =
        SETTINGS.map(|(key, value)| (key, value.to_owned())).into();
    let endpoint = cluster.azure.endpoint();
    keys.insert("AZURE_AUTHORITY_HOST", endpoint.to_string());
    keys.insert("AZURE_RESOURCE_MANAGER_ENDPOINT", endpoint.to_string());
    keys.insert(
        "AZURE_RESOURCE_MANAGER_AUDIENCE",
        "https://management.azure.com".to_owned(),
    );
    cluster
        .apply(&secret(aso::NAMESPACE, "aso-controller-settings", &keys))
        .await;
    for (namespace, name, client) in [
        ("shop", "aso-credential", TRUSTING),
        ("finance", "aso-credential", STRANGER),
        ("finance", "own", TRUSTING),
    ] {
        cluster.apply(&credential(namespace, name, client)).await;
    }
    let metadata = |name: &str| json!({"name": name, "namespace": aso::NAMESPACE});
    cluster
        .apply(
            &json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata(ACCOUNT)}),
        )
        .await;
    let labels = json!({"control-plane": "controller-manager", "app.kubernetes.io/name": "azure-service-operator"});
    let mut service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": metadata(THEIR_SERVICE),
        "spec": {"ports": [{"name": "metrics", "port": 8443, "targetPort": "metrics-port"}], "selector": {"control-plane": "controller-manager"}},
    });
    service["metadata"]["labels"] = labels;
    cluster.apply(&service).await;
    let deployments: Api<Deployment> = cluster.api(aso::NAMESPACE);
    let patch = Patch::Strategic(their_deployment());
    let how = PatchParams::default();
    let patched = deployments.patch(aso::DEPLOYMENT, &how, &patch);
    patched.await.unwrap();
}

/// The file with a token as the Deployment has it mounted: of its service account, and for whom its volume says.
async fn mount_token(cluster: &Cluster, deployment: &Value) -> PathBuf {
    let pod = &deployment["spec"]["template"]["spec"];
    let account = pod["serviceAccountName"].as_str().unwrap();
    let volumes = pod["volumes"].as_array().unwrap().iter();
    let mut tokens = volumes.filter_map(|volume| {
        let source = &volume["projected"]["sources"][0]["serviceAccountToken"];
        source.is_object().then_some(source)
    });
    let source = tokens.next().expect("the token is in every pod");
    let request = TokenRequest {
        spec: TokenRequestSpec {
            audiences: vec![source["audience"].as_str().unwrap().to_owned()],
            expiration_seconds: source["expirationSeconds"].as_i64(),
            ..TokenRequestSpec::default()
        },
        ..TokenRequest::default()
    };
    let accounts: Api<ServiceAccount> = cluster.api(aso::NAMESPACE);
    let how = PostParams::default();
    let answer = accounts.create_token_request(account, &how, &request);
    let file = cluster.path("azure-identity");
    std::fs::write(&file, answer.await.unwrap().status.unwrap().token).unwrap();
    file
}

/// Makes an identity trust a service account of this cluster, as it names itself and with the keys that it publishes.
async fn trust(cluster: &Cluster, identity: &str, subject: &str) {
    let request = http::Request::get("/openid/v1/jwks").body(Vec::new());
    let keys = cluster.client.request_text(request.unwrap()).await.unwrap();
    cluster.azure.simulator().set_client(Client {
        id: identity.to_owned(),
        federated: vec![Federation::new(ISSUER, subject, &keys)],
        ..Client::default()
    });
}

/// Runs `armature` as a person who has the token file, too; what it prints.
async fn armature(cluster: &Cluster, arguments: &[&str], token: &Path, code: i32) -> String {
    let endpoint = cluster.azure.endpoint();
    let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_armature"))
        .args(arguments)
        .env_clear()
        .env("KUBECONFIG", cluster.admin_kubeconfig())
        .env("ARMATURE_ARM_CA_FILE", cluster.path("azure-ca.pem"))
        .env("AZURE_AUTHORITY_HOST", endpoint)
        .env("AZURE_RESOURCE_MANAGER_ENDPOINT", endpoint)
        .env(
            "AZURE_RESOURCE_MANAGER_AUDIENCE",
            "https://management.azure.com",
        )
        .env("AZURE_FEDERATED_TOKEN_FILE", token)
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    let (shown, errors) = (
        String::from_utf8(output.stdout),
        String::from_utf8(output.stderr),
    );
    let (shown, errors) = (shown.unwrap(), errors.unwrap());
    assert_eq!(
        output.status.code(),
        Some(code),
        "{arguments:?}\n{shown}\n{errors}"
    );
    shown
}

/// Pods that a Service leads to at one of its ports: those that its selector and the port of that name find.
fn targets(service: &Value, deployment: &Value) -> usize {
    let template = &deployment["spec"]["template"];
    let selector = service["spec"]["selector"].as_object().unwrap();
    let is_selected = selector
        .iter()
        .all(|(label, value)| &template["metadata"]["labels"][label] == value);
    let port = &service["spec"]["ports"][0]["targetPort"];
    let containers = template["spec"]["containers"].as_array().unwrap().iter();
    let mut ports = containers
        .filter_map(|one| one["ports"].as_array())
        .flatten();
    match is_selected && ports.any(|one| &one["name"] == port) {
        true => usize::try_from(deployment["spec"]["replicas"].as_u64().unwrap()).unwrap(),
        false => 0,
    }
}

/// Targets of a scrape job as people have it for Azure Service Operator: by the name of its Service, at port 8443.
async fn their_targets(cluster: &Cluster, name: &str) -> usize {
    let service: Service = cluster
        .api(aso::NAMESPACE)
        .get(THEIR_SERVICE)
        .await
        .unwrap();
    let service = serde_json::to_value(service).unwrap();
    assert_eq!(service["spec"]["ports"].as_array().unwrap().len(), 1);
    assert_eq!(service["spec"]["ports"][0]["port"], 8443);
    let deployment: Deployment = cluster.api(aso::NAMESPACE).get(name).await.unwrap();
    targets(&service, &serde_json::to_value(deployment).unwrap())
}

/// Targets of the ServiceMonitor that the chart makes: by labels of the Service and the name of its port.
fn our_targets(manifests: &[Value]) -> usize {
    let monitor = find(manifests, "ServiceMonitor", "armature");
    let labels = monitor["spec"]["selector"]["matchLabels"]
        .as_object()
        .unwrap();
    let endpoint = &monitor["spec"]["endpoints"][0];
    assert_eq!(endpoint["scheme"], "https");
    let services = manifests.iter().filter(|one| {
        let is_found =
            |(label, value): (&String, &Value)| one["metadata"]["labels"][label] == *value;
        one["kind"] == "Service"
            && labels.iter().all(is_found)
            && one["spec"]["ports"][0]["name"] == endpoint["port"]
    });
    services
        .map(|service| targets(service, deployment(manifests)))
        .sum()
}

/// The chart installed with the values of Azure Service Operator: its manifests, as helm has applied them.
async fn install(cluster: &Cluster, values: &Path) -> Vec<Value> {
    let values = values.to_str().unwrap();
    let install = [
        "install",
        "armature",
        "--take-ownership",
        "--output=json",
        "--values",
        values,
    ];
    // The Secret is theirs, as where it comes from a repository.
    let release = run_in(
        cluster,
        aso::NAMESPACE,
        &install,
        &["createAzureOperatorSecret=false"],
    )
    .await;
    let release: Value = serde_json::from_str(&release).unwrap();
    let deployments: Api<Deployment> = cluster.api(aso::NAMESPACE);
    let ready = Patch::Merge(json!({"status": {"replicas": 2, "readyReplicas": 2}}));
    let how = PatchParams::default();
    let patched = deployments.patch_status("armature", &how, &ready);
    patched.await.unwrap();
    serde_saphyr::from_multiple(release["manifest"].as_str().unwrap()).unwrap()
}

/// The operator as its Deployment says, with what the cluster mounts.
async fn start(cluster: &Cluster, manifests: &[Value]) -> Pod {
    let secrets: Api<Secret> = cluster.api(aso::NAMESPACE);
    let secret = secrets.get("aso-controller-settings").await.unwrap();
    let data = secret.data.unwrap_or_default().into_iter();
    let mounted = Mounted {
        secret: data.map(|(key, value)| (key, value.0)).collect(),
        token: mount_token(cluster, deployment(manifests)).await,
        log: cluster.path("log"),
    };
    let ports = Ports::free();
    let url = format!("https://127.0.0.1:{}/convert", ports.webhook);
    cluster
        .run_with(manifests, "armature-0", ports, &url, Some(&mounted))
        .await
}

/// The condition `Ready` of a group, once it is as expected.
async fn condition(
    cluster: &Cluster,
    namespace: &str,
    name: &str,
    expected: impl Fn(&Value) -> bool,
) -> Value {
    let groups = aso::resource(
        &cluster.client,
        "resources.azure.com",
        "v1api20200601",
        "ResourceGroup",
        Some(namespace),
    );
    let mut last = Value::Null;
    waiting::until(
        &format!("{namespace}/{name} to be as expected"),
        async || {
            let found: DynamicObject = groups.get(name).await.unwrap();
            let conditions = found.data["status"]["conditions"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let ready = conditions.into_iter().find(|one| one["type"] == "Ready");
            last = ready.unwrap_or_default();
            expected(&last)
        },
    )
    .await;
    last
}

/// Requests to Azure of this method: who sent each, and for which resource group.
fn sent(cluster: &Cluster, method: &str) -> BTreeSet<(String, String)> {
    let requests = cluster.azure.simulator().requests(&Query::default());
    let of_method = requests
        .into_iter()
        .filter(|one| one.method == method && !one.path.contains("/oauth2/"));
    let group = |path: &str| path.split('/').nth(4).unwrap_or_default().to_owned();
    of_method
        .map(|one| (one.principal, group(&one.path)))
        .collect()
}

/// What the check says becomes of each setting.
fn said(check: &Value) -> BTreeMap<String, String> {
    let settings = check["settings"][0]["settings"].as_array().unwrap().iter();
    let text = |one: &Value| one.as_str().unwrap().to_owned();
    settings
        .map(|one| (text(&one["name"]), text(&one["here"])))
        .collect()
}

/// The operator does with each setting what the check has said of it.
async fn does_what_was_said(cluster: &Cluster, check: &Value) {
    let said = said(check);
    let maps: Api<ConfigMap> = cluster.api(aso::NAMESPACE);
    let counted = maps.get("armature-settings").await.unwrap().data.unwrap();
    let log = std::fs::read_to_string(cluster.path("log")).unwrap();
    for (key, value) in SETTINGS.iter().filter(|(_, value)| !value.is_empty()) {
        let here = said
            .get(*key)
            .unwrap_or_else(|| panic!("{key} is not told: {said:#?}"));
        match here.as_str() {
            _ if here.starts_with("counts") => {
                let mut expected: Vec<&str> = value.split(',').collect();
                expected.sort_unstable();
                assert_eq!(counted[*key], expected.join(","), "{key}: {here}");
            }
            "the default there, as usual here" => {}
            _ if here.starts_with("no meaning here") => {
                assert!(!counted.contains_key(*key), "{key}: {here}");
                assert!(
                    log.contains(&format!("{key} has {}", &here[..16])),
                    "{key} in {log}"
                );
            }
            other => panic!("{key}: {other}"),
        }
    }
    assert!(!log.contains("is no setting"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn from_check_to_ready_without_a_surprise() {
    let (Some(_), Some(values)) = (aso::shapes(), path(THEIRS)) else {
        eprintln!(
            "skipped: there are no CRD shapes and values in ../shared/azure or $ARMATURE_AZURE_DATA"
        );
        return;
    };
    let cluster = Cluster::start().await;
    leave(&cluster).await;
    let before = their_targets(&cluster, aso::DEPLOYMENT).await;
    assert_eq!(before, 2);
    let volume = json!({"projected": {"sources": [{"serviceAccountToken": {"audience": "api://AzureADTokenExchange"}}]}});
    let theirs = json!({"spec": {"template": {"spec": {"serviceAccountName": ACCOUNT, "volumes": [volume]}}}});
    let token = mount_token(&cluster, &theirs).await;

    // Who trusts the account that the check names is trusted afterwards.
    let trusted = format!("system:serviceaccount:{}:{ACCOUNT}", aso::NAMESPACE);
    trust(&cluster, TRUSTING, &trusted).await;
    trust(&cluster, STRANGER, "system:serviceaccount:other:account").await;
    let check = armature(&cluster, &["takeover", "check", "-o", "json"], &token, 0).await;
    let check: Value = serde_json::from_str(&check).unwrap();
    assert_eq!(check["exceptions"], json!([]));
    let account = check["settings"][0]["serviceAccount"].as_str().unwrap();
    assert_eq!(
        format!("system:serviceaccount:{}", account.replace('/', ":")),
        trusted
    );
    let policies: BTreeMap<_, _> = check["objects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["name"].as_str().unwrap(),
                one["policy"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        policies,
        BTreeMap::from([("taken", "manage"), ("takendata", "manage")])
    );

    armature(&cluster, &["takeover", "run", "--yes"], &token, 1).await;
    let manifests = install(&cluster, &values).await;
    let pod = start(&cluster, &manifests).await;
    let over = ["takeover", "run", "--yes", "--timeout", "120"];
    armature(&cluster, &over, &token, 0).await;
    assert_eq!(sent(&cluster, "PUT"), BTreeSet::new());

    for (namespace, name) in [
        ("shop", "new"),
        ("finance", "skipped"),
        ("finance", "refused"),
        ("elsewhere", "untouched"),
    ] {
        let mut group = group(namespace, name);
        match name {
            "skipped" => {
                group["metadata"]["annotations"]["serviceoperator.azure.com/credential-from"] =
                    json!("own")
            }
            "refused" => {
                group["metadata"]["annotations"]["serviceoperator.azure.com/reconcile-policy"] =
                    json!("manage")
            }
            _ => {}
        }
        cluster.apply(&group).await;
    }
    condition(&cluster, "shop", "new", |ready| ready["status"] == "True").await;
    // A subject that the identity does not trust is told, with what to do.
    let told = condition(&cluster, "finance", "refused", |ready| {
        ready["status"] == "False"
    })
    .await;
    let message = told["message"].as_str().unwrap();
    for part in [
        "Secret finance/aso-credential",
        "AADSTS700213",
        trusted.as_str(),
    ] {
        assert!(message.contains(part), "{told}");
    }
    condition(&cluster, "finance", "skipped", |ready| !ready.is_null()).await;
    let written = [(TRUSTING.to_owned(), "new".to_owned())];
    assert_eq!(sent(&cluster, "PUT"), BTreeSet::from(written));
    let untouched = condition(&cluster, "elsewhere", "untouched", |_| true).await;
    let reason = untouched["reason"].as_str().unwrap_or_default();
    assert!(["", "Pending"].contains(&reason), "{untouched}");
    assert!(
        sent(&cluster, "GET")
            .iter()
            .all(|(_, group)| group != "untouched")
    );
    does_what_was_said(&cluster, &check).await;

    let after = their_targets(&cluster, "armature").await;
    let monitored = [
        "metrics.serviceMonitor.enabled=true",
        "createAzureOperatorSecret=false",
    ];
    let arguments = [
        "--namespace",
        aso::NAMESPACE,
        "--values",
        values.to_str().unwrap(),
    ];
    let monitored = template("armature", &arguments, &monitored).await;
    assert_eq!(
        (after, our_targets(&monitored)),
        (before, before),
        "no target is lost"
    );
    is_scraped(&cluster, &pod, &monitored).await;
    assert!(pod.terminate().await.success());
}

/// As jobs for Azure Service Operator scrape it, with a token and without looking at the certificate, and as the ServiceMonitor says.
async fn is_scraped(cluster: &Cluster, pod: &Pod, manifests: &[Value]) {
    let role = find(manifests, "ClusterRole", "armature-metrics-reader");
    let token = token_of(cluster, aso::NAMESPACE, "prometheus").await;
    bind_in(cluster, role, aso::NAMESPACE, "prometheus").await;
    let port = pod.ports().metrics;
    let trusting = reqwest::Client::builder().tls_danger_accept_invalid_certs(true);
    // No Service is before this pod, so the certificate is for the address by which the webhook is reached, and for this name.
    let name = format!("{THEIR_SERVICE}.{}.svc", aso::NAMESPACE);
    let monitor = find(manifests, "ServiceMonitor", "armature");
    let map = &monitor["spec"]["endpoints"][0]["tlsConfig"]["ca"]["configMap"]["name"];
    let maps: Api<ConfigMap> = cluster.api(aso::NAMESPACE);
    let authorities = maps.get(map.as_str().unwrap()).await.unwrap().data.unwrap();
    let authorities = authorities["ca.crt"].as_bytes();
    let authorities = reqwest::Certificate::from_pem_bundle(authorities).unwrap();
    let checking = reqwest::Client::builder().tls_certs_only(authorities);
    let checking = checking.resolve(&name, ([127, 0, 0, 1], port).into());
    for (client, host) in [(trusting, "127.0.0.1"), (checking, name.as_str())] {
        let client = client.build().unwrap();
        let url = format!("https://{host}:{port}/metrics");
        let text = until_ok("the metrics to be read", async || {
            let answer = client.get(&url).bearer_auth(&token).send().await;
            let answer = answer.map_err(|error| format!("{error:?}"))?;
            match answer.status().as_u16() {
                200 => answer.text().await.map_err(|error| error.to_string()),
                status => Err(status.to_string()),
            }
        })
        .await;
        let controller = r#"controller="ResourceGroupController""#;
        assert!(
            text.contains(&format!("controller_runtime_reconcile_total{{{controller}")),
            "{text}"
        );
        assert!(text.contains("azure_successful_requests_total"), "{text}");
    }
}

//! `docs/image-only.md`: the image alone in an installation of Azure Service Operator, and what has to change with it, under roles as its
//! chart makes them.

use std::collections::BTreeSet;

use armature_controlplane::waiting::until_ok;
use armature_simulator::{Client, Query, Settings};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::Api;
use serde_json::{Value, json};

use super::page::blocks;
use super::stage::{OPERATOR, SUBSCRIPTION, Stage};
use crate::aso;
use crate::chart::add_argument;
use crate::metrics::token_of;
use crate::pod::{Pod, Ports};
use crate::rights::used;

const PAGE: &str = "image-only.md";
const ACCOUNT: &str = "azureserviceoperator-default";

/// The roles of its chart, for the kinds of this test, and the pods' Service for metrics.
const THEIRS: &str = "kubectl apply -f - <<'EOF'
apiVersion: v1
kind: ServiceAccount
metadata: {name: azureserviceoperator-default, namespace: azureserviceoperator-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: azureserviceoperator-manager-role}
rules:
- {apiGroups: [resources.azure.com], resources: [resourcegroups], verbs: [create, delete, get, list, patch, update, watch]}
- {apiGroups: [resources.azure.com], resources: [resourcegroups/finalizers, resourcegroups/status], verbs: [get, patch, update]}
- {apiGroups: [storage.azure.com], resources: [storageaccounts], verbs: [create, delete, get, list, patch, update, watch]}
- {apiGroups: [storage.azure.com], resources: [storageaccounts/finalizers, storageaccounts/status], verbs: [get, patch, update]}
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create, delete, get, list, patch, update, watch]}
- {apiGroups: [''], resources: [events], verbs: [create, get, list, patch, update, watch]}
- {apiGroups: [''], resources: [secrets, configmaps], verbs: [create, delete, get, list, patch, update, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: azureserviceoperator-crd-manager-role}
rules:
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [create, get, list, patch, update, watch]}
- {apiGroups: [authentication.k8s.io], resources: [tokenreviews], verbs: [create]}
- {apiGroups: [authorization.k8s.io], resources: [subjectaccessreviews], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: azureserviceoperator-metrics-reader}
rules:
- {nonResourceURLs: [/metrics], verbs: [get]}
EOF
for role in manager crd-manager; do
  kubectl create clusterrolebinding azureserviceoperator-$role --clusterrole azureserviceoperator-$role-role \\
    --serviceaccount azureserviceoperator-system:azureserviceoperator-default
done
kubectl create clusterrolebinding prometheus --clusterrole azureserviceoperator-metrics-reader \\
  --serviceaccount azureserviceoperator-system:prometheus";

/// What the Deployment takes from keys of the Secret.
fn settings(stage: &Stage) -> Vec<(&'static str, String)> {
    let endpoint = stage.cluster.azure.endpoint();
    vec![
        ("AZURE_SUBSCRIPTION_ID", SUBSCRIPTION.to_owned()),
        ("AZURE_TENANT_ID", Settings::default().tenant),
        ("AZURE_CLIENT_ID", OPERATOR.to_owned()),
        ("AZURE_CLIENT_SECRET", "of the operator".to_owned()),
        ("AZURE_AUTHORITY_HOST", endpoint.to_string()),
        ("AZURE_RESOURCE_MANAGER_ENDPOINT", endpoint.to_string()),
        (
            "AZURE_RESOURCE_MANAGER_AUDIENCE",
            "https://management.azure.com".to_owned(),
        ),
        ("AZURE_SYNC_PERIOD", "1h".to_owned()),
        ("MAX_CONCURRENT_RECONCILES", "4".to_owned()),
        ("RATE_LIMIT_MODE", "disabled".to_owned()),
    ]
}

/// The container of its Deployment, with the arguments that the page shows.
fn container(stage: &Stage) -> Value {
    let script = blocks(PAGE).remove(0).script;
    let arguments: Vec<&str> = script.split_whitespace().skip(1).collect();
    let names = settings(stage).into_iter().map(|(name, _)| name);
    let from_secret = names.map(|name| {
        let key = json!({"name": "aso-controller-settings", "key": name, "optional": true});
        json!({"name": name, "valueFrom": {"secretKeyRef": key}})
    });
    let namespace = json!({"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}});
    json!({
        "name": "manager", "image": "mcr.microsoft.com/k8s/azureserviceoperator:v2.20.0", "args": arguments,
        "env": from_secret.chain([namespace]).collect::<Vec<_>>(),
        "ports": [{"name": "webhook-server", "containerPort": 9443}, {"name": "health-port", "containerPort": 8081}, {"name": "metrics-port", "containerPort": 8443}],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": 8081}},
        "volumeMounts": [{"name": "cert", "mountPath": "/tmp/k8s-webhook-server/serving-certs", "readOnly": true}],
    })
}

/// An installation of Azure Service Operator; nothing where its shapes are not on this machine.
async fn installation() -> Option<Stage> {
    let Some(shapes) = aso::shapes() else {
        eprintln!("skipped: there are no CRD shapes in ../shared/azure or $ARMATURE_AZURE_DATA");
        return None;
    };
    let stage = Stage::open(PAGE).await;
    stage.azure().set_client(Client {
        id: OPERATOR.to_owned(),
        secret: Some("of the operator".to_owned()),
        ..Client::default()
    });
    for (id, body) in aso::RESOURCES.iter().zip(aso::bodies()) {
        stage.azure().place(id, body).unwrap();
    }
    stage.prepare("kubectl create namespace shop").await;
    aso::leave(&stage.cluster.client, &shapes, aso::NAMESPACE).await;
    stage.prepare(THEIRS).await;
    let patch = json!({"spec": {"template": {"spec": {
        "terminationGracePeriodSeconds": 10,
        "containers": [container(&stage)],
        "volumes": [{"name": "cert", "secret": {"secretName": "webhook-server-cert"}}],
    }}}});
    stage.append("theirs.json", &patch.to_string());
    let (namespace, name) = (aso::NAMESPACE, aso::DEPLOYMENT);
    stage
        .prepare(&format!(
            "kubectl -n {namespace} patch deployment {name} --patch-file theirs.json"
        ))
        .await;
    Some(stage)
}

/// Everything that could have been touched, with versions; objects as they are stored, since nobody converts them.
async fn state(stage: &Stage) -> String {
    let stored = aso::KINDS.map(|(name, group, _)| {
        let kind = aso::kind(group, name).unwrap();
        format!("{}.{}.{group}", kind.plural, kind.hub.storage_version)
    });
    let shown =
        "{range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion}{\"\\n\"}{end}";
    stage
        .prepare(&format!(
            "kubectl get crd,{} --all-namespaces --output jsonpath='{shown}'\n\
             kubectl get secrets,configmaps,leases --namespace {} --output jsonpath='{shown}'",
            stored.join(","),
            aso::NAMESPACE
        ))
        .await
}

/// The Deployment as it is now, and the Secret that it takes variables from.
async fn manifests(stage: &Stage) -> Vec<Value> {
    let deployments: Api<Deployment> = stage.cluster.api(aso::NAMESPACE);
    let deployment = deployments.get(aso::DEPLOYMENT).await.unwrap();
    let mut deployment = serde_json::to_value(deployment).unwrap();
    deployment["kind"] = json!("Deployment");
    let data: serde_json::Map<String, Value> = settings(stage)
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value.into()))
        .collect();
    let secret = json!({"kind": "Secret", "metadata": {"name": "aso-controller-settings"}, "stringData": data});
    vec![deployment, secret]
}

async fn start(stage: &Stage) -> Pod {
    let mut manifests = manifests(stage).await;
    // Sooner than after half a minute.
    add_argument(&mut manifests, "--storage-migration-delay=1s");
    let ports = Ports::free();
    let url = format!("https://127.0.0.1:{}/convert", ports.webhook);
    stage
        .cluster
        .run_at(&manifests, "controller-manager-0", ports, &url)
        .await
}

fn sent(stage: &Stage, method: &str) -> BTreeSet<String> {
    let requests = stage.azure().requests(&Query::default());
    let of_method = requests
        .into_iter()
        .filter(|one| one.method == method && !one.path.contains("/oauth2/"));
    of_method.map(|one| one.path).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_image_alone_ends_at_once_and_with_its_arguments_and_three_rights_it_works() {
    let Some(mut stage) = installation().await else {
        return;
    };
    let before = state(&stage).await;
    stage.run("image").await;
    assert_eq!(state(&stage).await, before, "nothing was written");
    assert_eq!(sent(&stage, "GET"), BTreeSet::new(), "nothing was asked");

    stage.run("stop").await;
    stage.run("webhooks").await;
    stage.run("rights").await;
    stage.run("patch").await;
    // Stored once at a version that Azure Service Operator has left behind.
    stage
        .prepare(
            "kubectl patch crd resourcegroups.resources.azure.com --subresource status --type json \
             -p '[{\"op\":\"add\",\"path\":\"/status/storedVersions/0\",\"value\":\"v1api20200601\"}]'",
        )
        .await;
    let pod = start(&stage).await;
    stage
        .until("kubectl get crd resourcegroups.resources.azure.com --output jsonpath='{.status.storedVersions}' | grep -v '\"v1api20200601\"'")
        .await;
    stage
        .prepare(
            "kubectl -n shop annotate resourcegroup taken armature.azure.com/reconcile-now=1\n\
             kubectl -n shop wait --for=condition=ReconcileNow --timeout=120s resourcegroup/taken\n\
             kubectl -n shop wait --for=condition=Ready --timeout=120s resourcegroup/taken storageaccount/takendata",
        )
        .await;
    assert_eq!(sent(&stage, "PUT"), BTreeSet::new());
    stage
        .prepare(
            "printf 'apiVersion: resources.azure.com/v1api20200601\\nkind: ResourceGroup\\nmetadata: {name: new, namespace: shop}\\n\
             spec: {location: westeurope}\\n' | kubectl apply -f -\n\
             kubectl -n shop wait --for=condition=Ready --timeout=120s resourcegroup/new",
        )
        .await;
    assert_eq!(sent(&stage, "PUT").len(), 1);
    stage
        .until("kubectl -n shop get events --output name | grep .")
        .await;
    serves_what_probes_and_jobs_ask(&stage, &pod).await;
    counts_variables(&stage).await;
    assert!(pod.terminate().await.success());
    rights_are_enough_and_needed(&stage);
    stage.run("back").await;
    stage.finish();
}

/// As the Deployment's probes and scrape jobs for Azure Service Operator ask.
async fn serves_what_probes_and_jobs_ask(stage: &Stage, pod: &Pod) {
    let Ports {
        health, metrics, ..
    } = pod.ports();
    for path in ["healthz", "readyz"] {
        let answer = reqwest::get(format!("http://127.0.0.1:{health}/{path}")).await;
        assert_eq!(answer.unwrap().status(), 200, "{path}");
    }
    let token = token_of(&stage.cluster, aso::NAMESPACE, "prometheus").await;
    let client = reqwest::Client::builder().tls_danger_accept_invalid_certs(true);
    let client = client.build().unwrap();
    let text = until_ok("the metrics to be read", async || {
        let url = format!("https://127.0.0.1:{metrics}/metrics");
        let answer = client.get(url).bearer_auth(&token).send().await;
        let answer = answer.map_err(|error| format!("{error:?}"))?;
        match answer.status().as_u16() {
            200 => answer.text().await.map_err(|error| error.to_string()),
            status => Err(status.to_string()),
        }
    })
    .await;
    assert!(text.contains("azure_successful_requests_total"), "{text}");
}

/// Variables count as said, also what that chart writes where nobody chose anything.
async fn counts_variables(stage: &Stage) {
    let maps: Api<ConfigMap> = stage.cluster.api(aso::NAMESPACE);
    let counted = maps.get("armature-settings").await.unwrap().data.unwrap();
    assert_eq!(counted["AZURE_SYNC_PERIOD"], "1h");
    assert_eq!(counted["MAX_CONCURRENT_RECONCILES"], "4");
}

/// The API server refused nothing, and each right of the page was used.
fn rights_are_enough_and_needed(stage: &Stage) {
    let user = format!("system:serviceaccount:{}:{ACCOUNT}", aso::NAMESPACE);
    let used = used(&stage.cluster.path("audit"), &user);
    assert_eq!(used.refused, Vec::<String>::new());
    for (group, resource, verb) in [
        ("", "namespaces", "list"),
        ("", "namespaces", "watch"),
        ("events.k8s.io", "events", "create"),
        (
            "apiextensions.k8s.io",
            "customresourcedefinitions/status",
            "patch",
        ),
    ] {
        let right = (group.to_owned(), resource.to_owned(), verb.to_owned());
        assert!(used.rights.contains(&right), "{right:?}: {used:#?}");
    }
}

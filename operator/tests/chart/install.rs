//! The chart installed: its manifests are accepted, and the operator runs with the rights that they give, using each.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use armature_controlplane::{ControlPlane, Options};
use armature_simulator::{OperationRule, Running, Settings, Simulator};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Secret};
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::config::Kubeconfig;
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::chart::{NAMESPACE, find, manifests};
use crate::pod::{Pod, Ports, Surroundings};
use crate::rights::{AUDIT_POLICY, Right, given, used};

/// Longest wait for anything. Generous: machines that run tests are busy.
const LIMIT: Duration = Duration::from_secs(90);
const ACCOUNT: &str = "azureserviceoperator-default";
const CREDENTIAL: [&str; 3] = [
    "azureSubscriptionID=00000000-0000-0000-0000-000000000001",
    "azureClientID=00000000-0000-0000-0000-00000000000a",
    "azureClientSecret=a secret of the tests",
];

/// Two objects that read and write Secrets and ConfigMaps.
const OBJECTS: &str = "
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

/// Where the chart is installed.
struct Cluster {
    plane: ControlPlane,
    azure: Running,
    client: kube::Client,
    folder: TempDir,
}

impl Cluster {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let policy = folder.path().join("policy.yaml");
        std::fs::write(&policy, AUDIT_POLICY).unwrap();
        let flags = vec![
            format!("--audit-policy-file={}", policy.display()),
            format!("--audit-log-path={}", folder.path().join("audit").display()),
        ];
        let options = Options {
            apiserver_flags: flags,
            ..Options::default()
        };
        let plane = ControlPlane::start(options).await.unwrap();
        let options = armature_simulator::Options::new(armature_generated::KINDS);
        let azure = Simulator::start(options).await.unwrap();
        let rule = OperationRule::default();
        azure.simulator().set_operation_rule(None, rule);
        std::fs::write(folder.path().join("azure-ca.pem"), azure.ca_pem()).unwrap();
        let client = plane.client().await.unwrap();
        let cluster = Self {
            plane,
            azure,
            client,
            folder,
        };
        cluster.write_kubeconfig();
        cluster
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// The administrator's kubeconfig, acting as the operator's service account.
    fn write_kubeconfig(&self) {
        let mut config = Kubeconfig::read_from(self.plane.kubeconfig()).unwrap();
        let user = config.auth_infos[0].auth_info.as_mut().unwrap();
        user.impersonate = Some(account());
        user.impersonate_groups = Some(vec![
            "system:serviceaccounts".to_owned(),
            format!("system:serviceaccounts:{NAMESPACE}"),
            "system:authenticated".to_owned(),
        ]);
        let text = serde_saphyr::to_string(&config).unwrap();
        std::fs::write(self.path("kubeconfig"), text).unwrap();
    }

    /// Settings with which the chart's operator finds the simulated Azure.
    fn settings(&self) -> Vec<String> {
        let endpoint = self.azure.endpoint();
        let mut settings: Vec<String> = CREDENTIAL.map(str::to_owned).into();
        settings.extend([
            format!("azureTenantID={}", Settings::default().tenant),
            format!("azureAuthorityHost={endpoint}"),
            format!("azureResourceManagerEndpoint={endpoint}"),
            "azureResourceManagerAudience=https://management.azure.com".to_owned(),
            "crdPattern=resources.azure.com/*;managedidentity.azure.com/*".to_owned(),
            // Nothing listens there: that costs no work.
            "tracing.otlpEndpoint=http://127.0.0.1:1".to_owned(),
        ]);
        settings
    }

    async fn render(&self, more: &[&str]) -> Vec<Value> {
        let settings = self.settings();
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        manifests(&[settings.as_slice(), more].concat()).await
    }

    async fn apply(&self, manifest: &Value) {
        self.request(manifest, &PatchParams::apply("helm").force())
            .await
            .unwrap_or_else(|error| panic!("{error}: {manifest:#}"));
    }

    async fn request(&self, manifest: &Value, how: &PatchParams) -> kube::Result<DynamicObject> {
        let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str);
        let (version, kind) = (text("/apiVersion").unwrap(), text("/kind").unwrap());
        let (group, version) = version.split_once('/').unwrap_or(("", version));
        let kind = GroupVersionKind::gvk(group, version, kind);
        let resource = match kind.kind.as_str() {
            "NetworkPolicy" => ApiResource::from_gvk_with_plural(&kind, "networkpolicies"),
            "UserAssignedIdentity" => {
                ApiResource::from_gvk_with_plural(&kind, "userassignedidentities")
            }
            _ => ApiResource::from_gvk(&kind),
        };
        let api: Api<DynamicObject> = match text("/metadata/namespace") {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &resource),
            None => Api::all_with(self.client.clone(), &resource),
        };
        let name = text("/metadata/name").unwrap();
        api.patch(name, how, &Patch::Apply(manifest)).await
    }

    async fn run(&self, manifests: &[Value], pod: &str, webhook_host: &str) -> Pod {
        let surroundings = Surroundings {
            kubeconfig: &self.path("kubeconfig"),
            azure_ca: &self.path("azure-ca.pem"),
            webhook_host,
            ports: Ports {
                webhook: free_port(),
                health: free_port(),
            },
        };
        let mut pod = Pod::start(manifests, pod, &surroundings);
        pod.wait_ready(LIMIT).await;
        pod
    }

    fn api<K>(&self, namespace: &str) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), namespace)
    }

    async fn holder(&self) -> String {
        let name = "controllers-leader-election-azinfra-generated";
        let lease: Lease = self.api(NAMESPACE).get(name).await.unwrap();
        lease.spec.unwrap().holder_identity.unwrap_or_default()
    }

    async fn certificate(&self) -> Secret {
        let name = "armature-webhook-certificate";
        self.api(NAMESPACE).get(name).await.unwrap()
    }

    /// Waits until objects of the namespace `team` are as expected.
    async fn until(&self, what: &str, mut holds: impl AsyncFnMut(&Self) -> bool) {
        let started = Instant::now();
        while !holds(self).await {
            assert!(started.elapsed() < LIMIT, "not within {LIMIT:?}: {what}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// The user that the service account is to the API server.
fn account() -> String {
    format!("system:serviceaccount:{NAMESPACE}:{ACCOUNT}")
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {
        "pod-security.kubernetes.io/enforce": "restricted",
    }}})
}

/// A pod as the Deployment would make it.
fn pod_of(manifests: &[Value]) -> Value {
    let template = &find(manifests, "Deployment", "armature")["spec"]["template"];
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
            "networkPolicy.enabled=true",
            "useWorkloadIdentityAuth=true",
            "metrics.enable=false",
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

async fn works(cluster: &Cluster) {
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
    change_again(cluster, &objects[0], 2).await;
}

/// Changes an object: what happens again is counted on the event that tells of it.
async fn change_again(cluster: &Cluster, object: &Value, count: i32) {
    let mut object = object.clone();
    object["spec"]["tags"] = json!({"change": count.to_string()});
    cluster.apply(&object).await;
    cluster
        .until("an event counts one more", async |cluster| {
            let events = cluster.api::<Event>("team").list(&Default::default()).await;
            let mut events = events.unwrap().items.into_iter();
            events.any(|event| event.count == Some(count))
        })
        .await;
}

/// A second operator, limited to one namespace.
async fn works_in_one_namespace(cluster: &Cluster) {
    let limited = cluster.render(&["azureTargetNamespaces={team}"]).await;
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

    // This process has not seen the event that it counts.
    let objects: Vec<Value> = serde_saphyr::from_multiple(OBJECTS).unwrap();
    change_again(cluster, &objects[0], 3).await;

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
    let (status, took) = pod.terminate().await;
    assert!(status.success(), "{status}");
    assert!(took < Duration::from_secs(20), "{took:?}");
}

/// Rights that the chart gives and nothing used.
fn idle(manifests: &[Value], audit: &Path) -> Vec<Right> {
    let used = used(audit, &account());
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
    let manifests = cluster.render(&[]).await;
    accepts_the_chart(&cluster, &manifests).await;

    let pod = cluster.run(&manifests, "armature-0", "127.0.0.1").await;
    works(&cluster).await;
    assert!(cluster.holder().await.starts_with("armature-0"));
    let (status, took) = pod.terminate().await;
    assert!(status.success(), "{status}");
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert_eq!(cluster.holder().await, "", "the Lease is given back");

    works_in_one_namespace(&cluster).await;
    assert_eq!(idle(&manifests, &cluster.path("audit")), []);
}

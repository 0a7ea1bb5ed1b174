//! Where the chart is installed: a control plane that logs requests, and a simulated Azure.

use std::path::PathBuf;

use armature_controlplane::waiting::{self, until_ok};
use armature_controlplane::{ControlPlane, Options};
use armature_simulator::{OperationRule, Running, Settings, Simulator};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::config::Kubeconfig;
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::chart::{NAMESPACE, deployment, namespace_of, release};
use crate::install::OBJECTS;
use crate::pod::{Mounted, Pod, Ports, Surroundings};
use crate::rights::AUDIT_POLICY;

/// The operator's service account, unless the chart is told otherwise.
pub const ACCOUNT: &str = "azureserviceoperator-default";
const CREDENTIAL: [&str; 3] = [
    "azureSubscriptionID=00000000-0000-0000-0000-000000000001",
    "azureClientID=00000000-0000-0000-0000-00000000000a",
    "azureClientSecret=a secret of the tests",
];

/// Where the chart is installed.
pub struct Cluster {
    pub plane: ControlPlane,
    pub azure: Running,
    pub client: kube::Client,
    folder: TempDir,
}

impl Cluster {
    pub async fn start() -> Self {
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
        Self {
            plane,
            azure,
            client,
            folder,
        }
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// The administrator's kubeconfig.
    pub fn admin_kubeconfig(&self) -> PathBuf {
        self.plane.kubeconfig().to_owned()
    }

    /// The administrator's kubeconfig, acting as the service account of a Deployment.
    fn kubeconfig(&self, deployment: &Value) -> PathBuf {
        let name = &deployment["spec"]["template"]["spec"]["serviceAccountName"];
        let name = name.as_str().unwrap();
        let mut config = Kubeconfig::read_from(self.plane.kubeconfig()).unwrap();
        let user = config.auth_infos[0].auth_info.as_mut().unwrap();
        let namespace = namespace_of(deployment);
        user.impersonate = Some(format!("system:serviceaccount:{namespace}:{name}"));
        user.impersonate_groups = Some(vec![
            "system:serviceaccounts".to_owned(),
            format!("system:serviceaccounts:{namespace}"),
            "system:authenticated".to_owned(),
        ]);
        let text = serde_saphyr::to_string(&config).unwrap();
        let path = self.path(&format!("kubeconfig-{namespace}-{name}"));
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A client that acts as the service account of a Deployment.
    pub async fn client_of(&self, deployment: &Value) -> kube::Client {
        let kubeconfig = Kubeconfig::read_from(self.kubeconfig(deployment)).unwrap();
        let options = Default::default();
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options);
        kube::Client::try_from(config.await.unwrap()).unwrap()
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
            // Tests store what the other versions refuse, as earlier releases let everybody.
            "storageVersionWriters={armature-admin,tenant-of-team,tenant-of-other}".to_owned(),
            // Nothing listens there: that costs no work.
            "tracing.otlpEndpoint=http://127.0.0.1:1".to_owned(),
        ]);
        settings
    }

    pub async fn render(&self, more: &[&str]) -> Vec<Value> {
        self.render_release("armature", more).await
    }

    pub async fn render_release(&self, name: &str, more: &[&str]) -> Vec<Value> {
        let settings = self.settings();
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        release(name, &[settings.as_slice(), more].concat()).await
    }

    /// Makes the namespaces and installs what the chart renders to; returns that.
    pub async fn install(&self, namespaces: &[&str]) -> Vec<Value> {
        for name in namespaces {
            self.apply(&namespace(name)).await;
        }
        let manifests = self.render(&[]).await;
        for manifest in &manifests {
            self.apply(manifest).await;
        }
        manifests
    }

    pub async fn apply(&self, manifest: &Value) {
        self.request(manifest, &PatchParams::apply("helm").force())
            .await
            .unwrap_or_else(|error| panic!("{error}: {manifest:#}"));
    }

    pub async fn request(
        &self,
        manifest: &Value,
        how: &PatchParams,
    ) -> kube::Result<DynamicObject> {
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

    /// A pod that the API server reaches by itself.
    pub async fn run(&self, manifests: &[Value], pod: &str, webhook_host: &str) -> Pod {
        let ports = Ports::free();
        let url = format!("https://{webhook_host}:{}/convert", ports.webhook);
        let pod = self.run_at(manifests, pod, ports, &url).await;
        self.until_served().await;
        pod
    }

    /// Waits until the API server has seen the CRDs as the pod left them: it serves what is new, and converts at the new
    /// URL, a moment after it has answered that they are written. (In a cluster the URL is that of a Service and stays.)
    async fn until_served(&self) {
        let check = PatchParams {
            dry_run: true,
            ..PatchParams::apply("helm").force()
        };
        let objects: Vec<Value> = serde_saphyr::from_multiple(OBJECTS).unwrap();
        for mut object in objects {
            object["metadata"]["namespace"] = "default".into();
            until_ok("the CRDs to be served as the pod left them", async || {
                self.request(&object, &check).await
            })
            .await;
        }
    }

    /// A pod that listens on these ports, and whose webhook the API server reaches at this URL.
    pub async fn run_at(&self, manifests: &[Value], pod: &str, ports: Ports, url: &str) -> Pod {
        self.run_with(manifests, pod, ports, url, None).await
    }

    /// The same with what the cluster puts into it.
    pub async fn run_with(
        &self,
        manifests: &[Value],
        pod: &str,
        ports: Ports,
        url: &str,
        mounted: Option<&Mounted>,
    ) -> Pod {
        let surroundings = Surroundings {
            kubeconfig: &self.kubeconfig(deployment(manifests)),
            azure_ca: &self.path("azure-ca.pem"),
            webhook_url: url,
            ports,
            mounted,
        };
        let mut pod = Pod::start(manifests, pod, &surroundings);
        pod.wait_ready().await;
        pod
    }

    pub fn api<K>(&self, namespace: &str) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), namespace)
    }

    pub async fn holder(&self) -> String {
        let name = "controllers-leader-election-azinfra-generated";
        let lease: Lease = self.api(NAMESPACE).get(name).await.unwrap();
        lease.spec.unwrap().holder_identity.unwrap_or_default()
    }

    pub async fn certificate(&self) -> Secret {
        let name = "armature-webhook-certificate";
        self.api(NAMESPACE).get(name).await.unwrap()
    }

    /// Waits until objects of the namespace `team` are as expected.
    pub async fn until(&self, what: &str, mut holds: impl AsyncFnMut(&Self) -> bool) {
        waiting::until(what, async || holds(self).await).await;
    }
}

/// The user that a service account of [`NAMESPACE`] is to the API server.
pub fn account(name: &str) -> String {
    format!("system:serviceaccount:{NAMESPACE}:{name}")
}

pub fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {
        "pod-security.kubernetes.io/enforce": "restricted",
    }}})
}

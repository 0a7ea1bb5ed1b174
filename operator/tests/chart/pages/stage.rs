//! Where a page is run: a shell with helm, kubectl and `armature`, an API server, the operator as the release says, and Azure.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use armature_controlplane::waiting::until_ok;
use armature_controlplane::{locate_or_build_helm, locate_or_build_kubectl};
use armature_progress::Progress;
use armature_simulator::{Client, Federation, Settings, Simulator};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::{Api, PostParams};
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use super::page::{Block, assert_shown, blocks};
use crate::chart::{NAMESPACE, deployment};
use crate::cluster::{ACCOUNT, Cluster};
use crate::pod::{Pod, Ports};

pub const SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000001";
/// The identity of the operator, which proves itself with a token of its service account.
pub const OPERATOR: &str = "00000000-0000-0000-0000-00000000000a";
/// Who is at the shell.
const PERSON: (&str, &str) = ("00000000-0000-0000-0000-00000000000e", "of a person");
/// What the API server calls itself in tokens.
const ISSUER: &str = "https://kubernetes.default.svc";
const AUDIENCE: &str = "api://AzureADTokenExchange";

/// A page that is run.
pub struct Stage {
    page: &'static str,
    blocks: std::vec::IntoIter<Block>,
    pub cluster: Cluster,
    folder: TempDir,
    pod: Option<Pod>,
}

impl Stage {
    /// Opens a page before a cluster without anything. What only Azure's part of the page would set is set.
    pub async fn open(page: &'static str) -> Self {
        let cluster = Cluster::start().await;
        let folder = tempfile::tempdir().unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for part in ["deploy", "samples"] {
            symlink(root.join(part), folder.path().join(part)).unwrap();
        }
        let programs = folder.path().join("bin");
        std::fs::create_dir(&programs).unwrap();
        let progress = Progress::default();
        for (name, program) in [
            ("helm", locate_or_build_helm(&progress).await.unwrap()),
            ("kubectl", locate_or_build_kubectl(&progress).await.unwrap()),
            ("armature", env!("CARGO_BIN_EXE_armature").into()),
        ] {
            // One that is found in PATH stays there.
            if program.is_absolute() {
                symlink(program, programs.join(name)).unwrap();
            }
        }
        let azure = cluster.azure.simulator();
        azure.set_client(Client {
            id: PERSON.0.to_owned(),
            secret: Some(PERSON.1.to_owned()),
            ..Client::default()
        });
        Self {
            page,
            blocks: blocks(page).into_iter(),
            cluster,
            folder,
            pod: None,
        }
    }

    pub fn azure(&self) -> &Simulator {
        self.cluster.azure.simulator()
    }

    /// Ids of what is in Azure, without the services that come with every storage account.
    pub fn resources(&self) -> Vec<String> {
        let ids = self.azure().ids().into_iter();
        ids.filter(|id| !id.ends_with("Services/default")).collect()
    }

    /// Runs the next block, which must have this name, and holds what it prints to what the page shows.
    pub async fn run(&mut self, name: &str) -> String {
        let block = self.blocks.next();
        let block = block.unwrap_or_else(|| panic!("{} has no block `{name}`", self.page));
        assert_eq!(
            block.name, name,
            "{} has its blocks in this order",
            self.page
        );
        let (printed, succeeded) = self.shell(&block.script).await;
        println!("-- {name}\n{printed}");
        assert_eq!(
            !succeeded, block.is_refused,
            "`{name}` of {}: {printed}",
            self.page
        );
        assert_shown(self.page, &block, &printed);
        printed
    }

    /// Passes over the next block, which is another way.
    pub fn skip(&mut self, name: &str) {
        let block = self.blocks.next().map(|block| block.name);
        assert_eq!(
            block.as_deref(),
            Some(name),
            "{} has its blocks in this order",
            self.page
        );
    }

    /// The page has no further block.
    pub fn finish(mut self) {
        let next = self.blocks.next();
        assert!(next.is_none(), "{} has more: {next:?}", self.page);
    }

    /// Runs lines that are not on the page.
    pub async fn prepare(&self, script: &str) -> String {
        let (printed, succeeded) = self.shell(script).await;
        assert!(succeeded, "{script}: {printed}");
        printed
    }

    /// Runs lines until they succeed.
    pub async fn until(&self, script: &str) {
        until_ok(script, async || match self.shell(script).await {
            (_, true) => Ok(()),
            (printed, false) => Err(printed),
        })
        .await;
    }

    /// What lines print, errors among it, and whether they succeed. Variables and files stay for those that come next.
    async fn shell(&self, script: &str) -> (String, bool) {
        let folder = self.folder.path();
        let path = std::env::var("PATH").unwrap();
        let script = format!(
            "exec 2>&1; set -eu -o pipefail; touch variables; . ./variables\n{script}\nexport -p > variables"
        );
        let endpoint = self.cluster.azure.endpoint();
        let output = Command::new("bash")
            .args(["-c", &script])
            .current_dir(folder)
            .env_clear()
            .env("HOME", folder)
            .env("PATH", format!("{}:{path}", folder.join("bin").display()))
            .env("KUBECONFIG", self.cluster.admin_kubeconfig())
            .env("ARMATURE_ARM_CA_FILE", self.cluster.path("azure-ca.pem"))
            .env("AZURE_SUBSCRIPTION_ID", SUBSCRIPTION)
            .env("AZURE_TENANT_ID", Settings::default().tenant)
            .env("AZURE_CLIENT_ID", PERSON.0)
            .env("AZURE_CLIENT_SECRET", PERSON.1)
            .env("AZURE_AUTHORITY_HOST", endpoint)
            .env("AZURE_RESOURCE_MANAGER_ENDPOINT", endpoint)
            .env(
                "AZURE_RESOURCE_MANAGER_AUDIENCE",
                "https://management.azure.com",
            )
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        (printed, output.status.success())
    }

    /// Where the release finds the simulated Azure, for the end of a file of values.
    pub fn azure_values(&self) -> String {
        let endpoint = self.cluster.azure.endpoint();
        format!(
            "azureAuthorityHost: {endpoint}\nazureResourceManagerEndpoint: {endpoint}\n\
             azureResourceManagerAudience: https://management.azure.com\n"
        )
    }

    /// Adds to a file in the folder of the shell.
    pub fn append(&self, file: &str, text: &str) {
        let path = self.folder.path().join(file);
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(path, before + text).unwrap();
    }

    /// The values with which tutorials find an operator, which is installed and started with them.
    pub async fn with_operator(page: &'static str, groups: &str) -> Self {
        let mut stage = Self::open(page).await;
        let values = format!(
            "crdPattern: {groups}\nazureSubscriptionID: {SUBSCRIPTION}\nazureTenantID: {}\nazureClientID: {OPERATOR}\n\
             useWorkloadIdentityAuth: true\n{}",
            Settings::default().tenant,
            stage.azure_values()
        );
        stage.append("values.yaml", &values);
        let install = format!(
            "helm install armature deploy/chart --namespace {NAMESPACE} --create-namespace --values values.yaml"
        );
        stage.prepare(&install).await;
        let subject = format!("system:serviceaccount:{NAMESPACE}:{ACCOUNT}");
        stage.trust(&subject).await;
        stage.start_operator().await;
        stage
    }

    /// Has Azure trust a subject of this cluster, as a federated credential does.
    pub async fn trust(&self, subject: &str) {
        let request = http::Request::get("/openid/v1/jwks").body(Vec::new());
        let keys = self.cluster.client.request_text(request.unwrap()).await;
        self.azure().set_client(Client {
            id: OPERATOR.to_owned(),
            federated: vec![Federation::new(ISSUER, subject, &keys.unwrap())],
            ..Client::default()
        });
    }

    /// Runs the pod that the release describes, with a token of its service account, as the kubelet would.
    pub async fn start_operator(&mut self) {
        let text = self
            .prepare(&format!(
                "helm get manifest armature --namespace {NAMESPACE}"
            ))
            .await;
        let mut manifests: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        let token = self.folder.path().join("token");
        std::fs::write(&token, self.token(deployment(&manifests)).await).unwrap();
        let is_deployment = |one: &&mut Value| one["kind"] == "Deployment";
        let pod = manifests.iter_mut().find(is_deployment).unwrap();
        let variables = &mut pod["spec"]["template"]["spec"]["containers"][0]["env"];
        let mut variables = variables.as_array_mut().unwrap().iter_mut();
        let file = variables.find(|one| one["name"] == "AZURE_FEDERATED_TOKEN_FILE");
        file.unwrap()["value"] = token.to_str().unwrap().into();
        let ports = Ports::free();
        let url = format!("https://127.0.0.1:{}/convert", ports.webhook);
        let pod = self.cluster.run_at(&manifests, "armature-0", ports, &url);
        self.pod = Some(pod.await);
    }

    async fn token(&self, deployment: &Value) -> String {
        let account = &deployment["spec"]["template"]["spec"]["serviceAccountName"];
        let accounts: Api<ServiceAccount> = self.cluster.api(NAMESPACE);
        let wanted = TokenRequest {
            spec: TokenRequestSpec {
                audiences: vec![AUDIENCE.to_owned()],
                ..TokenRequestSpec::default()
            },
            ..TokenRequest::default()
        };
        let parameters = PostParams::default();
        let request =
            accounts.create_token_request(account.as_str().unwrap(), &parameters, &wanted);
        request.await.unwrap().status.unwrap().token
    }

    /// Ends the operator, as a pod ends whose Deployment goes.
    pub async fn stop_operator(&mut self) {
        let status = self.pod.take().unwrap().terminate().await;
        assert!(status.success(), "{status}");
    }
}

//! Commands as a page in `docs/` shows them: files of the page in a folder, a real API server with the real operator, and a
//! simulated Azure.

#![allow(dead_code, reason = "each test program uses what it needs")]

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::{Mutex, PoisonError};

use armature_controlplane::waiting::until_ok;
use armature_controlplane::{ControlPlane, free_port};
use armature_runtime::kind::KindInfo;
use armature_simulator::{OperationRule, Options, Running, Settings, Simulator};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// Namespace of the operator.
const OPERATOR: &str = "armature-system";
/// Namespace of the page's objects.
const NAMESPACE: &str = "shop";
/// What the page's objects are of.
const CRDS: &str = "resources.azure.com/*;storage.azure.com/StorageAccount;storage.azure.com/StorageAccountsBlobService";

/// A page with files and commands, and what they run against.
pub struct World {
    page: PathBuf,
    text: Mutex<String>,
    folder: TempDir,
    plane: ControlPlane,
    azure: Running,
    client: kube::Client,
    operator: Option<Child>,
}

impl World {
    /// Starts everything, with the page's files in a folder.
    pub async fn start(page: &str) -> Self {
        let mut world = Self::start_without_operator(page).await;
        world.start_operator(OPERATOR, CRDS);
        world
    }

    /// The same without the operator.
    pub async fn start_without_operator(page: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (page, text) = opened(page, folder.path());
        let plane = ControlPlane::start(Default::default()).await.unwrap();
        let azure = Simulator::start(Options::new(armature_generated::KINDS));
        let azure = azure.await.unwrap();
        let immediate = OperationRule::default();
        azure.simulator().set_operation_rule(None, immediate);
        std::fs::write(folder.path().join("azure-ca.pem"), azure.ca_pem()).unwrap();
        let client = plane.client().await.unwrap();
        let namespaces: Api<Namespace> = Api::all(client.clone());
        for name in [OPERATOR, NAMESPACE] {
            let namespace = json!({"metadata": {"name": name}});
            let namespace = serde_json::from_value(namespace).unwrap();
            let created = namespaces.create(&PostParams::default(), &namespace).await;
            created.unwrap();
        }
        Self {
            page,
            text: Mutex::new(text),
            folder,
            plane,
            azure,
            client,
            operator: None,
        }
    }

    /// Goes on with another page, whose files come beside what is there.
    pub fn turn_to(&mut self, page: &str) {
        let (page, text) = opened(page, self.folder.path());
        self.page = page;
        self.text = Mutex::new(text);
    }

    /// Starts an operator in a namespace, for these CRDs.
    pub fn start_operator(&mut self, namespace: &str, crds: &str) {
        self.start_operator_with(namespace, crds, &[]);
    }

    /// The same with further flags.
    pub fn start_operator_with(&mut self, namespace: &str, crds: &str, flags: &[&str]) {
        let mut command = program(&self.folder, &self.plane, &self.azure);
        let webhook: SocketAddr = (Ipv4Addr::LOCALHOST, free_port().unwrap()).into();
        command
            .args(["run", "--health-addr=0", "--crd-pattern", crds])
            .args(flags)
            .arg(format!("--webhook-listen={webhook}"))
            .arg(format!("--webhook-url=https://{webhook}/convert"))
            .env("POD_NAMESPACE", namespace)
            .stderr(std::fs::File::create(self.folder.path().join("log")).unwrap())
            .kill_on_drop(true);
        self.operator = Some(command.spawn().unwrap());
    }

    /// Kills the operator.
    pub async fn stop_operator(&mut self) {
        if let Some(mut operator) = self.operator.take() {
            operator.kill().await.unwrap();
        }
    }

    /// The way to the API server.
    pub fn client(&self) -> &kube::Client {
        &self.client
    }

    /// The simulated Azure.
    pub fn azure(&self) -> &Simulator {
        self.azure.simulator()
    }

    /// Runs a line of a shell, with quotes left out, in the folder of the page's files.
    pub async fn run(&self, line: &str, code: i32) -> String {
        let command = program(&self.folder, &self.plane, &self.azure);
        self.output(command, line, code).await
    }

    /// The same, whatever the exit code.
    pub async fn run_any(&self, line: &str) -> String {
        let command = program(&self.folder, &self.plane, &self.azure);
        let output = finished(command, line).await;
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a line with other variables in the environment, where an empty one is taken out; standard output, and errors.
    pub async fn run_with(
        &self,
        line: &str,
        variables: &[(&str, &str)],
        code: i32,
    ) -> (String, String) {
        let mut command = program(&self.folder, &self.plane, &self.azure);
        for (name, value) in variables {
            match *value {
                "" => command.env_remove(name),
                value => command.env(name, value),
            };
        }
        let output = finished(command, line).await;
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (shown, errors) = (text(output.stdout), text(output.stderr));
        assert_eq!(
            output.status.code(),
            Some(code),
            "{line}\n{shown}\n{errors}"
        );
        (shown, errors)
    }

    /// Writes a Deployment of the operator, which nobody runs, with these variables and flags.
    pub async fn apply_deployment(&self, namespace: &str, env: &Value, flags: &[&str]) {
        let args = [&["run"], flags].concat();
        let container = json!({"name": "operator", "image": "armature", "env": env, "args": args});
        let labels = json!({"app.kubernetes.io/name": "armature"});
        let deployment = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "armature", "labels": labels},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            },
        });
        let how = PatchParams::apply("tests").force();
        let patch = Patch::Apply(&deployment);
        let deployments: Api<Deployment> = Api::namespaced(self.client.clone(), namespace);
        deployments.patch("armature", &how, &patch).await.unwrap();
    }

    /// What a line says is wrong.
    pub async fn errors(&self, line: &str, code: i32) -> String {
        self.run_with(line, &[], code).await.1
    }

    /// Starts a line that runs until it is dropped.
    pub fn spawn(&self, line: &str) -> Child {
        let mut command = program(&self.folder, &self.plane, &self.azure);
        let mut words = line.split_whitespace();
        assert_eq!(words.next(), Some("armature"));
        command.args(words).stdout(Stdio::piped());
        command.kill_on_drop(true).spawn().unwrap()
    }

    async fn output(&self, command: Command, line: &str, code: i32) -> String {
        let Output {
            status,
            stdout,
            stderr,
        } = finished(command, line).await;
        let (shown, errors) = (String::from_utf8(stdout), String::from_utf8(stderr));
        let (shown, errors) = (shown.unwrap(), errors.unwrap());
        assert_eq!(status.code(), Some(code), "{line}\n{shown}\n{errors}");
        shown
    }

    /// Runs a line that the page shows with what it prints.
    pub async fn shows(&self, line: &str, code: i32) {
        let shown = self.run(line, code).await;
        let block = format!("```console\n$ {line}\n{}```\n", without_end(&shown));
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        if std::env::var_os("ARMATURE_WRITE_DOCS").is_some() {
            let start = text.find(&format!("```console\n$ {line}\n"));
            let start = start.unwrap_or_else(|| panic!("the page has no block `$ {line}`"));
            let end = start + 10 + text[start + 10..].find("\n```\n").unwrap() + 5;
            text.replace_range(start..end, &block);
        } else if !text.contains(&block) {
            panic!(
                "{} does not show what `{line}` prints; ARMATURE_WRITE_DOCS=1 writes it:\n{block}",
                self.page.display()
            );
        }
    }

    /// Writes the page where that is wanted.
    pub fn finish_page(&self) {
        if std::env::var_os("ARMATURE_WRITE_DOCS").is_some() {
            let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
            std::fs::write(&self.page, text.as_str()).unwrap();
        }
    }

    /// Writes a file.
    pub fn write(&self, file: &str, text: &str) {
        std::fs::write(self.folder.path().join(file), text).unwrap();
    }

    /// A token of the simulated Azure.
    pub async fn token(&self) -> String {
        let authority = reqwest::Certificate::from_pem(self.azure.ca_pem().as_bytes()).unwrap();
        let http = reqwest::Client::builder()
            .tls_certs_merge([authority])
            .build()
            .unwrap();
        let tenant = Settings::default().tenant;
        let form = "grant_type=client_credentials&client_id=00000000-0000-0000-0000-00000000000b&client_secret=x\
                    &scope=https%3A%2F%2Fmanagement.azure.com%2F.default";
        let answer = http
            .post(format!(
                "{}/{tenant}/oauth2/v2.0/token",
                self.azure.endpoint()
            ))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form)
            .send()
            .await
            .unwrap();
        let answer: Value = answer.json().await.unwrap();
        let token = answer["access_token"].as_str();
        token
            .unwrap_or_else(|| panic!("no token: {answer}"))
            .to_owned()
    }

    /// Runs a line without an identity in the environment and with an Azure CLI that gives this token; an empty one stands
    /// for nobody who is signed in.
    #[cfg(unix)]
    pub async fn run_with_azure_cli(&self, line: &str, token: &str, code: i32) -> String {
        use std::os::unix::fs::PermissionsExt;

        let folder = self.folder.path().join("bin");
        std::fs::create_dir_all(&folder).unwrap();
        let answer =
            json!({"accessToken": token, "expires_on": 4_102_444_800_u64, "tokenType": "Bearer"});
        let script = match token {
            "" => "#!/bin/sh\necho 'Please run az login' >&2\nexit 1\n".to_owned(),
            _ => format!("#!/bin/sh\ncat <<'END'\n{answer}\nEND\n"),
        };
        std::fs::write(folder.join("az"), script).unwrap();
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.join("az"), executable).unwrap();
        let mut command = program(&self.folder, &self.plane, &self.azure);
        for name in ["AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID"] {
            command.env_remove(name);
        }
        command.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
        self.output(command, line, code).await
    }

    /// Replaces a text in a file.
    pub fn edit(&self, file: &str, from: &str, to: &str) {
        let path = self.folder.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(path, text.replace(from, to)).unwrap();
    }

    /// Applies all manifests of a folder, as `kubectl apply --server-side` does, once the API server takes them.
    pub async fn apply_page(&self, folder: &str) {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(self.folder.path().join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        for path in paths {
            let text = std::fs::read_to_string(path).unwrap();
            for document in text.split("---\n") {
                self.apply(&serde_saphyr::from_str(document).unwrap()).await;
            }
        }
    }

    /// Applies a manifest, once the API server takes it.
    pub async fn apply(&self, manifest: &Value) {
        let text = |member: &Value| member.as_str().unwrap().to_owned();
        let version = text(&manifest["apiVersion"]);
        let (group, version) = version.split_once('/').unwrap();
        let api = self.api(group, version, &text(&manifest["kind"]));
        let name = text(&manifest["metadata"]["name"]);
        let parameters = PatchParams::apply("test").force();
        until_ok(&format!("the API server to take {name}"), async || {
            let applied = api.patch(&name, &parameters, &Patch::Apply(manifest)).await;
            applied.map_err(|error| format!("{error}: {}", self.log()))
        })
        .await;
        self.wait_discovered(kind_info(group, &text(&manifest["kind"])))
            .await;
    }

    /// Waits until discovery names a kind at its storage version. A CRD takes objects before that, and a command that asks
    /// which kinds there are would not see them.
    async fn wait_discovered(&self, kind: &KindInfo) {
        let version = format!("{}/{}", kind.group, kind.hub.storage_version);
        until_ok(&format!("discovery of {}", kind.kind), async || {
            let missing = |error: kube::Error| error.to_string();
            let groups = self.client.list_api_groups().await.map_err(missing)?;
            let mut versions = groups.groups.iter().flat_map(|group| &group.versions);
            if !versions.any(|one| one.group_version == version) {
                return Err(format!("{version} is not listed"));
            }
            let listed = self.client.list_api_group_resources(&version).await;
            let mut listed = listed.map_err(missing)?.resources.into_iter();
            match listed.any(|one| one.name == kind.plural) {
                true => Ok(()),
                false => Err(format!("{version} does not list {}", kind.plural)),
            }
        })
        .await;
    }

    /// Waits until an object is ready.
    pub async fn wait_ready(&self, group: &str, kind: &str, name: &str) {
        self.wait_for(group, kind, name, "Succeeded").await;
    }

    /// Waits until an object's `Ready` condition has a reason.
    pub async fn wait_for(&self, group: &str, kind: &str, name: &str, reason: &str) {
        let version = kind_info(group, kind).served_unasked().next_back().unwrap();
        let api = self.api(group, version.name, kind);
        until_ok(&format!("{kind} {name} to be {reason}"), async || {
            let object = api.get(name).await.map_err(|error| error.to_string())?;
            let conditions = object.data.pointer("/status/conditions");
            let mut conditions = conditions.and_then(Value::as_array).into_iter().flatten();
            match conditions.any(|one| one["type"] == "Ready" && one["reason"] == reason) {
                true => Ok(()),
                false => Err(format!("{:#}\n{}", object.data, self.log())),
            }
        })
        .await;
    }

    /// Changes a resource in Azure behind the operator's back.
    pub fn drift(&self, id: &str, patch: &Value) {
        self.azure().drift(id, patch).unwrap();
    }

    /// The objects of a kind in its newest version.
    pub fn objects(&self, group: &str, kind: &str) -> Api<DynamicObject> {
        let version = kind_info(group, kind).served_unasked().next_back().unwrap();
        self.api(group, version.name, kind)
    }

    fn api(&self, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
        let info = kind_info(group, kind);
        let gvk = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, info.plural);
        Api::namespaced_with(self.client.clone(), NAMESPACE, &resource)
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

fn kind_info(group: &str, kind: &str) -> &'static KindInfo {
    let mut kinds = armature_generated::KINDS.iter();
    kinds
        .find(|info| info.group == group && info.kind == kind)
        .unwrap()
}

/// The program, with the environment that it has at a terminal.
fn program(folder: &TempDir, plane: &ControlPlane, azure: &Running) -> Command {
    let settings = Settings::default();
    let endpoint = azure.endpoint();
    let mut command = Command::new(env!("CARGO_BIN_EXE_armature"));
    command
        .current_dir(folder.path())
        .env_clear()
        .env("KUBECONFIG", plane.kubeconfig())
        .env("ARMATURE_ARM_CA_FILE", folder.path().join("azure-ca.pem"))
        .env("AZURE_SUBSCRIPTION_ID", &settings.subscriptions[0])
        .env("AZURE_TENANT_ID", &settings.tenant)
        .env("AZURE_CLIENT_ID", "00000000-0000-0000-0000-00000000000a")
        .env("AZURE_CLIENT_SECRET", "for the simulator")
        .env("AZURE_AUTHORITY_HOST", endpoint)
        .env("AZURE_RESOURCE_MANAGER_ENDPOINT", endpoint)
        .env(
            "AZURE_RESOURCE_MANAGER_AUDIENCE",
            "https://management.azure.com",
        );
    command
}

/// A page's path and text, with its files in a folder.
fn opened(page: &str, folder: &Path) -> (PathBuf, String) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let page = docs.join(page);
    let text = std::fs::read_to_string(&page).unwrap();
    for (name, content) in files(&text) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    (page, text)
}

/// What a line has come to.
async fn finished(mut command: Command, line: &str) -> Output {
    let mut words = line.split_whitespace();
    assert_eq!(words.next(), Some("armature"));
    command.args(words).output().await.unwrap()
}

/// The files that a page shows: a comment `<!-- file: NAME -->` before a block.
fn files(page: &str) -> Vec<(String, String)> {
    let parts = page.split("<!-- file: ").skip(1);
    let file = |part: &str| {
        let (name, rest) = part.split_once(" -->\n").unwrap();
        let (_, block) = rest.split_once("```yaml\n").unwrap();
        let (content, _) = block.split_once("```").unwrap();
        (name.to_owned(), content.to_owned())
    };
    parts.map(file).collect()
}

/// What a program prints, for a block of a page: blocks within it would end it.
fn without_end(shown: &str) -> String {
    shown.replace("```", "'''")
}

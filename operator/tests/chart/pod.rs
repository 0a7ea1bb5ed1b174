//! The binary, run as the rendered Deployment says.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use armature_controlplane::free_port;
use armature_controlplane::waiting::{until, until_ended};
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::chart::{deployment, find, namespace_of};

/// A running operator.
pub struct Pod {
    child: Child,
    /// The Secret that the container mounts.
    _credential: TempDir,
    ports: Ports,
    /// Where the log goes, if not to that of the test.
    log: Option<std::path::PathBuf>,
}

/// What differs from a pod in a cluster.
pub struct Surroundings<'a> {
    pub kubeconfig: &'a Path,
    pub azure_ca: &'a Path,
    /// URL at which the API server reaches the webhook.
    pub webhook_url: &'a str,
    pub ports: Ports,
    /// What the cluster has beside the manifests, if that counts.
    pub mounted: Option<&'a Mounted>,
}

/// What the cluster puts into a pod that no manifest has.
pub struct Mounted {
    /// The Secret that somebody else has made.
    pub secret: BTreeMap<String, Vec<u8>>,
    /// The file with the service account's token for Azure.
    pub token: std::path::PathBuf,
    /// Where the log goes.
    pub log: std::path::PathBuf,
}

/// Free ports of this machine.
#[derive(Clone, Copy)]
pub struct Ports {
    pub webhook: u16,
    pub health: u16,
    pub metrics: u16,
}

impl Ports {
    pub fn free() -> Self {
        Self {
            webhook: free_port().unwrap(),
            health: free_port().unwrap(),
            metrics: free_port().unwrap(),
        }
    }

    /// Whether the pod with these ports is ready.
    pub async fn is_ready(self) -> bool {
        let answer = reqwest::get(format!("http://127.0.0.1:{}/readyz", self.health)).await;
        answer.is_ok_and(|answer| answer.status().is_success())
    }
}

impl Pod {
    pub fn start(manifests: &[Value], name: &str, surroundings: &Surroundings<'_>) -> Self {
        let deployment = deployment(manifests);
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        let Ports {
            webhook,
            health,
            metrics,
        } = surroundings.ports;
        let credential = match surroundings.mounted {
            Some(mounted) => files(&mounted.secret),
            None => mounted(manifests, deployment),
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_armature"));
        for argument in container["args"].as_array().unwrap() {
            let argument = argument.as_str().unwrap();
            let flag = argument.split_once('=').map_or(argument, |(flag, _)| flag);
            match flag {
                "--health-addr" => command.arg(format!("--health-addr=127.0.0.1:{health}")),
                "--credential-folder" => command.args([Path::new(flag), credential.path()]),
                "--metrics-addr" => command.arg(format!("--metrics-addr=127.0.0.1:{metrics}")),
                _ => command.arg(argument),
            };
        }
        command.arg(format!("--webhook-listen=127.0.0.1:{webhook}"));
        command.arg(format!("--webhook-url={}", surroundings.webhook_url));
        command.env_clear();
        for variable in container["env"].as_array().unwrap() {
            if let Some(value) = value(manifests, variable, name) {
                command.env(variable["name"].as_str().unwrap(), value);
            }
        }
        if let Some(mounted) = surroundings.mounted {
            command.env("AZURE_FEDERATED_TOKEN_FILE", &mounted.token);
            command.stderr(File::create(&mounted.log).unwrap());
        }
        command
            .env("KUBECONFIG", surroundings.kubeconfig)
            .env("ARMATURE_ARM_CA_FILE", surroundings.azure_ca)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        Self {
            child: command.spawn().unwrap(),
            _credential: credential,
            ports: surroundings.ports,
            log: surroundings.mounted.map(|mounted| mounted.log.clone()),
        }
    }

    pub fn ports(&self) -> Ports {
        self.ports
    }

    /// The most memory that the process had so far, in bytes.
    pub fn peak_memory(&self) -> u64 {
        let id = self.child.id().expect("it runs");
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let mut lines = status.lines();
        let peak = lines.find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.unwrap().trim().trim_end_matches(" kB");
        peak.parse::<u64>().unwrap() << 10
    }

    pub async fn wait_ready(&mut self) {
        until("the operator to be ready", async || {
            if let Some(status) = self.child.try_wait().unwrap() {
                let log = self.log.as_ref().map(std::fs::read_to_string);
                let log = log.map_or_else(|| "its log is above".to_owned(), Result::unwrap);
                panic!("the operator ended with {status}: {log}");
            }
            self.ports.is_ready().await
        })
        .await;
    }

    /// Asks the operator to end, as the kubelet does. Returns how it ended.
    pub async fn terminate(mut self) -> ExitStatus {
        let id = self.child.id().expect("it runs").to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status().await;
        assert!(sent.unwrap().success());
        let ended = until_ended("the operator to end", self.child.wait());
        ended.await.unwrap()
    }
}

/// A Secret as the kubelet mounts it.
fn files(secret: &BTreeMap<String, Vec<u8>>) -> TempDir {
    let files = tempfile::tempdir().unwrap();
    for (key, value) in secret {
        std::fs::write(files.path().join(key), value).unwrap();
    }
    files
}

/// The files of the Secret that the container mounts at its `--credential-folder`; none where it has no such flag.
fn mounted(manifests: &[Value], deployment: &Value) -> TempDir {
    let pod = &deployment["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let mut arguments = container["args"].as_array().unwrap().iter();
    let files = tempfile::tempdir().unwrap();
    let folder =
        arguments.find_map(|argument| argument.as_str()?.strip_prefix("--credential-folder="));
    let Some(folder) = folder else {
        return files;
    };
    let named = |list: &'_ Value, member: &str, value: &str| {
        let list = list.as_array().unwrap();
        list.iter()
            .find(|item| item[member] == value)
            .unwrap()
            .clone()
    };
    let mount = named(&container["volumeMounts"], "mountPath", folder);
    let volume = named(&pod["volumes"], "name", mount["name"].as_str().unwrap());
    let name = volume["secret"]["secretName"].as_str().unwrap();
    let secret = find(manifests, "Secret", name);
    for (key, value) in secret["stringData"].as_object().unwrap() {
        std::fs::write(files.path().join(key), value.as_str().unwrap()).unwrap();
    }
    files
}

/// The value of an environment variable of a container; none where an optional Secret lacks it.
fn value(manifests: &[Value], variable: &Value, pod: &str) -> Option<String> {
    if let Some(value) = variable["value"].as_str() {
        return Some(value.to_owned());
    }
    let from = &variable["valueFrom"];
    if let Some(path) = from["fieldRef"]["fieldPath"].as_str() {
        return Some(match path {
            "metadata.namespace" => namespace_of(deployment(manifests)).to_owned(),
            "metadata.name" => pod.to_owned(),
            other => panic!("{other} is not known here"),
        });
    }
    let reference = &from["secretKeyRef"];
    let secret = find(manifests, "Secret", reference["name"].as_str().unwrap());
    let entry = &secret["stringData"][reference["key"].as_str().unwrap()];
    assert!(
        entry.is_string() || reference["optional"] == true,
        "{variable} has no value"
    );
    entry.as_str().map(str::to_owned)
}

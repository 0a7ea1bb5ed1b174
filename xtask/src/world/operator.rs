//! The operator as a child process, told about the control plane and the simulated Azure.

use std::{
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use armature_controlplane::{ControlPlane, Supervised};
use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
};

use super::azure::{Azure, SUBSCRIPTION, TENANT};
use super::ensure_running;

/// Namespace in which the operator keeps the certificate of its webhook.
const NAMESPACE: &str = "armature-system";

/// A running operator.
#[derive(Debug)]
pub struct Operator {
    process: Supervised,
    launch: Launch,
}

/// How an operator is started.
#[derive(Clone, Debug)]
struct Launch {
    program: PathBuf,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    folder: PathBuf,
    addresses: Option<Addresses>,
}

/// Where an operator of ours listens.
#[derive(Clone, Copy, Debug)]
pub struct Addresses {
    /// The conversion webhook.
    pub webhook: SocketAddr,
    /// `/metrics`.
    pub metrics: SocketAddr,
}

impl Operator {
    /// Creates the operator's namespace and starts `program` with further flags.
    pub async fn start(
        program: &Path,
        folder: &Path,
        plane: &ControlPlane,
        azure: &Azure,
        flags: &[String],
    ) -> anyhow::Result<Self> {
        create_namespace(&plane.client().await?, NAMESPACE).await?;
        let addresses = Addresses {
            webhook: free_address()?,
            metrics: free_address()?,
        };
        let Addresses { webhook, metrics } = addresses;
        let mut arguments = vec![
            "run".to_owned(),
            "--crd-pattern=*/*".to_owned(),
            format!("--namespace={NAMESPACE}"),
            format!("--webhook-listen={webhook}"),
            format!("--webhook-url=https://{webhook}/convert"),
            format!("--health-addr={}", free_address()?),
            format!("--metrics-addr={metrics}"),
            format!("--arm-ca-file={}", azure.ca_file().display()),
        ];
        arguments.extend_from_slice(flags);
        Launch {
            program: program.to_owned(),
            arguments,
            environment: environment(plane, azure),
            folder: folder.to_owned(),
            addresses: Some(addresses),
        }
        .spawn()
    }

    /// Starts another operator by a command of the shell. It is told of the control plane and of Azure by variables of its
    /// environment, of Azure's authority by `SSL_CERT_FILE`.
    pub fn start_other(
        command: &str,
        folder: &Path,
        plane: &ControlPlane,
        azure: &Azure,
    ) -> anyhow::Result<Self> {
        let mut environment = environment(plane, azure);
        let authority = azure.ca_file().display().to_string();
        environment.push(("SSL_CERT_FILE".to_owned(), authority));
        Launch {
            program: PathBuf::from("sh"),
            arguments: vec!["-c".to_owned(), format!("exec {command}")],
            environment,
            folder: folder.to_owned(),
            addresses: None,
        }
        .spawn()
    }

    /// Stops it and starts it again, as it was started before.
    pub async fn restart(self, grace: Duration) -> anyhow::Result<Self> {
        let Self { process, launch } = self;
        process.stop(grace).await;
        launch.spawn()
    }

    /// Where it listens; nothing of another operator.
    pub fn addresses(&self) -> Option<Addresses> {
        self.launch.addresses
    }

    /// The process, for what the kernel counts for it.
    pub fn process(&self) -> &Supervised {
        &self.process
    }

    /// An error with the end of its log if the operator ended.
    pub fn check_running(&mut self) -> anyhow::Result<()> {
        ensure_running("the operator", &mut self.process)
    }

    /// Its log file.
    pub fn log(&self) -> &Path {
        self.process.log()
    }

    /// Stops it.
    pub async fn stop(self, grace: Duration) {
        self.process.stop(grace).await;
    }
}

impl Launch {
    fn spawn(self) -> anyhow::Result<Operator> {
        let process = Supervised::spawn(
            &self.program,
            &self.arguments,
            &self.environment,
            &self.folder.join("operator.log"),
            Some(&self.folder),
        )?;
        Ok(Operator {
            process,
            launch: self,
        })
    }
}

/// What any operator has to know of the control plane and of Azure.
fn environment(plane: &ControlPlane, azure: &Azure) -> Vec<(String, String)> {
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    vec![
        variable("KUBECONFIG", &plane.kubeconfig().display().to_string()),
        variable("AZURE_SUBSCRIPTION_ID", SUBSCRIPTION),
        variable("AZURE_TENANT_ID", TENANT),
        variable("AZURE_CLIENT_ID", "armature"),
        variable("AZURE_CLIENT_SECRET", "any"),
        variable("AZURE_AUTHORITY_HOST", azure.endpoint()),
        variable("AZURE_RESOURCE_MANAGER_ENDPOINT", azure.endpoint()),
        variable("AZURE_RESOURCE_MANAGER_AUDIENCE", azure.endpoint()),
        // A developer's own settings for a real Azure shall not reach this one.
        variable("USE_WORKLOAD_IDENTITY_AUTH", "false"),
        variable("AZURE_TARGET_NAMESPACES", ""),
    ]
}

/// Creates a namespace.
///
/// # Errors
/// When the API server refuses, as it does when there is one of this name.
pub async fn create_namespace(client: &Client, name: &str) -> anyhow::Result<()> {
    let namespace = Namespace {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    };
    Api::<Namespace>::all(client.clone())
        .create(&PostParams::default(), &namespace)
        .await
        .map(drop)
        .with_context(|| format!("cannot create the namespace {name}"))
}

/// A loopback address with a port that is free now.
fn free_address() -> anyhow::Result<SocketAddr> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .context("cannot find a free port on 127.0.0.1")
}

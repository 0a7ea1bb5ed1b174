//! The operator as a child process, told about the control plane and the simulated Azure.

use std::{net::TcpListener, path::Path, time::Duration};

use anyhow::Context;
use armature_controlplane::{ControlPlane, Supervised};
use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
};

use super::azure::{Azure, SUBSCRIPTION, TENANT, ensure_running};

/// Namespace in which the operator keeps the certificate of its webhook.
const NAMESPACE: &str = "armature-system";

/// A running operator.
#[derive(Debug)]
pub struct Operator(Supervised);

impl Operator {
    /// Creates the operator's namespace and starts `program`.
    pub async fn start(
        program: &Path,
        folder: &Path,
        plane: &ControlPlane,
        client: &Client,
        azure: &Azure,
    ) -> anyhow::Result<Self> {
        create_namespace(client).await?;
        let webhook = free_address()?;
        let arguments = [
            "run".to_owned(),
            "--crd-pattern=*/*".to_owned(),
            format!("--namespace={NAMESPACE}"),
            format!("--webhook-listen={webhook}"),
            format!("--webhook-url=https://{webhook}/convert"),
            format!("--health-addr={}", free_address()?),
            format!("--arm-ca-file={}", azure.ca_file().display()),
        ];
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let environment = [
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
        ];
        let log = folder.join("operator.log");
        Ok(Self(Supervised::spawn(
            program,
            &arguments,
            &environment,
            &log,
            Some(folder),
        )?))
    }

    /// An error with the end of its log if the operator ended.
    pub fn check_running(&mut self) -> anyhow::Result<()> {
        ensure_running("the operator", &mut self.0)
    }

    /// Its log file.
    pub fn log(&self) -> &Path {
        self.0.log()
    }

    /// Stops it.
    pub async fn stop(self, grace: Duration) {
        self.0.stop(grace).await;
    }
}

async fn create_namespace(client: &Client) -> anyhow::Result<()> {
    let namespace = Namespace {
        metadata: ObjectMeta {
            name: Some(NAMESPACE.to_owned()),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    };
    Api::<Namespace>::all(client.clone())
        .create(&PostParams::default(), &namespace)
        .await
        .map(drop)
        .with_context(|| format!("cannot create the namespace {NAMESPACE}"))
}

/// A loopback address with a port that is free now.
fn free_address() -> anyhow::Result<std::net::SocketAddr> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .context("cannot find a free port on 127.0.0.1")
}

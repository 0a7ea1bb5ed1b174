//! Control plane, simulator and operator, started once.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use armature::{
    CONVERSION_MEMORY, CrdManagement, Operator, OperatorConfig, OperatorMode, VersionChoice,
    WebhookReach,
};
use armature_controlplane::ControlPlane;
use armature_exposure::{Place, Secrets, SeenSecrets, random_value, scrape, shown_in};
use armature_runtime::azure::budget::Limits;
use armature_runtime::azure::credential::{CredentialError, Identity, operator_identity};
use armature_runtime::azure::{ClientSettings, Cloud};
use armature_runtime::kubernetes::today;
use armature_runtime::reconcile::policy::Policy;
use armature_runtime::reconcile::queue::WORKERS;
use armature_runtime::reconcile::time::Time;
use armature_simulator::{OperationRule, Options, Running, Settings, Simulator};
use jiff::ToSpan;
use jiff::civil::Date;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::api::{Api, ObjectMeta, PostParams};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::objects::Objects;
use crate::shown::Shown;

/// Namespace of the operator.
pub const OPERATOR_NAMESPACE: &str = "armature-system";

/// Secret with the webhook's certificate.
const WEBHOOK_SECRET: &str = "webhook";

/// Proof of the identities that operators in tests have.
fn client_secret() -> &'static str {
    static VALUE: OnceLock<String> = OnceLock::new();
    VALUE.get_or_init(random_value)
}

/// Days by which the clock of certificates is late at first: a certificate of that day expires so soon today
/// that it is renewed.
const LATE_DAYS: i32 = 61;

/// Whether the clock of certificates is right. One for all worlds of a process, as there is one world.
static IS_TODAY: AtomicBool = AtomicBool::new(false);

fn pretended_today() -> Date {
    let late = match IS_TODAY.load(Ordering::SeqCst) {
        true => 0,
        false => LATE_DAYS,
    };
    today() - late.days()
}

/// A running world.
pub struct World {
    runtime: Runtime,
    shown: Shown,
    secrets: SeenSecrets,
    parts: Parts,
}

struct Parts {
    plane: ControlPlane,
    azure: Running,
    operator: Operator,
    client: kube::Client,
    config: OperatorConfig,
    webhook: SocketAddr,
    _folder: TempDir,
}

impl World {
    /// The world of this test binary, started by whoever asks first.
    pub fn shared() -> &'static Self {
        static WORLD: OnceLock<Result<World, String>> = OnceLock::new();
        let world = WORLD.get_or_init(|| Self::start().map_err(|error| format!("{error:#}")));
        world
            .as_ref()
            .unwrap_or_else(|error| panic!("no world for end-to-end tests: {error}"))
    }

    fn start() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let (shown, parts) = runtime.block_on(async {
            let shown = Shown::start().await?;
            anyhow::Ok((shown, Parts::start().await?))
        })?;
        let secrets = runtime.block_on(async { SeenSecrets::watch(parts.client.clone()) });
        secrets.add("the operator's own credential", client_secret());
        Ok(Self {
            runtime,
            shown,
            secrets,
            parts,
        })
    }

    /// Runs a test in a namespace of its own. Fails too when a secret of this or another test is shown anywhere.
    pub fn run<T>(
        &'static self,
        namespace: &str,
        test: impl AsyncFnOnce(&'static Self, Objects) -> T,
    ) -> T {
        self.runtime.block_on(async {
            self.create_namespace(namespace)
                .await
                .expect("the namespace is created");
            let tested = test(self, self.objects(namespace)).await;
            self.assert_no_secret_is_shown(namespace).await;
            tested
        })
    }

    /// Waits for something outside of a namespace.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// A client with all rights.
    pub fn client(&self) -> &kube::Client {
        &self.parts.client
    }

    /// The simulated Azure.
    pub fn azure(&self) -> &Simulator {
        self.parts.azure.simulator()
    }

    /// Every secret that any test used so far.
    pub async fn secrets(&self) -> Secrets {
        let all = self.secrets.all().await;
        all.expect("Secrets are listed")
    }

    /// Everything that people see of a namespace in the cluster, and the metrics of the world's operator.
    pub async fn exposed(&self, namespace: &str) -> Vec<Place> {
        let listed = shown_in(&self.parts.client, Some(namespace)).await;
        let mut places = listed.expect("the namespace is listed");
        let metrics = self.parts.operator.metrics_address();
        let metrics = scrape(metrics.expect("metrics are served")).await;
        places.push(Place::new("metrics", metrics.expect("metrics answer")));
        places
    }

    async fn assert_no_secret_is_shown(&self, namespace: &str) {
        // First what was said, then the secrets: whatever was said of a secret, the secret is known by then.
        let mut places = self.shown.news().await;
        places.extend(self.exposed(namespace).await);
        let secrets = self.secrets().await;
        secrets.assert_hidden(&places, Some(namespace));
    }

    /// Log lines and spans of every operator in this process.
    pub fn shown(&self) -> &Shown {
        &self.shown
    }

    /// The control plane.
    pub fn plane(&self) -> &ControlPlane {
        &self.parts.plane
    }

    /// Where the conversion webhook of the world's operator listens.
    pub fn webhook_address(&self) -> SocketAddr {
        self.parts.webhook
    }

    /// Secret in [`OPERATOR_NAMESPACE`] with the webhook's certificate.
    pub async fn webhook_secret(&self) -> kube::Result<Secret> {
        let secrets: Api<Secret> = Api::namespaced(self.parts.client.clone(), OPERATOR_NAMESPACE);
        secrets.get(WEBHOOK_SECRET).await
    }

    /// Lets the world's operators know today's date. They start with one on which their certificate was
    /// issued so long ago that it is renewed today.
    pub fn reveal_today(&self) {
        IS_TODAY.store(true, Ordering::SeqCst);
    }

    /// Configuration of another operator in a namespace that exists, for that namespace alone. Its objects must
    /// name it by the annotation `operator-namespace`, else the world's operator takes them. CRDs and the webhook
    /// stay with the world's operator.
    pub fn operator_config(&self, namespace: &str) -> OperatorConfig {
        OperatorConfig {
            mode: OperatorMode::Watchers,
            namespace: namespace.to_owned(),
            target_namespaces: vec![namespace.to_owned()],
            ..self.parts.config.clone()
        }
    }

    /// Objects of a namespace.
    pub fn objects(&self, namespace: &str) -> Objects {
        Objects::new(self.parts.client.clone(), namespace)
    }

    /// Creates a namespace.
    pub async fn create_namespace(&self, name: &str) -> anyhow::Result<()> {
        create_namespace(&self.parts.client, name).await
    }
}

impl Parts {
    async fn start() -> anyhow::Result<Self> {
        // What a test says of a client counts; the other clients prove themselves with anything.
        let options = Options {
            settings: Settings {
                other_clients: true,
                ..Settings::default()
            },
            ..Options::new(armature_generated::KINDS)
        };
        let (plane, azure) = tokio::try_join!(
            async { anyhow::Ok(ControlPlane::start(Default::default()).await?) },
            async { Ok(Simulator::start(options).await?) },
        )?;
        // Operations end when they are asked about: the tests measure us, not a pretended Azure.
        azure
            .simulator()
            .set_operation_rule(None, OperationRule::default());
        let folder = tempfile::tempdir()?;
        let ca_file = folder.path().join("azure-ca.pem");
        std::fs::write(&ca_file, azure.ca_pem())?;
        let client = plane.client().await?;
        create_namespace(&client, OPERATOR_NAMESPACE).await?;
        let config = operator_config(&plane, azure.endpoint(), ca_file).await?;
        let operator = Operator::start(config.clone())
            .await
            .context("the operator does not start")?;
        Ok(Self {
            plane,
            azure,
            config,
            webhook: operator
                .webhook_address()
                .context("the operator serves no webhook")?,
            operator,
            client,
            _folder: folder,
        })
    }
}

/// Configuration of an operator of all kinds in [`OPERATOR_NAMESPACE`], which exists. It never compares what is ready
/// with Azure again.
pub async fn operator_config(
    plane: &ControlPlane,
    azure: &str,
    ca_file: PathBuf,
) -> anyhow::Result<OperatorConfig> {
    Ok(OperatorConfig {
        kubernetes: plane.client_config().await?,
        kinds: armature_generated::KINDS,
        arm: ClientSettings {
            cloud: Cloud::new(azure, azure, "https://management.azure.com")?,
            identity: identity("00000000-0000-0000-0000-00000000000a")?.into(),
            ca_file: Some(ca_file),
            user_agent_suffix: None,
            token_file: None,
            other_clouds: false,
            identity_folders: Vec::new(),
            secret_bounds: Default::default(),
            metadata_endpoint: None,
        },
        mode: OperatorMode::WatchersAndWebhooks,
        namespace: OPERATOR_NAMESPACE.to_owned(),
        target_namespaces: Vec::new(),
        crd_management: CrdManagement::Auto,
        // What is ahead of Azure Service Operator is served when it is named.
        crd_pattern: "*/*;storage.azure.com/v20260401/StorageAccount".parse()?,
        crd_versions: VersionChoice::All,
        crd_labels: "tests=labelled".parse()?,
        crd_descriptions: false,
        crd_deprecations: false,
        webhook_listen: SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0),
        webhook_reach: WebhookReach::Loopback,
        webhook_secret: WEBHOOK_SECRET.to_owned(),
        certificate_check: Duration::from_millis(200),
        storage_migration_delay: Duration::from_secs(3600),
        shutdown_delay: Duration::ZERO,
        time: Time::default(),
        today: pretended_today,
        leader_election: None,
        health_listen: None,
        metrics_listen: Some(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0)),
        metrics_readers: Default::default(),
        default_policy: Policy::Manage,
        allowed_scopes: None,
        allowed_scopes_mode: Default::default(),
        sync_period: None,
        longest_rest: None,
        graph_period: None,
        max_concurrent_reconciles: None,
        export_bounds: Default::default(),
        metrics_service: None,
        profiling: false,
        tls_min_version: Default::default(),
        longest_hold_before_put: Duration::from_secs(60 * 60),
        longest_hold_before_delete: Duration::from_secs(5 * 60),
        workers: WORKERS,
        arm_budget: Limits::default(),
        conversion_memory: CONVERSION_MEMORY,
    })
}

/// An operator's own identity in the simulated Azure, whose log shows the client id.
pub fn identity(client_id: &str) -> Result<Option<Identity>, CredentialError> {
    let settings = Settings::default();
    operator_identity(|name: &str| {
        let value = match name {
            "AZURE_SUBSCRIPTION_ID" => settings.subscriptions.first()?.as_str(),
            "AZURE_TENANT_ID" => settings.tenant.as_str(),
            "AZURE_CLIENT_ID" => client_id,
            "AZURE_CLIENT_SECRET" => client_secret(),
            _ => return None,
        };
        Some(value.to_owned())
    })
}

/// Creates a namespace.
pub async fn create_namespace(client: &kube::Client, name: &str) -> anyhow::Result<()> {
    let namespace = Namespace {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    };
    let api: Api<Namespace> = Api::all(client.clone());
    api.create(&PostParams::default(), &namespace).await?;
    Ok(())
}

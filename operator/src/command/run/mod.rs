//! `armature run`: flags and environment variables of an operator (ASO behaviour §5.1, §5.2).
//!
//! | module | what lives here |
//! |---|---|
//! | [`settings`] | flags beside the keys of the operator's Secret |
//! | [`values`] | values of flags that are no plain numbers or words |

mod settings;
mod values;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use armature_runtime::azure::budget::Limits;
use armature_runtime::kubernetes::{CrdLabels, CrdPattern, LeaseTimes, TlsVersion, today};
use armature_runtime::reconcile::allowed_scopes::{AllowedScopes, Enforcement};
use armature_runtime::reconcile::export_target::ExportBounds;
use armature_runtime::reconcile::policy::Policy;
use armature_runtime::reconcile::queue::WORKERS;
use armature_runtime::reconcile::time::Time;
use clap::{ArgAction, Args};
use tokio_util::sync::CancellationToken;

use self::settings::{Parsed, StartSettings};
use self::values::{OptionalAddress, SyncPeriod, duration, optional_address, policy, sync_period};
use super::azure;
use super::quantity::{DEFAULT_BUDGET, budget, quantity};
use crate::config::{
    CrdManagement, LONGEST_REST, MetricsReaders, OperatorConfig, OperatorMode, SYNC_PERIOD,
    VersionChoice, WebhookReach,
};
use crate::operator::Operator;
use crate::platform::StopSignals;
use crate::settings::SECRET;
use crate::traces::{CollectorUrl, Traces};

const HELP: &str = "\
Examples:
  armature run --namespace armature-system --crd-pattern 'resources.azure.com/*;storage.azure.com/*'
  armature run --namespace armature-system --enable-leader-election --metrics-addr :8080

Azure, from the environment:
  AZURE_SUBSCRIPTION_ID             Subscription of the operator's own credential; without it every namespace
                                    or object needs a Secret with a credential
  AZURE_TENANT_ID, AZURE_CLIENT_ID  Identity
  USE_WORKLOAD_IDENTITY_AUTH=true   It proves itself with the service account's token (AZURE_FEDERATED_TOKEN_FILE), or
  AZURE_CLIENT_CERTIFICATE          with a certificate and its key in PEM or PKCS#12 (AZURE_CLIENT_CERTIFICATE_PASSWORD),
                                    or
  AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS
                                    with the credential file of a user-assigned identity, or
  AZURE_CLIENT_SECRET               with a secret; with none of them it is the machine's managed identity
                                    (AZURE_POD_IDENTITY_AUTHORITY_HOST, if not at Azure's address)
  AZURE_ADDITIONAL_TENANTS          Other tenants whose tokens go along, separated by commas
  ALLOW_MULTI_ENV_MANAGEMENT=true   Secrets with credentials may name any other cloud
  ARMATURE_ALLOWED_CLOUDS='ENDPOINT AUTHORITY AUDIENCE; ...'
                                    They may name these, beside the operator's own
  ARMATURE_SECRET_PROOFS=client-secret,client-certificate,identity-file,workload-identity,managed-identity
                                    How identities in Secrets may prove themselves; all of these without it
  ARMATURE_IDENTITY_FILE_FOLDERS=/mnt/a:/mnt/b
                                    Folders with credential files of identities that Secrets may name, beside those of
                                    AZURE_FEDERATED_TOKEN_FILE and AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS
  AZURE_AUTHORITY_HOST, AZURE_RESOURCE_MANAGER_ENDPOINT, AZURE_RESOURCE_MANAGER_AUDIENCE
                                    Another cloud than the public one; all three or none
  AZURE_USER_AGENT_SUFFIX           Appended to the User-Agent

Kubernetes is reached through KUBECONFIG, ~/.kube/config or the pod's service account.
RUST_LOG sets log levels by module, for example armature_runtime=debug.";

/// Arguments of `armature run`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct RunArguments {
    /// CRDs to install beside those that are: globs over group/Kind joined by ';', for example
    /// 'resources.azure.com/*;storage.azure.com/*'. group/version/Kind names further versions to serve: those on
    /// request, and with --crd-versions latest older ones.
    #[arg(long, env = "CRD_PATTERN", default_value = "", value_name = "PATTERN")]
    crd_pattern: CrdPattern,

    /// Whether the operator installs and updates CRDs. With 'none' they are yours (see 'armature crds'), and only
    /// their conversion is pointed at the operator.
    #[arg(long, value_enum, default_value_t = CrdManagement::Auto)]
    crd_management: CrdManagement,

    /// API versions to serve of each kind: all, or the newest stable one beside those that the pattern names and those
    /// by which stored objects were written.
    #[arg(long, value_enum, default_value_t = VersionChoice::All)]
    crd_versions: VersionChoice,

    /// Labels on the CRDs that the operator installs: name=value, several separated by commas or semicolons.
    #[arg(
        long,
        default_value = "",
        value_name = "LABELS",
        hide_default_value = true
    )]
    crd_labels: CrdLabels,

    /// Put Azure's descriptions of properties into the CRDs that the operator installs, for kubectl explain. The API server's memory
    /// pays for them; `armature explain` has them without.
    #[arg(long)]
    crd_descriptions: bool,

    /// Mark versions that Azure retires as deprecated in the CRDs that the operator installs: whoever writes or reads an object at one
    /// is warned, with the day and the version to use.
    #[arg(long)]
    crd_deprecations: bool,

    /// What this process does: manage objects, keep CRDs and serve their conversion, or both. Where several operators
    /// share a cluster, one has webhooks and the others watchers.
    /// Without it watchers-and-webhooks.
    #[arg(
        long,
        env = "AZURE_OPERATOR_MODE",
        value_enum,
        ignore_case = true,
        value_name = "MODE"
    )]
    operator_mode: Option<OperatorMode>,

    /// Namespace of the operator itself. It must exist; the webhook's certificate is kept there.
    #[arg(long, env = "POD_NAMESPACE", value_name = "NAMESPACE")]
    namespace: String,

    /// Manage objects in these namespaces only, separated by commas; all namespaces when empty.
    #[arg(
        long,
        env = "AZURE_TARGET_NAMESPACES",
        value_delimiter = ',',
        value_name = "NAMESPACE"
    )]
    target_namespaces: Vec<String>,

    /// Policy of objects that have no annotation serviceoperator.azure.com/reconcile-policy, in namespaces that have
    /// none: manage, skip or detach-on-delete. Without it manage.
    #[arg(long, env = "DEFAULT_RECONCILE_POLICY", value_parser = policy, value_name = "POLICY")]
    default_reconcile_policy: Option<Policy>,

    /// ARM ids below which everything must be that objects are for or refer to, with commas or spaces between them, in namespaces
    /// that have no annotation armature.azure.com/allowed-scopes; 'none' allows nothing there. Without it everything is allowed.
    #[arg(long, env = "ALLOWED_SCOPES", value_parser = AllowedScopes::parse, value_name = "IDS")]
    allowed_scopes: Option<AllowedScopes>,

    /// What becomes of ids outside of the scopes that only a whole request shows, in its path and in texts of its body that are no
    /// references: 'enforce' sends nothing, 'warn' sends it and tells by an event. References and the place of the resource are
    /// refused either way.
    #[arg(long, env = "ALLOWED_SCOPES_MODE", default_value = "enforce", value_parser = Enforcement::parse, value_name = "MODE")]
    allowed_scopes_mode: Enforcement,

    /// How names of labels and annotations must begin that objects have put on the Secrets and ConfigMaps they export to, with commas or
    /// spaces between them; 'none' allows no labels and annotations. Without it all are allowed.
    #[arg(long, env = "ARMATURE_EXPORT_METADATA", default_value = "", value_parser = ExportBounds::parse, hide_default_value = true, value_name = "PREFIXES")]
    export_metadata: ExportBounds,

    /// How often a ready resource is compared with Azure: a duration such as 1h or 15m, or 'never'. Without it every hour,
    /// and once a day those whose changes Azure Resource Graph tells of (--graph-period).
    #[arg(long, env = "AZURE_SYNC_PERIOD", value_parser = sync_period, value_name = "DURATION")]
    sync_period: Option<SyncPeriod>,

    /// How often Azure Resource Graph is asked what changed in all subscriptions of a credential: a duration, or 'never'. It
    /// is asked more rarely, or never, where reading costs fewer requests.
    #[arg(long, env = "ARMATURE_GRAPH_PERIOD", default_value = "100s", value_parser = sync_period, value_name = "DURATION")]
    graph_period: SyncPeriod,

    /// Objects of one kind that are reconciled at the same time; 0, and nothing, for no limit but that of all kinds together,
    /// which they share by turns.
    #[arg(long, env = "MAX_CONCURRENT_RECONCILES", value_name = "N")]
    max_concurrent_reconciles: Option<usize>,

    /// How long an update waits while Azure does not say the end of what it is doing: a provisioningState such as Updating, a
    /// new resource that does not appear, an operation that cannot be followed. Then it is sent all the same, and Azure
    /// refuses it if something does run.
    #[arg(long, env = "LONGEST_HOLD_BEFORE_PUT", default_value = "1h", value_parser = duration, value_name = "DURATION")]
    longest_hold_before_put: Duration,

    /// How long a deletion waits for the same.
    #[arg(long, env = "LONGEST_HOLD_BEFORE_DELETE", default_value = "5m", value_parser = duration, value_name = "DURATION")]
    longest_hold_before_delete: Duration,
    /// Objects of all kinds that are reconciled at the same time.
    #[arg(long, env = "ARMATURE_WORKERS", default_value_t = WORKERS, value_name = "N")]
    workers: usize,

    /// Requests to Azure for each subscription and credential: how many are sent at once, and how many a second after that,
    /// of reads, writes and deletes. What is left out is as Azure's own limits are, which is the default for all.
    #[arg(
        long,
        env = "ARMATURE_ARM_BUDGET",
        default_value = DEFAULT_BUDGET,
        value_parser = budget,
        value_name = "BUDGET"
    )]
    arm_budget: Limits,

    /// Memory that conversion reviews may take together: bytes, or a quantity such as 256Mi. A list takes its size, further
    /// ones wait, and one that is larger is refused.
    #[arg(
        long,
        env = "ARMATURE_CONVERSION_MEMORY",
        default_value = "256Mi",
        value_parser = quantity,
        value_name = "BYTES"
    )]
    conversion_memory: u64,

    /// Port of the conversion webhook, on all addresses.
    #[arg(long, default_value_t = 9443, value_name = "PORT")]
    webhook_port: u16,

    /// Address and port of the conversion webhook, instead of --webhook-port.
    #[arg(long, value_name = "ADDRESS:PORT")]
    webhook_listen: Option<SocketAddr>,

    /// URL at which the API server reaches the webhook, when it is not through a Service: for example
    /// 'https://127.0.0.1:9443/convert' for an operator beside the API server.
    #[arg(long, value_name = "URL")]
    webhook_url: Option<String>,

    /// Service in the operator's namespace through which the API server reaches the webhook.
    #[arg(long, default_value = "armature-webhook", value_name = "NAME")]
    webhook_service: String,

    /// Port of that Service.
    #[arg(long, default_value_t = 443, value_name = "PORT")]
    webhook_service_port: u16,

    /// Secret in the operator's namespace in which the webhook's certificate is kept.
    #[arg(
        long,
        default_value = "armature-webhook-certificate",
        value_name = "NAME"
    )]
    webhook_secret: String,

    /// How often that Secret is looked at: the certificate may expire soon, or another replica may have renewed it.
    #[arg(long, default_value = "10m", value_parser = duration, value_name = "DURATION")]
    certificate_check: Duration,

    /// How long conversion is served after SIGTERM, until the API server has learned to go to other replicas.
    #[arg(long, default_value = "5s", value_parser = duration, value_name = "DURATION")]
    shutdown_delay: Duration,

    /// Time from an update of a CRD's storage version to the rewriting of objects that are stored at older ones: until every
    /// API server of the cluster knows the new one.
    #[arg(long, default_value = "30s", value_parser = duration, value_name = "DURATION")]
    storage_migration_delay: Duration,

    /// Let one of several replicas manage objects while the others wait; all of them serve conversion.
    #[arg(long)]
    enable_leader_election: bool,

    /// Address and port of /healthz and /readyz; '0' serves none.
    #[arg(long, default_value = "0.0.0.0:8081", value_parser = optional_address, value_name = "ADDRESS:PORT")]
    health_addr: OptionalAddress,

    /// Address and port of /metrics for Prometheus, in plain HTTP unless --metrics-authentication; '0' serves none.
    #[arg(long, default_value = "0", value_parser = optional_address, value_name = "ADDRESS:PORT")]
    metrics_addr: OptionalAddress,

    /// Serve /metrics over HTTPS, to those who prove themselves with a token of the cluster (TokenReview) and may get the
    /// URL /metrics by its roles (SubjectAccessReview).
    #[arg(long)]
    metrics_authentication: bool,

    /// Service in the operator's namespace by which /metrics is read: the certificate is issued for its names. Where conversion is
    /// served it is the webhook's, else one of its own, kept in the Secret NAME-certificate.
    #[arg(long, value_name = "NAME")]
    metrics_service: Option<String>,

    /// Serve CPU profiles of this process at /debug/pprof/profile?seconds=N beside /metrics, as go tool pprof reads them, to those who
    /// may get that URL. Needs --metrics-authentication.
    #[arg(long, requires = "metrics_authentication")]
    profiling_metrics: bool,

    /// The oldest version of TLS that webhook and metrics take, 1.2 or 1.3; also VersionTLS12 or VersionTLS13, as Go has them.
    #[arg(long, env = "TLS_MIN_VERSION", default_value_t, value_name = "VERSION")]
    tls_min_version: TlsVersion,

    /// Folder with a file for each AZURE_… variable of the operator's own credential, such as a mounted Secret. Files come
    /// before variables, and are read again while the operator runs.
    #[arg(long, env = "ARMATURE_CREDENTIAL_FOLDER", value_name = "FOLDER")]
    credential_folder: Option<PathBuf>,

    /// PEM file of certificate authorities to trust for Azure beside the system's.
    #[arg(long, env = "ARMATURE_ARM_CA_FILE", value_name = "FILE")]
    arm_ca_file: Option<PathBuf>,

    /// URL of an OpenTelemetry collector that takes OTLP over HTTP, for example 'http://collector:4318': it is sent a
    /// span for each pass over an object and each request to Azure.
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_name = "URL")]
    otlp_endpoint: Option<CollectorUrl>,

    /// Log one JSON object per line.
    #[arg(long)]
    json_logging: bool,

    /// Log more; twice for everything.
    #[arg(short, long, action = ArgAction::Count)]
    verbose: u8,
}

/// What an operator starts with, or what is wrong with its settings.
type Config = anyhow::Result<OperatorConfig>;

impl RunArguments {
    /// Runs the operator until SIGTERM or Ctrl-C.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("cannot start the async runtime")?;
        let traces = self.otlp_endpoint.as_ref();
        let traces = traces.map(|url| Traces::start(url, runtime.handle()));
        let traces = traces.transpose()?;
        crate::logging::initialise(self.json_logging, self.verbose, traces.as_ref());
        runtime.block_on(async {
            let code = self.until_stopped().await;
            if let Some(traces) = traces {
                traces.finish().await;
            }
            code
        })
    }

    async fn until_stopped(self) -> anyhow::Result<ExitCode> {
        let stop = stop_on_signal()?;
        let kubernetes = kube::Config::infer().await.context(
            "cannot find out how to reach Kubernetes; set KUBECONFIG or run inside a cluster",
        )?;
        let told = self.told(&kubernetes).await?;
        let changes = settings::changes(self.credential_folder.clone(), told.beside.clone());
        let config = self.config(kubernetes, told)?;
        if config.arm.other_clouds {
            tracing::warn!("{}", azure::ANY_CLOUD);
        }
        let starting = stop.run_until_cancelled(Operator::start(config));
        let Some(started) = starting.await else {
            return Ok(ExitCode::SUCCESS);
        };
        let mut operator = started?;
        let code = tokio::select! {
            () = stop.cancelled() => ExitCode::SUCCESS,
            // Whoever runs us starts us again.
            () = operator.ended() => ExitCode::FAILURE,
            key = changes => {
                tracing::warn!(
                    "{key} in Secret {SECRET} is not what it was: the operator ends, and starts anew with what the Secret says now"
                );
                ExitCode::SUCCESS
            }
        };
        operator.stop().await;
        Ok(code)
    }

    /// The configuration that flags, environment and Secret describe.
    fn config(self, kubernetes: kube::Config, told: StartSettings) -> Config {
        let any = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let parsed = Parsed::of(&told.chosen)?;
        let variable = |name: &str| settings::variable(&told.chosen, name);
        let credential = (self.credential_folder, told.beside);
        Ok(OperatorConfig {
            kubernetes,
            kinds: armature_generated::KINDS,
            arm: azure::of_operator(credential, self.arm_ca_file, variable)?,
            mode: parsed.mode,
            namespace: self.namespace,
            target_namespaces: parsed.namespaces,
            crd_management: self.crd_management,
            crd_pattern: self.crd_pattern,
            crd_versions: self.crd_versions,
            crd_labels: self.crd_labels,
            crd_descriptions: self.crd_descriptions,
            crd_deprecations: self.crd_deprecations,
            webhook_listen: self
                .webhook_listen
                .unwrap_or(SocketAddr::new(any, self.webhook_port)),
            webhook_reach: match self.webhook_url {
                Some(url) => WebhookReach::Url(url),
                None => WebhookReach::Service {
                    name: self.webhook_service,
                    port: self.webhook_service_port,
                },
            },
            webhook_secret: self.webhook_secret,
            certificate_check: self.certificate_check,
            storage_migration_delay: self.storage_migration_delay,
            shutdown_delay: self.shutdown_delay,
            time: Time::default(),
            today,
            leader_election: self.enable_leader_election.then(LeaseTimes::default),
            health_listen: self.health_addr.0,
            metrics_listen: self.metrics_addr.0,
            metrics_readers: metrics_readers(self.metrics_authentication),
            metrics_service: self.metrics_service,
            profiling: self.profiling_metrics,
            tls_min_version: self.tls_min_version,
            default_policy: parsed.policy,
            allowed_scopes: self.allowed_scopes,
            allowed_scopes_mode: self.allowed_scopes_mode,
            export_bounds: self.export_metadata,
            sync_period: parsed.sync_period.map_or(Some(SYNC_PERIOD), |set| set.0),
            // Whoever says how often to look is taken at their word.
            longest_rest: parsed.sync_period.is_none().then_some(LONGEST_REST),
            graph_period: self.graph_period.0,
            max_concurrent_reconciles: parsed.concurrency,
            longest_hold_before_put: self.longest_hold_before_put,
            longest_hold_before_delete: self.longest_hold_before_delete,
            workers: self.workers,
            arm_budget: self.arm_budget,
            conversion_memory: self.conversion_memory,
        })
    }
}

/// A token that is cancelled by SIGTERM or Ctrl-C. A second signal ends the process at once.
fn stop_on_signal() -> anyhow::Result<CancellationToken> {
    let mut signals = StopSignals::listen().context("cannot listen for signals to end")?;
    let stop = CancellationToken::new();
    let cancelled = stop.clone();
    tokio::spawn(async move {
        signals.next().await;
        tracing::info!("stopping");
        cancelled.cancel();
        signals.next().await;
        std::process::exit(1);
    });
    Ok(stop)
}

fn metrics_readers(are_asked: bool) -> MetricsReaders {
    match are_asked {
        true => MetricsReaders::Authenticated,
        false => MetricsReaders::Anyone,
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use clap::{Command, FromArgMatches};

    use super::*;

    /// What flags tell an operator.
    pub async fn configured(kubernetes: kube::Config, flags: &[&str]) -> OperatorConfig {
        let command = RunArguments::augment_args(Command::new("run"));
        let matches = command.get_matches_from(["run"].iter().chain(flags));
        let arguments = RunArguments::from_arg_matches(&matches).unwrap();
        let told = arguments.told(&kubernetes).await.unwrap();
        arguments.config(kubernetes, told).unwrap()
    }
}

//! What an operator is told.

use std::net::SocketAddr;
use std::time::Duration;

use armature_runtime::azure::ClientSettings;
use armature_runtime::azure::budget::Limits;
use armature_runtime::kind::KindInfo;
use armature_runtime::kubernetes::{CrdLabels, CrdPattern, LeaseTimes, TlsVersion};
use armature_runtime::reconcile::allowed_scopes::{AllowedScopes, Enforcement};
use armature_runtime::reconcile::export_target::ExportBounds;
use armature_runtime::reconcile::policy::Policy;
use armature_runtime::reconcile::time::Time;
use jiff::civil::Date;

/// Whether the operator installs CRDs (ASO behaviour §5.1, `--crd-management`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CrdManagement {
    /// Install what the pattern names and update what is installed.
    #[default]
    Auto,
    /// Trust what is installed; only point its conversion at the webhook.
    None,
}

/// Which parts of an operator run in this process (ASO behaviour §5.2, `AZURE_OPERATOR_MODE`). Where several
/// operators share a cluster, one serves conversion and keeps the CRDs, and the others only manage objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum OperatorMode {
    /// Everything.
    #[default]
    WatchersAndWebhooks,
    /// Manages objects; leaves CRDs and their conversion to another operator.
    Watchers,
    /// Keeps the CRDs and serves their conversion; manages nothing.
    Webhooks,
}

impl OperatorMode {
    /// Whether objects are managed.
    pub fn manages_objects(self) -> bool {
        self != Self::Webhooks
    }

    /// Whether conversion is served, and with it the CRDs are kept.
    pub fn serves_conversion(self) -> bool {
        self != Self::Watchers
    }
}

/// Which API versions of a kind are served. Fewer versions cost the API server less memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum VersionChoice {
    /// All of them.
    #[default]
    All,
    /// The newest stable one, those that the CRD pattern names, and those by which stored objects were written.
    Latest,
}

/// Who may read `/metrics`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetricsReaders {
    /// Whoever reaches it, in plain HTTP.
    #[default]
    Anyone,
    /// Who may `get` the URL `/metrics` by the cluster's roles and proves itself with a token of the cluster, over HTTPS.
    Authenticated,
}

/// Memory for conversion reviews unless something else is said: 256 MiB.
pub const CONVERSION_MEMORY: u64 = 256 << 20;

/// How often a ready resource is compared with Azure unless something else is said.
pub const SYNC_PERIOD: Duration = Duration::from_secs(3600);

/// How often one is, at least, whose changes Azure Resource Graph tells of, unless something else is said.
pub const LONGEST_REST: Duration = Duration::from_secs(24 * 3600);

/// How the API server reaches the conversion webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookReach {
    /// Through a Service in the operator's namespace.
    Service {
        /// Name of the Service.
        name: String,
        /// Port of the Service.
        port: u16,
    },
    /// At a URL that ends in `/convert`.
    Url(String),
    /// On this machine, at the port that the operator listens on.
    Loopback,
}

/// Everything an operator is told. [`crate::command::run::RunArguments`] makes one from flags and environment.
#[derive(Clone, Debug)]
pub struct OperatorConfig {
    /// How to reach the Kubernetes API.
    pub kubernetes: kube::Config,
    /// Kinds that the operator knows.
    pub kinds: &'static [&'static KindInfo],
    /// Azure: cloud, identity, trusted authorities.
    pub arm: ClientSettings,
    /// What this process does.
    pub mode: OperatorMode,
    /// The operator's own namespace (`POD_NAMESPACE`); it exists.
    pub namespace: String,
    /// Namespaces whose objects are managed; all when empty.
    pub target_namespaces: Vec<String>,
    /// Whether CRDs are installed.
    pub crd_management: CrdManagement,
    /// Which CRDs are installed beside those that are there.
    pub crd_pattern: CrdPattern,
    /// Which versions of each kind are served.
    pub crd_versions: VersionChoice,
    /// Labels on the CRDs that are installed.
    pub crd_labels: CrdLabels,
    /// Whether the CRDs that are installed have Azure's descriptions in their schemas.
    pub crd_descriptions: bool,
    /// Whether the CRDs that are installed mark versions that Azure retires as deprecated.
    pub crd_deprecations: bool,
    /// Where the conversion webhook listens.
    pub webhook_listen: SocketAddr,
    /// How the API server reaches it.
    pub webhook_reach: WebhookReach,
    /// Secret in [`OperatorConfig::namespace`] with the webhook's certificate.
    pub webhook_secret: String,
    /// How often that Secret is looked at, for certificates that expire soon or that another replica renewed.
    pub certificate_check: Duration,
    /// Time from a change of a storage version to the migration of stored objects: until every API server of the
    /// cluster stores objects at it.
    pub storage_migration_delay: Duration,
    /// By which reconciling waits.
    pub time: Time,
    /// How long conversion is served after the operator is told to stop: until nobody is sent here any more.
    pub shutdown_delay: Duration,
    /// Today's date in UTC, by which certificates expire.
    pub today: fn() -> Date,
    /// Whether replicas elect one that manages objects. Conversion is served by all of them.
    pub leader_election: Option<LeaseTimes>,
    /// Where `/healthz` and `/readyz` are served, if anywhere.
    pub health_listen: Option<SocketAddr>,
    /// Where `/metrics` is served, if anywhere.
    pub metrics_listen: Option<SocketAddr>,
    /// Who may read `/metrics`.
    pub metrics_readers: MetricsReaders,
    /// Service by which those who prove themselves read `/metrics`: the certificate is for it, too.
    pub metrics_service: Option<String>,
    /// Whether those who prove themselves may have a CPU profile, too.
    pub profiling: bool,
    /// The oldest version of TLS that webhook and metrics take.
    pub tls_min_version: TlsVersion,
    /// Policy of objects that have none, in namespaces that have none.
    pub default_policy: Policy,
    /// ARM ids below which everything must be that objects are for or refer to, in namespaces that do not say; everything
    /// is allowed when absent.
    pub allowed_scopes: Option<AllowedScopes>,
    /// What becomes of ids outside of the scopes that only a whole request shows.
    pub allowed_scopes_mode: Enforcement,
    /// Which labels and annotations exports may have.
    pub export_bounds: ExportBounds,
    /// How often a resource that is ready is compared with Azure; never when absent.
    pub sync_period: Option<Duration>,
    /// How often one is that Azure Resource Graph shows, whose changes it tells of; as often as others when absent.
    pub longest_rest: Option<Duration>,
    /// How often Azure Resource Graph is asked what changed, at most; never when absent, or without a sync period.
    pub graph_period: Option<Duration>,
    /// Objects of one kind that are reconciled at the same time; when absent, as many as of all kinds.
    pub max_concurrent_reconciles: Option<usize>,
    /// How long a PUT waits for something in Azure whose end Azure does not say.
    pub longest_hold_before_put: Duration,
    /// How long a DELETE does.
    pub longest_hold_before_delete: Duration,
    /// Objects of all kinds that are reconciled at the same time.
    pub workers: usize,
    /// How many requests are sent to Azure for each subscription and credential.
    pub arm_budget: Limits,
    /// Bytes of memory that conversion reviews take at the same time.
    pub conversion_memory: u64,
}

/// Whether an operator of this configuration migrates stored objects to the storage version of now: if it keeps the CRDs
/// and is not limited to some namespaces, because it must see all objects.
pub fn migrates_storage(
    mode: OperatorMode,
    crd_management: CrdManagement,
    target_namespaces: &[String],
) -> bool {
    mode.serves_conversion()
        && crd_management == CrdManagement::Auto
        && target_namespaces.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_keeps_the_crds_and_sees_all_objects_migrates_what_is_stored() {
        let (auto, none) = (CrdManagement::Auto, CrdManagement::None);
        let team = ["team".to_owned()];
        let rows = [
            (OperatorMode::WatchersAndWebhooks, auto, &[][..], true),
            (OperatorMode::Webhooks, auto, &[], true),
            (OperatorMode::Watchers, auto, &[], false),
            (OperatorMode::WatchersAndWebhooks, none, &[], false),
            (OperatorMode::WatchersAndWebhooks, auto, &team, false),
        ];
        for (mode, management, namespaces, expected) in rows {
            let migrates = migrates_storage(mode, management, namespaces);
            assert_eq!(migrates, expected, "{mode:?} {management:?} {namespaces:?}");
        }
    }
}

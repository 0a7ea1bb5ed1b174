//! Puts the parts of an operator together, starts them and stops them.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use armature_runtime::engine::crd::WebhookEndpoint;
use armature_runtime::kubernetes::{
    Amend, AppliedCrds, CertificateStore, Clients, CrdInstaller, Election, EventRecorder, Material,
    Readers, Replica, ServingCertificate, StorageMigration, WatchEnded, Watches, Webhook,
};
use armature_runtime::reconcile::fence::Fence;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::config::{MetricsReaders, OperatorConfig, migrates_storage};
use crate::crds::CrdKeeper;
use crate::descriptions::describe;
use crate::descriptions::retirements::deprecate;
use crate::health::Readiness;
use crate::manager::Manager;
use crate::metrics::{self, Endpoint, Profiles};
use crate::migration::{self, Migrator};
use crate::pass_threads::PassThreads;
use crate::start_error::StartError;
use crate::webhook::{self, Certificates};

/// Longest wait for running work when stopping.
const STOP_LIMIT: Duration = Duration::from_secs(18);

/// What events have of that at least.
const EVENTS_LIMIT: Duration = Duration::from_secs(2);

/// Name of the Lease. It is also that of Azure Service Operator (ASO behaviour §5.4): the two never work at once
/// in one namespace.
const LEASE: &str = "controllers-leader-election-azinfra-generated";

/// A running operator. Dropping it stops it without waiting.
pub struct Operator {
    stop: CancellationToken,
    tasks: JoinSet<()>,
    webhook: Option<SocketAddr>,
    metrics: Option<SocketAddr>,
    /// The webhook's.
    certificate: Option<Arc<ServingCertificate>>,
    readiness: Readiness,
    /// Writes the events of objects.
    events: Option<EventRecorder>,
    /// Threads of passes, which end after all else.
    threads: Option<Arc<PassThreads>>,
}

impl Operator {
    /// Starts an operator: serves conversion, installs CRDs, then manages objects, as far as its mode says. Returns
    /// when conversion is served and there are CRDs; where there were some, they are updated in the background.
    pub async fn start(config: OperatorConfig) -> Result<Self, StartError> {
        let mut operator = Self {
            stop: CancellationToken::new(),
            tasks: JoinSet::new(),
            webhook: None,
            metrics: None,
            certificate: None,
            readiness: Readiness::waiting_for("the Kubernetes API"),
            events: None,
            threads: None,
        };
        if let Some(address) = config.health_listen {
            let listener = listen(address, "the health endpoints").await?;
            let serving =
                crate::health::serve(listener, operator.readiness.clone(), operator.stop.clone());
            operator.tasks.spawn(serving);
        }
        operator
            .tasks
            .spawn(crate::memory::keep_small(operator.stop.clone()));
        let watches = Watches::count(config.kinds.len(), config.target_namespaces.len());
        let clients = Clients::connect(&config.kubernetes, watches)?;
        if config.mode.serves_conversion() {
            operator.serve_conversion(&config, &clients).await?;
        }
        operator.manage(&config, clients).await?;
        tracing::info!(mode = ?config.mode, webhook = ?operator.webhook, "running");
        Ok(operator)
    }

    /// Where the conversion webhook listens, if anywhere.
    pub fn webhook_address(&self) -> Option<SocketAddr> {
        self.webhook
    }

    /// Where `/metrics` is served, if anywhere.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics
    }

    /// Resolves when a part of the operator ends by itself, which none should.
    pub async fn ended(&mut self) {
        match self.tasks.join_next().await {
            Some(Err(error)) => tracing::error!(%error, "a part of the operator failed"),
            _ => tracing::error!("a part of the operator ended"),
        }
    }

    /// Stops the operator; running work is finished and events are written, for a limited time.
    pub async fn stop(mut self) {
        self.stop.cancel();
        let limit = Instant::now() + STOP_LIMIT;
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout_at(limit, all).await.is_err() {
            tracing::warn!("running work did not end in time and was cut off");
            self.tasks.shutdown().await;
        }
        if let Some(events) = self.events.take() {
            events
                .finish(limit.max(Instant::now() + EVENTS_LIMIT))
                .await;
        }
        drop(self.threads.take());
    }

    /// Serves metrics, and manages objects in the background unless the mode says otherwise; with leader election,
    /// from the moment on which this replica leads.
    async fn manage(
        &mut self,
        config: &OperatorConfig,
        clients: Clients,
    ) -> Result<(), StartError> {
        let election = election(config, &clients, LEASE);
        let fence = election.as_ref().map_or_else(Fence::open, Election::fence);
        let client = clients.requests().clone();
        let manager = Manager::new(config, clients, fence, self.stop.clone())?;
        self.events = Some(manager.events());
        self.threads = Some(manager.threads());
        if let Some(address) = config.metrics_listen {
            let listener = listen(address, "metrics").await?;
            self.metrics = listener.local_addr().ok();
            let endpoint = self
                .metrics_endpoint(config, listener, client, manager.registry())
                .await?;
            self.tasks.spawn(endpoint.run(self.stop.clone()));
        }
        if !config.mode.manages_objects() {
            self.readiness.ready("serves conversion");
            return Ok(());
        }
        let stop = self.stop.clone();
        let readiness = self.readiness.clone();
        match election {
            None => {
                readiness.manages(manager.unseen());
                self.tasks.spawn(async move {
                    let watches = manager.watch(stop.clone());
                    see_and_do(watches, manager.manage(stop)).await;
                })
            }
            Some(election) => {
                readiness.ready(format!(
                    "waits for the Lease {}/{LEASE} to manage objects",
                    config.namespace
                ));
                self.tasks.spawn(lead(election, manager, readiness, stop))
            }
        };
        Ok(())
    }

    /// Where `/metrics` is served to those who may read it. Its certificate is the webhook's where there is one, else one for the
    /// Service of the metrics, which an authority of ours has issued, too.
    async fn metrics_endpoint(
        &mut self,
        config: &OperatorConfig,
        listener: TcpListener,
        client: kube::Client,
        registry: Registry,
    ) -> Result<Endpoint, StartError> {
        if config.metrics_readers == MetricsReaders::Anyone {
            return Ok(Endpoint::plain(listener, registry));
        }
        let certificate = match (&self.certificate, &config.metrics_service) {
            (Some(certificate), _) => Arc::clone(certificate),
            (None, Some(service)) => {
                let kept = metrics::Certificate::begin(config, client.clone(), service).await?;
                let serving = kept.serving();
                self.tasks.spawn(kept.run(self.stop.clone()));
                serving
            }
            (None, None) => {
                let own = Material::issue(&["localhost".to_owned()], (config.today)())?;
                Arc::new(ServingCertificate::new(&own)?)
            }
        };
        let readers = Readers::new(client.clone(), metrics::PATH);
        let profiles = config
            .profiling
            .then(|| Profiles::new(client, self.stop.clone()));
        Ok(Endpoint::guarded(
            listener,
            registry,
            certificate,
            config.tls_min_version,
            readers,
            profiles,
        )?)
    }

    /// Serves conversion and makes the CRDs use it.
    async fn serve_conversion(
        &mut self,
        config: &OperatorConfig,
        clients: &Clients,
    ) -> Result<(), StartError> {
        let listener = listen(config.webhook_listen, "the conversion webhook").await?;
        let bound = listener.local_addr().unwrap_or(config.webhook_listen);
        self.webhook = Some(bound);
        let endpoint = webhook::endpoint(config, bound);
        let client = clients.requests();
        let installer =
            CrdInstaller::new(client.clone(), endpoint.clone(), config.crd_labels.clone());
        let certificates = self
            .certificates(config, client, &endpoint, &installer)
            .await?;
        let webhook = Webhook::new(
            listener,
            Arc::clone(&certificates.serving),
            config.tls_min_version,
            config.kinds,
            config.conversion_memory,
        )?;
        let replica = Replica::new(client.clone(), &config.namespace, &host(), config.kinds);
        replica.announce().await?;
        let serving = webhook::serve(
            webhook,
            replica.clone(),
            config.shutdown_delay,
            self.stop.clone(),
        );
        self.tasks.spawn(serving);
        let additions: [(bool, &str, Amend); 2] = [
            (config.crd_descriptions, "descriptions", describe),
            (config.crd_deprecations, "deprecations", deprecate),
        ];
        let wanted = additions.into_iter().filter(|(is_wanted, ..)| *is_wanted);
        let installer = wanted.fold(installer, |installer, (_, name, amend)| {
            installer.amended(name, amend)
        });
        self.keep_crds(config, clients, installer, certificates, replica)
            .await
    }

    /// The certificate that the webhook serves, kept in its Secret.
    async fn certificates(
        &mut self,
        config: &OperatorConfig,
        client: &kube::Client,
        endpoint: &WebhookEndpoint,
        installer: &CrdInstaller,
    ) -> Result<Certificates, StartError> {
        let mut names =
            webhook::certificate_names(endpoint).map_err(|reason| StartError::WebhookUrl {
                url: format!("{endpoint:?}"),
                reason,
            })?;
        // Metrics are served with it, too.
        let metrics = config.metrics_service.iter();
        names.extend(metrics.flat_map(|it| webhook::service_names(it, &config.namespace)));
        let store = CertificateStore::new(
            client.clone(),
            &config.namespace,
            &config.webhook_secret,
            names,
        );
        self.readiness.waits_for(format!(
            "the webhook's certificate in Secret {}/{}",
            config.namespace, config.webhook_secret
        ));
        // Other replicas serve the former certificate until they see the new one.
        let trusted = match store.exists().await? {
            true => None,
            false => installer.trusted(config.kinds).await?,
        };
        let current = store.ensure((config.today)(), trusted.as_deref()).await?;
        let serving = Arc::new(ServingCertificate::new(&current)?);
        self.certificate = Some(Arc::clone(&serving));
        Ok(Certificates {
            store,
            serving,
            current,
            today: config.today,
        })
    }

    /// Keeps the CRDs, and migrates stored objects where that is this operator's to do. Returns when there are CRDs.
    async fn keep_crds(
        &mut self,
        config: &OperatorConfig,
        clients: &Clients,
        installer: CrdInstaller,
        certificates: Certificates,
        replica: Replica,
    ) -> Result<(), StartError> {
        let migration = StorageMigration::new(clients.requests().clone());
        let namespaces = &config.target_namespaces;
        let (migrator, told) = migrates_storage(config.mode, config.crd_management, namespaces)
            .then(|| Migrator::new(migration, config.storage_migration_delay))
            .unzip();
        let client = clients.requests().clone();
        let applied = AppliedCrds::new(client, &config.namespace, &config.webhook_secret);
        let mut keeper = CrdKeeper::new(
            config,
            installer,
            applied,
            certificates,
            replica.clone(),
            told,
        );
        if let Err(error) = keeper.begin(&self.readiness).await {
            replica.leave().await;
            return Err(error);
        }
        let stop = self.stop.clone();
        self.tasks.spawn(async move { replica.stay(stop).await });
        self.tasks.spawn(keeper.run(self.stop.clone()));
        if let Some(migrator) = migrator {
            let election = election(config, clients, migration::LEASE);
            self.tasks.spawn(migrator.run(election, self.stop.clone()));
        }
        Ok(())
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Watches objects, and manages them while this replica leads. Ends when told to stop, or when the Lease is lost.
async fn lead(
    mut election: Election,
    manager: Manager,
    readiness: Readiness,
    stop: CancellationToken,
) {
    let watches = manager.watch(stop.clone());
    let working = async move {
        if !election.acquire(&stop).await {
            return;
        }
        readiness.manages(manager.unseen());
        tokio::select! {
            biased;
            lost = election.hold() => {
                // Running work is cut off: another replica may begin it any moment.
                tracing::error!("{lost}");
                return;
            }
            () = manager.manage(stop) => {}
        }
        election.release().await;
    };
    see_and_do(watches, working).await;
}

/// Works as long as watches tell what there is to do. They end when told to stop; work that runs then is finished. Without them
/// it ends at once, and the process with it.
async fn see_and_do(
    watches: impl Future<Output = Result<(), WatchEnded>>,
    working: impl Future<Output = ()>,
) {
    let (mut watches, mut working) = (pin!(watches), pin!(working));
    tokio::select! {
        () = &mut working => {}
        ended = &mut watches => match ended {
            Ok(()) => working.await,
            Err(error) => tracing::error!("{error}"),
        },
    }
}

/// An election for a Lease, where replicas elect.
fn election(config: &OperatorConfig, clients: &Clients, lease: &str) -> Option<Election> {
    let client = clients.lease().clone();
    let elect = |times| Election::new(client, &config.namespace, lease, &host(), times);
    config.leader_election.map(elect)
}

/// What the Leases of this process begin with: in a pod, its name.
fn host() -> String {
    std::env::var("HOSTNAME").unwrap_or_else(|_| "armature".to_owned())
}

async fn listen(address: SocketAddr, purpose: &'static str) -> Result<TcpListener, StartError> {
    TcpListener::bind(address)
        .await
        .map_err(|source| StartError::Listen {
            address,
            purpose,
            source,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::{DRAIN, LAST_WRITES};

    /// The kubelet kills whoever has not ended by then: in between the process itself ends, and logs and spans go out.
    #[test]
    fn a_stop_may_not_take_as_long_as_the_kubelet_waits() {
        let chart = include_str!("../../deploy/chart/templates/deployment.yaml");
        let (_, grace) = chart.split_once("terminationGracePeriodSeconds: ").unwrap();
        let grace = grace.lines().next().unwrap().trim().parse().unwrap();
        let longest = STOP_LIMIT + EVENTS_LIMIT;
        assert!(longest + Duration::from_secs(5) <= Duration::from_secs(grace));
        // Then the Lease is given back.
        assert!(DRAIN + LAST_WRITES < STOP_LIMIT);
    }
}

//! What manages objects: watches, queue and reconciler of one operator.

use std::sync::Arc;
use std::time::Duration;

use armature_runtime::arm;
use armature_runtime::kubernetes::{Clients, Cluster, Watches};
use armature_runtime::reconcile::backoff::{Periods, SystemRandom};
use armature_runtime::reconcile::driver::{Reconciler, Settings};
use armature_runtime::reconcile::queue::{Queue, QueueSettings};
use armature_runtime::reconcile::time::Clock;
use armature_runtime::resource::ObjectKey;
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

use crate::config::OperatorConfig;
use crate::metrics::Metrics;
use crate::operator::StartError;

/// How long passes that run may take to finish when the operator stops: shorter than the limit for the whole
/// operator, so that the Lease can be given back.
const DRAIN: Duration = Duration::from_secs(14);

/// Ready to run.
pub struct Manager {
    queue: Queue,
    reconciler: Reconciler,
    watches: Watches,
    metrics: Metrics,
    cluster: Cluster,
}

impl Manager {
    /// Puts the parts together; nothing is watched yet. `cancellation` tells running passes that the operator
    /// stops.
    pub fn new(
        config: &OperatorConfig,
        clients: Clients,
        cancellation: CancellationToken,
    ) -> Result<Self, StartError> {
        let settings = QueueSettings {
            workers_per_kind: config.max_concurrent_reconciles,
            periods: Periods {
                sync: config.sync_period,
            },
            time: config.time,
            drain: DRAIN,
            ..QueueSettings::default()
        };
        let queue = Queue::new(settings, Arc::new(SystemRandom));
        let woken = queue.clone();
        let wake = Arc::new(move |key: ObjectKey| woken.add(key));
        let cluster = Cluster::new(clients, &config.namespace, config.kinds, wake);
        let arm = arm::Client::new(config.arm.clone(), Arc::new(cluster.clone()))?;
        let metrics = Metrics::new(config.kinds);
        let reconciler = Reconciler {
            kubernetes: metrics.kubernetes(Arc::new(cluster.clone())),
            arm: metrics.transport(Arc::new(arm)),
            budget: Arc::default(),
            extensions: armature_customizations::registry()?,
            expressions: Arc::new(metrics.expressions()),
            clock: Arc::new(config.time),
            since: config.time.now(),
            settings: Settings {
                operator_namespace: config.namespace.clone(),
                operator_version: env!("CARGO_PKG_VERSION").to_owned(),
                default_policy: config.default_policy,
                longest_hold_before_put: config.longest_hold_before_put,
                longest_hold_before_delete: config.longest_hold_before_delete,
            },
            cancellation,
        };
        Ok(Self {
            queue,
            reconciler,
            watches: Watches::new(cluster.clone(), config.target_namespaces.clone()),
            metrics,
            cluster,
        })
    }

    /// What `/metrics` shows of this manager.
    pub fn registry(&self) -> Registry {
        self.metrics.registry(
            self.queue.clone(),
            self.cluster.clone(),
            self.reconciler.budget.clone(),
        )
    }

    /// Watches objects and reconciles them until told to stop; running passes are finished then.
    pub async fn run(self, stop: CancellationToken) {
        // It may have waited for another replica to end.
        let reconciler = Reconciler {
            since: self.reconciler.clock.now(),
            ..self.reconciler
        };
        let work = |key: ObjectKey| {
            let (reconciler, metrics) = (reconciler.clone(), self.metrics.clone());
            async move {
                let pass = reconciler.reconcile(&key);
                metrics.reconcile(key.kind, pass).await
            }
        };
        tokio::join!(
            self.queue.run(work, stop.clone()),
            self.watches.run(stop.clone())
        );
    }
}

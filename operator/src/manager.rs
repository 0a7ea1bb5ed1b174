//! What manages objects: watches, queue and reconciler of one operator.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use armature_runtime::arm::lookout::{Lookout, Parts, Terms};
use armature_runtime::arm::{Arm, FencedTransport};
use armature_runtime::azure;
use armature_runtime::azure::budget::Budget;
use armature_runtime::kubernetes::{Clients, Cluster, EventRecorder, WatchEnded, Watches};
use armature_runtime::reconcile::azure_name;
use armature_runtime::reconcile::backoff::{Periods, SystemRandom};
use armature_runtime::reconcile::driver::{Reconciler, Settings};
use armature_runtime::reconcile::fence::Fence;
use armature_runtime::reconcile::queue::{Look, Queue, QueueSettings};
use armature_runtime::reconcile::remote::Remotes;
use armature_runtime::reconcile::time::{Clock, Time};
use armature_runtime::reconcile::young::Silence;
use prometheus_client::registry::Registry;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::config::OperatorConfig;
use crate::metrics::{Metrics, State};
use crate::pass_threads::{PassThreads, Timed};
use crate::start_error::StartError;
use crate::turn::Turn;

#[cfg(test)]
mod tests;

/// How long passes that run may take to finish when the operator stops: shorter than the limit for the whole
/// operator, so that the Lease can be given back.
pub const DRAIN: Duration = Duration::from_secs(14);

/// How long it may take then to write down what only memory knows.
pub const LAST_WRITES: Duration = Duration::from_secs(2);

/// Ready to run.
pub struct Manager {
    queue: Queue,
    turn: Arc<Turn>,
    reconciler: Reconciler,
    /// How many requests Azure takes, for all objects together.
    budget: Arc<Budget>,
    /// Asks Azure what changed, where that is wanted.
    lookout: Option<Lookout>,
    time: Time,
    threads: Arc<PassThreads>,
    namespaces: Vec<String>,
    metrics: Metrics,
    cluster: Cluster,
}

impl Manager {
    /// Puts the parts together; nothing is watched yet. Nothing is written, to Azure or the cluster, while the fence is
    /// closed. `cancellation` tells running passes that the operator stops.
    pub fn new(
        config: &OperatorConfig,
        clients: Clients,
        fence: Fence,
        cancellation: CancellationToken,
    ) -> Result<Self, StartError> {
        let settings = QueueSettings {
            workers: config.workers,
            workers_per_kind: config.max_concurrent_reconciles,
            periods: Periods {
                sync: config.sync_period,
            },
            time: config.time,
            drain: DRAIN,
        };
        let queue = Queue::new(settings, Arc::new(SystemRandom));
        queue.spare(clients.answers());
        let turn = Arc::new(Turn::new(queue.clone()));
        let cluster = Cluster::new(clients, &config.namespace, config.kinds, turn.clone())
            .fenced_by(fence.clone());
        let arm = azure::Client::new(config.arm.clone(), Arc::new(cluster.clone()))?;
        let metrics = Metrics::new(config.kinds);
        let arm = Arc::new(FencedTransport::new(
            metrics.transport(Arc::new(arm)),
            fence,
        ));
        let budget = Arc::new(Budget::new(config.arm_budget));
        let reconciler = Reconciler {
            kubernetes: metrics.kubernetes(Arc::new(cluster.clone())),
            remotes: Remotes::new(Arc::new(Arm::new(arm.clone(), budget.clone()))),
            extensions: armature_customizations::registry()?,
            deferred: Arc::default(),
            absences: Arc::default(),
            departures: Arc::default(),
            written: Arc::default(),
            left_alone: Arc::default(),
            expressions: Arc::new(metrics.expressions()),
            clock: Arc::new(config.time),
            since: config.time.now(),
            settings: pass_settings(config),
            cancellation,
        };
        let lookout = lookout(config, (arm, budget.clone()), &reconciler, &cluster, &queue);
        Ok(Self {
            queue,
            turn,
            reconciler,
            budget,
            lookout,
            time: config.time,
            threads: Arc::new(PassThreads::start().map_err(StartError::Threads)?),
            namespaces: config.target_namespaces.clone(),
            metrics,
            cluster,
        })
    }

    /// What `/metrics` shows of this manager.
    pub fn registry(&self) -> Registry {
        let state = State::new(
            self.queue.clone(),
            self.cluster.clone(),
            Arc::clone(&self.turn),
        );
        let budget = self.budget.clone();
        let left_alone = self.reconciler.left_alone.clone();
        let lookout = self.lookout.clone();
        self.metrics.registry(state, budget, left_alone, lookout)
    }

    /// Who writes the events of objects: what waits is written at the end.
    pub fn events(&self) -> EventRecorder {
        self.cluster.recorder()
    }

    /// The threads on which it works. Connections that passes have opened end with them.
    pub fn threads(&self) -> Arc<PassThreads> {
        Arc::clone(&self.threads)
    }

    /// Watches objects until told to stop, so that all are known when this replica begins to manage them.
    ///
    /// # Errors
    /// When a watch ended by itself.
    pub fn watch(
        &self,
        stop: CancellationToken,
    ) -> impl Future<Output = Result<(), WatchEnded>> + use<> {
        Watches::new(self.cluster.clone(), self.namespaces.clone()).run(stop)
    }

    /// Says which watches have failed for a minute or longer, so that changes are missed.
    pub fn unseen(&self) -> impl Fn() -> Option<String> + Send + Sync + use<> {
        let cluster = self.cluster.clone();
        move || {
            let missed = cluster.in_step().out_of_step(Instant::now());
            let names: Vec<String> = missed.iter().map(ToString::to_string).collect();
            (!names.is_empty()).then(|| {
                let names = names.join(", ");
                format!("watches have failed for a minute or longer, and changes are missed: {names}; the log says why")
            })
        }
    }

    /// Reconciles the objects that are watched until told to stop; running passes are finished then.
    pub async fn manage(self, stop: CancellationToken) {
        self.turn.begin(self.cluster.cache());
        // It may have waited for another replica to end.
        let reconciler = Reconciler {
            since: self.reconciler.clock.now(),
            ..self.reconciler
        };
        let work = |look: Look| {
            let (reconciler, metrics) = (reconciler.clone(), self.metrics.clone());
            Timed::new(look.clone(), async move {
                let pass = reconciler.look(&look);
                metrics.reconcile(look.key.kind, look.waited, pass).await
            })
        };
        let threads = self.threads;
        self.queue.run_passes_on(threads.handle().clone());
        let (lookout, time) = (self.lookout, self.time);
        let looking_out = async {
            if let Some(lookout) = lookout {
                let told = stop.clone();
                let asking = threads.run(async move { lookout.run(time, told).await });
                // Not waited for at the end: a pass may hold its thread.
                stop.run_until_cancelled(asking).await;
            }
        };
        tokio::join!(self.queue.run(work, stop.clone()), looking_out);
        let writing = threads.run(async move { reconciler.write_deferred().await });
        if timeout(LAST_WRITES, writing).await.is_err() {
            tracing::warn!(
                "not all running operations are written down: the API server is too slow, or a pass holds its thread"
            );
        }
    }
}

/// What passes are told of the operator's configuration.
fn pass_settings(config: &OperatorConfig) -> Settings {
    Settings {
        operator_namespace: config.namespace.clone(),
        operator_version: env!("CARGO_PKG_VERSION").to_owned(),
        default_policy: config.default_policy,
        default_scopes: config.allowed_scopes.clone(),
        scopes_enforcement: config.allowed_scopes_mode,
        export_bounds: config.export_bounds.clone(),
        random_name: azure_name::random,
        longest_hold_before_put: config.longest_hold_before_put,
        longest_hold_before_delete: config.longest_hold_before_delete,
        silence: Silence::LONGEST,
    }
}

/// Who asks Azure what changed, if anybody does: where nothing is looked at without need, nobody.
fn lookout(
    config: &OperatorConfig,
    (arm, budget): (Arc<FencedTransport>, Arc<Budget>),
    reconciler: &Reconciler,
    cluster: &Cluster,
    queue: &Queue,
) -> Option<Lookout> {
    let terms = Terms {
        sync: config.sync_period?,
        rest: config.longest_rest,
        shortest: config.graph_period?,
    };
    let lookout = Lookout::new(Parts {
        arm,
        budget,
        inventory: Arc::new(cluster.clone()),
        readers: Arc::new(queue.clone()),
        written: reconciler.written.clone(),
        clock: reconciler.clock.clone(),
        terms,
    });
    queue.let_rest(lookout.rest());
    Some(lookout)
}

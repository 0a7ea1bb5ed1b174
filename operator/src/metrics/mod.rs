//! What the operator does, in figures that Prometheus reads.
//!
//! | module | what lives here |
//! |---|---|
//! | `azure` | counts requests to ARM |
//! | `budget` | how many requests Azure still takes |
//! | `certificate` | of the endpoint, where no conversion is served |
//! | `controller_runtime` | passes and the queue under the names of controller-runtime |
//! | `cluster` | counts drift, by the events that the driver records |
//! | `drift` | the paths that were changed in Azure |
//! | `endpoint` | serves `/metrics`, to anyone or to those whom the cluster allows |
//! | `expressions` | how often expressions are compiled |
//! | `lookout` | questions to Azure Resource Graph |
//! | `owned` | values that are left to Azure |
//! | `state` | the queue and the objects, looked at when somebody asks |
//!
//! Labels are kinds, methods, statuses and reasons: sets that are known beforehand, and a limited number of
//! subscriptions. Names of objects are none.

mod azure;
mod budget;
mod certificate;
mod cluster;
mod controller_runtime;
mod drift;
mod endpoint;
mod expressions;
mod lookout;
mod owned;
mod state;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use armature_runtime::arm::lookout::Lookout;
use armature_runtime::azure::Transport;
use armature_runtime::azure::budget::Budget;
use armature_runtime::engine::expression::Cache;
use armature_runtime::kind::KindInfo;
use armature_runtime::reconcile::backoff::Requeue;
use armature_runtime::reconcile::left_alone::LeftAlone;
use armature_runtime::reconcile::port::KubernetesPort;
use armature_runtime::resource::Kind;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

pub use certificate::Certificate;
pub use endpoint::{Endpoint, PATH, Profiles};
pub use state::State;

/// Everything that is counted. Clones count together.
#[derive(Clone)]
pub struct Metrics {
    reconciles: Family<ReconcileLabels, Counter>,
    reconcile_seconds: Family<KindLabels, Histogram, Seconds>,
    controllers: controller_runtime::ControllerRuntime,
    requests: azure::Requests,
    expressions: expressions::Expressions,
    drift: Family<KindLabels, Counter>,
    drift_paths: drift::Paths,
    unstable_paths: drift::Paths,
    outside_scopes: Family<KindLabels, Counter>,
    notes_not_believed: Family<KindLabels, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabels {
    group: &'static str,
    kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReconcileLabels {
    group: &'static str,
    kind: &'static str,
    result: &'static str,
}

/// Makes histograms from 5 milliseconds to 80 seconds, where ARM cuts requests off.
#[derive(Clone, Copy)]
struct Seconds;

impl MetricConstructor<Histogram> for Seconds {
    fn new_metric(&self) -> Histogram {
        Histogram::new(exponential_buckets(0.005, 2.0, 15))
    }
}

impl Metrics {
    /// Nothing counted yet, of an operator that knows these kinds.
    pub fn new(kinds: &'static [&'static KindInfo]) -> Self {
        Self {
            reconciles: Family::default(),
            reconcile_seconds: Family::new_with_constructor(Seconds),
            controllers: controller_runtime::ControllerRuntime::default(),
            requests: azure::Requests::new(kinds),
            expressions: expressions::Expressions::default(),
            drift: Family::default(),
            drift_paths: drift::Paths::default(),
            unstable_paths: drift::Paths::default(),
            outside_scopes: Family::default(),
            notes_not_believed: Family::default(),
        }
    }

    /// Requests that are counted on their way to ARM.
    pub fn transport(&self, arm: Arc<dyn Transport>) -> Arc<dyn Transport> {
        Arc::new(azure::Counted::new(arm, self.requests.clone()))
    }

    /// A cluster whose drift events are counted.
    pub fn kubernetes(&self, cluster: Arc<dyn KubernetesPort>) -> Arc<dyn KubernetesPort> {
        Arc::new(cluster::Counted::new(cluster, self.clone()))
    }

    /// A cache of expressions whose use is counted.
    pub fn expressions(&self) -> Cache {
        Cache::observed_by(Arc::new(self.expressions.clone()))
    }

    /// Counts and times one pass, before which its object waited so long for a worker.
    pub async fn reconcile(
        &self,
        kind: Kind,
        waited: Duration,
        pass: impl Future<Output = Requeue>,
    ) -> Requeue {
        let started = Instant::now();
        let requeue = pass.await;
        let took = started.elapsed();
        self.controllers.passed(kind, took, waited, requeue);
        let (group, kind) = (kind.0.group, kind.0.kind);
        let labels = KindLabels { group, kind };
        self.reconcile_seconds
            .get_or_create(&labels)
            .observe(took.as_secs_f64());
        let labels = ReconcileLabels {
            group,
            kind,
            result: requeue.result(),
        };
        self.reconciles.get_or_create(&labels).inc();
        requeue
    }

    fn changes_by_itself(&self, kind: Kind, paths: &[String]) {
        self.unstable_paths.count(kind, paths);
    }

    fn outside_scopes(&self, kind: Kind) {
        let (group, kind) = (kind.0.group, kind.0.kind);
        let labels = KindLabels { group, kind };
        self.outside_scopes.get_or_create(&labels).inc();
    }

    fn notes_not_believed(&self, kind: Kind) {
        let (group, kind) = (kind.0.group, kind.0.kind);
        let labels = KindLabels { group, kind };
        self.notes_not_believed.get_or_create(&labels).inc();
    }

    fn drifted(&self, kind: Kind, paths: &[String]) {
        let labels = KindLabels {
            group: kind.0.group,
            kind: kind.0.kind,
        };
        self.drift.get_or_create(&labels).inc();
        self.drift_paths.count(kind, paths);
    }

    /// All of it under its names, with the state of a manager, of a budget, of what is left to Azure, and of a lookout.
    pub fn registry(
        &self,
        state: State,
        budget: Arc<Budget>,
        left_alone: Arc<LeftAlone>,
        lookout: Option<Lookout>,
    ) -> Registry {
        let mut all = Registry::default();
        self.requests.register(&mut all);
        self.expressions.register(&mut all);
        self.controllers.register(state.queue(), &mut all);
        let registry = all.sub_registry_with_prefix("armature");
        registry.register(
            "reconciles",
            "Passes over objects, by what came of them",
            self.reconciles.clone(),
        );
        registry.register(
            "reconcile_seconds",
            "Duration of passes",
            self.reconcile_seconds.clone(),
        );
        registry.register(
            "drift",
            "Resources that were found changed in Azure",
            self.drift.clone(),
        );
        registry.register(
            "outside_scopes",
            "Requests with ids outside of the allowed scopes that were sent because scopes are not enforced there",
            self.outside_scopes.clone(),
        );
        registry.register(
            "notes_not_believed",
            "Objects whose notes did not bear the operator's signature, and that were taken over as those of another operator",
            self.notes_not_believed.clone(),
        );
        let help = "Paths of resources that were found changed in Azure";
        self.drift_paths.register("drift_paths", help, registry);
        let help = "Paths of resources that Azure was seen to change by itself";
        self.unstable_paths
            .register("unstable_paths", help, registry);
        let build = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The running program", build);
        registry.register_collector(Box::new(state));
        registry.register_collector(Box::new(budget::State::new(budget)));
        registry.register_collector(Box::new(owned::State::new(left_alone)));
        if let Some(lookout) = lookout {
            registry.register_collector(Box::new(lookout::State::new(lookout)));
        }
        all
    }
}

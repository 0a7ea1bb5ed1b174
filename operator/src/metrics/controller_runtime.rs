//! The figures that operators built on controller-runtime have, under its names, so that dashboards and alerts of Azure Service
//! Operator go on working.
//!
//! Names, labels and help are those of controller-runtime 0.25. The label `controller` is as Azure Service Operator calls its
//! controllers: the kind and `Controller` (`getControllerName` in its `v2/internal/controllers/controller_resources.go`). Kinds of
//! several groups have one name there, so a label `group` tells them apart. Here one pool of workers passes over all kinds: a
//! "controller" is what it does with the objects of one. Only kinds with a pass have series.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use armature_runtime::reconcile::backoff::{Requeue, RetryClass};
use armature_runtime::reconcile::queue::Queue;
use armature_runtime::reconcile::urgency::Urgency;
use armature_runtime::resource::Kind;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeLabelSet, EncodeLabelValue, EncodeMetric, LabelValueEncoder,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// Bounds of `controller_runtime_reconcile_time_seconds`.
const PASS_SECONDS: [f64; 40] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
    1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0,
    25.0, 30.0, 40.0, 50.0, 60.0,
];

/// Words for what came of a pass. Each kind with a pass has a series of each.
const RESULTS: [&str; 4] = ["error", "requeue_after", "requeue", "success"];

/// Priorities of a queue: what somebody waits for, and what nobody does (`handler.LowPriority`).
const PRIORITIES: [(Urgency, &str); 2] =
    [(Urgency::Foreground, "0"), (Urgency::Background, "-100")];

/// Everything that is counted. Clones count together.
#[derive(Clone)]
pub(super) struct ControllerRuntime {
    total: Family<OfResult, Counter>,
    errors: Family<OfController, Counter>,
    seconds: Family<OfController, Histogram, PassSeconds>,
    waited: Family<OfQueue, Histogram, WaitSeconds>,
    passed: Arc<Mutex<HashSet<Kind>>>,
}

impl Default for ControllerRuntime {
    fn default() -> Self {
        Self {
            total: Family::default(),
            errors: Family::default(),
            seconds: Family::new_with_constructor(PassSeconds),
            waited: Family::new_with_constructor(WaitSeconds),
            passed: Arc::default(),
        }
    }
}

/// The name of a controller: that of its kind and `Controller`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Controller(&'static str);

impl EncodeLabelValue for Controller {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        encoder.write_str(self.0)?;
        encoder.write_str("Controller")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfController {
    controller: Controller,
    group: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfResult {
    controller: Controller,
    group: &'static str,
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfQueue {
    name: Controller,
    controller: Controller,
    group: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfDepth {
    name: Controller,
    controller: Controller,
    group: &'static str,
    priority: &'static str,
}

#[derive(Clone, Copy)]
struct PassSeconds;

impl MetricConstructor<Histogram> for PassSeconds {
    fn new_metric(&self) -> Histogram {
        Histogram::new(PASS_SECONDS)
    }
}

#[derive(Clone, Copy)]
struct WaitSeconds;

impl MetricConstructor<Histogram> for WaitSeconds {
    fn new_metric(&self) -> Histogram {
        Histogram::new(exponential_buckets(10e-9, 10.0, 12))
    }
}

impl ControllerRuntime {
    /// A pass over an object of this kind: how long it took, how long it waited for a worker before, and what came of it.
    pub fn passed(&self, kind: Kind, took: Duration, waited: Duration, requeue: Requeue) {
        let (controller, group) = (Controller(kind.0.kind), kind.0.group);
        let of_result = |result| OfResult {
            controller,
            group,
            result,
        };
        let is_first = {
            let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
            passed.insert(kind)
        };
        if is_first {
            // Rates need a beginning.
            for result in RESULTS {
                drop(self.total.get_or_create(&of_result(result)));
            }
        }
        let result = result(requeue);
        self.total.get_or_create(&of_result(result)).inc();
        let of_controller = OfController { controller, group };
        let errors = u64::from(result == "error");
        self.errors.get_or_create(&of_controller).inc_by(errors);
        let seconds = self.seconds.get_or_create(&of_controller);
        seconds.observe(took.as_secs_f64());
        let of_queue = OfQueue {
            name: controller,
            controller,
            group,
        };
        let seconds = self.waited.get_or_create(&of_queue);
        seconds.observe(waited.as_secs_f64());
    }

    pub fn register(&self, queue: Queue, registry: &mut Registry) {
        registry.register(
            "controller_runtime_reconcile",
            "Total number of reconciliations per controller",
            self.total.clone(),
        );
        registry.register(
            "controller_runtime_reconcile_errors",
            "Total number of reconciliation errors per controller",
            self.errors.clone(),
        );
        registry.register(
            "controller_runtime_reconcile_time_seconds",
            "Length of time per reconciliation per controller",
            self.seconds.clone(),
        );
        registry.register(
            "workqueue_queue_duration_seconds",
            "How long in seconds an item stays in workqueue before being requested",
            self.waited.clone(),
        );
        registry.register_collector(Box::new(Depth {
            queue,
            passed: Arc::clone(&self.passed),
        }));
    }
}

/// What controller-runtime calls the outcome. Who waits for something, in the cluster or of an operation in Azure, comes back later;
/// what Azure refuses, or what cannot be done, is an error.
fn result(requeue: Requeue) -> &'static str {
    match requeue {
        Requeue::Never => "success",
        Requeue::Now => "requeue",
        Requeue::Sync
        | Requeue::SyncAfter(_)
        | Requeue::After(_)
        | Requeue::PutOff(_)
        | Requeue::Backoff(RetryClass::Fast | RetryClass::Poll)
        | Requeue::BackoffAtLeast(RetryClass::Fast | RetryClass::Poll, _) => "requeue_after",
        Requeue::Backoff(RetryClass::Slow | RetryClass::VerySlow)
        | Requeue::BackoffAtLeast(RetryClass::Slow | RetryClass::VerySlow, _)
        | Requeue::RetryAfter(_) => "error",
    }
}

/// The queue, looked at when somebody asks.
struct Depth {
    queue: Queue,
    passed: Arc<Mutex<HashSet<Kind>>>,
}

impl fmt::Debug for Depth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Depth").finish_non_exhaustive()
    }
}

impl Collector for Depth {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let due = self.queue.due_by_kind();
        let depths = {
            let passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
            depths(&passed, &due)
        };
        let mut family = encoder.encode_descriptor(
            "workqueue_depth",
            "Current depth of workqueue by workqueue and priority",
            None,
            MetricType::Gauge,
        )?;
        for ((group, kind, priority), count) in depths {
            let labels = OfDepth {
                name: Controller(kind),
                controller: Controller(kind),
                group,
                priority,
            };
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            ConstGauge::new(count).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

/// Group, kind and priority.
type DepthKey = (&'static str, &'static str, &'static str);

/// What waits for a worker: of kinds with a pass, and of those that wait for their first.
fn depths(
    passed: &HashSet<Kind>,
    due: &HashMap<(Kind, Urgency), usize>,
) -> BTreeMap<DepthKey, usize> {
    let waiting = due.keys().map(|(kind, _)| *kind);
    let kinds: HashSet<Kind> = passed.iter().copied().chain(waiting).collect();
    let all = kinds.into_iter().flat_map(|kind| {
        PRIORITIES.map(|(urgency, priority)| {
            let count = due.get(&(kind, urgency)).copied().unwrap_or_default();
            ((kind.0.group, kind.0.kind, priority), count)
        })
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use armature_runtime::reconcile::backoff::SystemRandom;
    use armature_runtime::reconcile::queue::QueueSettings;
    use armature_runtime::resource::ObjectKey;
    use prometheus_client::encoding::text::encode;

    use super::*;

    #[test]
    fn outcomes_have_the_words_of_controller_runtime() {
        let (short, long) = (Duration::from_secs(1), Duration::from_secs(3600));
        for (requeue, expected) in [
            (Requeue::Never, "success"),
            (Requeue::Now, "requeue"),
            (Requeue::Sync, "requeue_after"),
            (Requeue::SyncAfter(long), "requeue_after"),
            (Requeue::After(short), "requeue_after"),
            (Requeue::PutOff(short), "requeue_after"),
            (Requeue::Backoff(RetryClass::Fast), "requeue_after"),
            (Requeue::Backoff(RetryClass::Poll), "requeue_after"),
            (
                Requeue::BackoffAtLeast(RetryClass::Poll, short),
                "requeue_after",
            ),
            (Requeue::Backoff(RetryClass::Slow), "error"),
            (Requeue::Backoff(RetryClass::VerySlow), "error"),
            (Requeue::BackoffAtLeast(RetryClass::Slow, short), "error"),
            (Requeue::RetryAfter(long), "error"),
        ] {
            assert_eq!(result(requeue), expected, "{requeue:?}");
            assert!(RESULTS.contains(&expected));
        }
    }

    fn kind(group: &str, kind: &str) -> Kind {
        let mut kinds = armature_generated::KINDS.iter();
        let found = kinds.find(|one| one.group == group && one.kind == kind);
        Kind(found.expect("it is generated"))
    }

    fn text(counted: &ControllerRuntime, queue: Queue) -> String {
        let mut registry = Registry::default();
        counted.register(queue, &mut registry);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        text
    }

    #[tokio::test]
    async fn only_kinds_with_a_pass_have_series_and_groups_are_told_apart() {
        let queue = Queue::new(QueueSettings::default(), Arc::new(SystemRandom));
        let counted = ControllerRuntime::default();
        let empty = text(&counted, queue.clone());
        assert!(!empty.contains("controller="), "{empty}");
        let (second, milli) = (Duration::from_secs(1), Duration::from_millis(1));
        let [mysql, postgresql] = ["dbformysql.azure.com", "dbforpostgresql.azure.com"]
            .map(|group| kind(group, "FlexibleServer"));
        let failed = Requeue::Backoff(RetryClass::Slow);
        counted.passed(mysql, second, milli, Requeue::Sync);
        counted.passed(mysql, second, milli, failed);
        counted.passed(postgresql, second, milli, Requeue::Never);
        queue.add(ObjectKey {
            kind: mysql,
            namespace: "team".into(),
            name: "one".into(),
        });
        let text = text(&counted, queue);
        let of = |group: &str| {
            format!(r#"controller="FlexibleServerController",group="{group}.azure.com""#)
        };
        let (mysql, postgresql) = (of("dbformysql"), of("dbforpostgresql"));
        let name = r#"name="FlexibleServerController""#;
        for line in [
            "# HELP controller_runtime_reconcile Total number of reconciliations per controller."
                .to_owned(),
            format!(r#"controller_runtime_reconcile_total{{{mysql},result="requeue_after"}} 1"#),
            format!(r#"controller_runtime_reconcile_total{{{mysql},result="error"}} 1"#),
            format!(r#"controller_runtime_reconcile_total{{{mysql},result="success"}} 0"#),
            format!(r#"controller_runtime_reconcile_total{{{postgresql},result="success"}} 1"#),
            format!(r#"controller_runtime_reconcile_errors_total{{{mysql}}} 1"#),
            format!(r#"controller_runtime_reconcile_errors_total{{{postgresql}}} 0"#),
            format!(r#"controller_runtime_reconcile_time_seconds_bucket{{le="0.9",{mysql}}} 0"#),
            format!(r#"controller_runtime_reconcile_time_seconds_bucket{{le="1.0",{mysql}}} 2"#),
            format!(r#"workqueue_queue_duration_seconds_count{{{name},{mysql}}} 2"#),
            format!(r#"workqueue_depth{{{name},{mysql},priority="0"}} 1"#),
            format!(r#"workqueue_depth{{{name},{mysql},priority="-100"}} 0"#),
            format!(r#"workqueue_depth{{{name},{postgresql},priority="0"}} 0"#),
        ] {
            assert!(text.lines().any(|one| one == line), "no {line} in {text}");
        }
    }
}

//! Figures that are looked up when somebody asks: the queue, events, and objects by what `Ready` says.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use armature_runtime::kubernetes::Cluster;
use armature_runtime::reconcile::condition::reason;
use armature_runtime::reconcile::queue::Queue;
use armature_runtime::resource::Object;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use serde::Deserialize;
use tokio::time::Instant;

use crate::turn::Turn;

/// Reasons with a label of their own. Azure's error codes are reasons too, and there is no end of them.
const REASONS: [&str; 23] = [
    reason::SUCCEEDED,
    reason::RECONCILING,
    reason::DELETING,
    reason::WAITING_FOR_OWNER,
    reason::REFERENCE_NOT_FOUND,
    reason::SECRET_NOT_FOUND,
    reason::CONFIG_MAP_NOT_FOUND,
    reason::SUBSCRIPTION_MISMATCH,
    reason::AZURE_RESOURCE_NOT_FOUND,
    reason::EXPORT_FAILED,
    reason::BLOCKED,
    reason::POSTPONED,
    reason::POST_CHECK_FAILED,
    reason::DELETION_NOT_SUPPORTED,
    reason::INVALID_ANNOTATION,
    reason::PAUSED,
    reason::PROTECTED,
    reason::ADOPTION_REFUSED,
    reason::CREDENTIAL_NOT_FOUND,
    reason::SCOPE_NOT_ALLOWED,
    reason::TIMED_OUT,
    reason::FAILED,
    reason::UNKNOWN_ERROR,
];

/// Label of reasons that Azure gave.
const AZURE_ERROR: &str = "AzureError";

/// Label of objects without the condition.
const NONE: &str = "None";

/// A queue and a cluster whose state is shown.
pub struct State {
    queue: Queue,
    cluster: Cluster,
    turn: Arc<Turn>,
}

impl State {
    /// Shows these; objects from the moment on which this replica manages them, so that each is counted once.
    pub fn new(queue: Queue, cluster: Cluster, turn: Arc<Turn>) -> Self {
        Self {
            queue,
            cluster,
            turn,
        }
    }
}

impl State {
    /// The queue that is shown.
    pub(super) fn queue(&self) -> Queue {
        self.queue.clone()
    }
}

impl fmt::Debug for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("State").finish_non_exhaustive()
    }
}

impl Collector for State {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let depth = self.queue.depth();
        let states = [
            ("known", depth.known),
            ("due", depth.due),
            ("running", depth.running),
        ];
        let mut family = encoder.encode_descriptor(
            "queue_keys",
            "Objects in the queue: all, those that wait for a worker, those being worked on",
            None,
            prometheus_client::metrics::MetricType::Gauge,
        )?;
        for (state, count) in states {
            gauge(count).encode(family.encode_family(&[("state", state)])?)?;
        }
        let family = encoder.encode_descriptor(
            "queue_age_seconds",
            "How long the object that waits longest for a worker has waited",
            None,
            prometheus_client::metrics::MetricType::Gauge,
        )?;
        ConstGauge::new(depth.age.as_secs_f64()).encode(family)?;
        let family = encoder.encode_descriptor(
            "queue_workers",
            "Passes that may run at the same time, which are fewer while the API server is slow",
            None,
            prometheus_client::metrics::MetricType::Gauge,
        )?;
        gauge(depth.workers).encode(family)?;
        let is_leading = self.turn.has_come();
        let family = encoder.encode_descriptor(
            "leads",
            "Whether this replica manages objects",
            None,
            prometheus_client::metrics::MetricType::Gauge,
        )?;
        ConstGauge::new(i64::from(is_leading)).encode(family)?;
        self.encode_events(&mut encoder)?;
        self.encode_watches(&mut encoder)?;
        let mut objects: BTreeMap<[&'static str; 3], usize> = BTreeMap::new();
        let known = is_leading.then(|| self.cluster.cache().all());
        for object in known.into_iter().flatten() {
            let kind = object.kind.0;
            *objects
                .entry([kind.group, kind.kind, ready_reason(&object)])
                .or_default() += 1;
        }
        let mut family = encoder.encode_descriptor(
            "objects",
            "Objects by the reason of their Ready condition",
            None,
            prometheus_client::metrics::MetricType::Gauge,
        )?;
        for ([group, kind, reason], count) in objects {
            let labels = [("group", group), ("kind", kind), ("reason", reason)];
            gauge(count).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

impl State {
    fn encode_watches(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let in_step = self.cluster.in_step();
        let mut family = encoder.encode_descriptor(
            "watch_interrupted",
            "Watches of the API server that have failed for a minute or longer: changes are missed",
            None,
            prometheus_client::metrics::MetricType::Gauge,
        )?;
        for watch in in_step.out_of_step(Instant::now()) {
            let namespace = watch.namespace.as_deref().unwrap_or_default();
            let labels = [("kind", watch.kind.as_str()), ("namespace", namespace)];
            gauge(1).encode(family.encode_family(&labels)?)?;
        }
        let mut family = encoder.encode_descriptor(
            "unreadable_objects",
            "Objects in lists and watches that could not be read and were left out",
            None,
            prometheus_client::metrics::MetricType::Counter,
        )?;
        for (kind, count) in in_step.unreadables() {
            let labels = [("kind", kind.as_str())];
            ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn encode_events(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let events = self.cluster.events();
        let mut family = encoder.encode_descriptor(
            "events",
            "Events: requests that wrote one, those counted in the series of another one, those that the API server did not take",
            None,
            prometheus_client::metrics::MetricType::Counter,
        )?;
        for (result, count) in [
            ("written", events.written()),
            ("merged", events.merged()),
            ("lost", events.lost()),
        ] {
            ConstCounter::new(count).encode(family.encode_family(&[("result", result)])?)?;
        }
        let waiting = usize::try_from(events.waiting()).unwrap_or(usize::MAX);
        let waiting = gauge(waiting);
        let what = "Events that are about to be written";
        let kind = waiting.metric_type();
        waiting.encode(encoder.encode_descriptor("events_waiting", what, None, kind)?)
    }
}

fn gauge(count: usize) -> ConstGauge<i64> {
    ConstGauge::new(i64::try_from(count).unwrap_or(i64::MAX))
}

fn ready_reason(object: &Object) -> &'static str {
    #[derive(Deserialize)]
    struct Status {
        #[serde(default)]
        conditions: Vec<Condition>,
    }
    #[derive(Deserialize)]
    struct Condition {
        #[serde(default, rename = "type")]
        condition_type: String,
        #[serde(default)]
        reason: String,
    }
    let status = object.status.as_ref();
    let conditions = status
        .and_then(|text| serde_json::from_str::<Status>(text.get()).ok())
        .map(|status| status.conditions)
        .unwrap_or_default();
    let ready = conditions
        .into_iter()
        .find(|found| found.condition_type == "Ready");
    match ready {
        None => NONE,
        Some(ready) => bounded(&ready.reason),
    }
}

fn bounded(reason: &str) -> &'static str {
    let known = REASONS.into_iter().find(|known| *known == reason);
    known.unwrap_or(AZURE_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_azure_share_one_label() {
        assert_eq!(bounded("Succeeded"), "Succeeded");
        assert_eq!(bounded("SkuNotAvailable"), AZURE_ERROR);
    }
}

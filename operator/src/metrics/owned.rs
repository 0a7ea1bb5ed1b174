//! Values that are left to Azure, and those that somebody changes again and again.

use std::fmt;
use std::sync::Arc;

use armature_runtime::reconcile::left_alone::LeftAlone;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

/// What is shown of them.
#[derive(Debug)]
pub(super) struct State(Arc<LeftAlone>);

impl State {
    /// Shows these.
    pub(super) fn new(left_alone: Arc<LeftAlone>) -> Self {
        Self(left_alone)
    }
}

impl Collector for State {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut family = encoder.encode_descriptor(
            "left_alone_paths",
            "Values of objects that are left to Azure although the spec says something else, by the right of their rule",
            None,
            MetricType::Gauge,
        )?;
        for (kind, right, count) in self.0.counts() {
            let labels = [
                ("group", kind.0.group),
                ("kind", kind.0.kind),
                ("right", right),
            ];
            gauge(count).encode(family.encode_family(&labels)?)?;
        }
        let mut family = encoder.encode_descriptor(
            "contested_paths",
            "Values of objects that were put right and that differ again: each waits for its pause",
            None,
            MetricType::Gauge,
        )?;
        for (kind, count) in self.0.contested() {
            let labels = [("group", kind.0.group), ("kind", kind.0.kind)];
            gauge(count).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

fn gauge(count: usize) -> ConstGauge<i64> {
    ConstGauge::new(i64::try_from(count).unwrap_or(i64::MAX))
}

//! What became of the questions to Azure Resource Graph, looked up when somebody asks.

use std::fmt;

use armature_runtime::arm::lookout::{Figures, Lookout, Standing, Verdict};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// A lookout whose figures are shown.
pub struct State(Lookout);

impl State {
    /// Shows those of this one.
    pub fn new(lookout: Lookout) -> Self {
        Self(lookout)
    }
}

impl fmt::Debug for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("State").finish_non_exhaustive()
    }
}

impl Collector for State {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        encode(&self.0.figures(), &mut encoder)
    }
}

fn encode(figures: &Figures, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let mut family = encoder.encode_descriptor(
        "graph_requests",
        "Requests to Azure Resource Graph",
        None,
        MetricType::Counter,
    )?;
    for (result, count) in ["answered", "refused"].into_iter().zip(figures.requests) {
        let labels = [("result", result)];
        ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
    }
    let family = encoder.encode_descriptor(
        "graph_looks",
        "Questions to Azure Resource Graph what changed that were answered in full",
        None,
        MetricType::Counter,
    )?;
    ConstCounter::new(figures.looks).encode(family)?;
    let family = encoder.encode_descriptor(
        "graph_late_changes",
        "Changes of resources that Azure Resource Graph told of later than five minutes",
        None,
        MetricType::Counter,
    )?;
    ConstCounter::new(figures.late).encode(family)?;
    let mut family = encoder.encode_descriptor(
        "graph_hints",
        "Changes of resources that Azure Resource Graph told of, by what became of that",
        None,
        MetricType::Counter,
    )?;
    for verdict in Verdict::ALL {
        let labels = [("result", verdict.name())];
        let count = figures.hints.get(&verdict).copied().unwrap_or_default();
        ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
    }
    let family = encoder.encode_descriptor(
        "graph_objects",
        "Objects whose resources Azure Resource Graph shows",
        None,
        MetricType::Gauge,
    )?;
    gauge(figures.covered).encode(family)?;
    let mut family = encoder.encode_descriptor(
        "graph_credentials",
        "Credentials, by whether Azure Resource Graph is asked with them",
        None,
        MetricType::Gauge,
    )?;
    for standing in Standing::ALL {
        let labels = [("state", standing.name())];
        let count = figures.principals.get(&standing).copied();
        gauge(count.unwrap_or_default()).encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}

fn gauge(count: usize) -> ConstGauge<i64> {
    ConstGauge::new(i64::try_from(count).unwrap_or(i64::MAX))
}

//! What an API server has been asked, by its own metrics: they count the same for every operator.

use std::collections::BTreeMap;
use std::ops::Sub;

use super::scene::Scene;

/// Requests that an API server has answered since its start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Served {
    /// Changes of objects and of their status, by the plural of their kind; what is applied server-side, as users do it, is
    /// among them, whole collections are not.
    writes: BTreeMap<String, f64>,
    /// Objects and lists of any kind that were read, by anybody but watches.
    pub reads: f64,
    /// Events, new ones and those that are counted on.
    pub event_writes: f64,
    /// Single Secrets that were read.
    pub secret_reads: f64,
    /// Calls of webhooks that convert objects.
    pub conversions: f64,
}

impl Served {
    /// Changes of objects of one kind.
    pub fn writes(&self, plural: &str) -> f64 {
        self.writes.get(plural).copied().unwrap_or_default()
    }
}

impl Sub for Served {
    type Output = Self;

    fn sub(mut self, before: Self) -> Self {
        for (plural, count) in before.writes {
            *self.writes.entry(plural).or_default() -= count;
        }
        Self {
            writes: self.writes,
            reads: self.reads - before.reads,
            event_writes: self.event_writes - before.event_writes,
            secret_reads: self.secret_reads - before.secret_reads,
            conversions: self.conversions - before.conversions,
        }
    }
}

/// Counter of all requests, by verb, group and resource.
const REQUESTS: &str = "apiserver_request_total";
/// Histogram of conversions by webhooks, which has a count.
const CONVERSIONS: &str = "apiserver_crd_conversion_webhook_duration_seconds_count";

/// Reads the text format of Prometheus.
fn read(metrics: &str) -> Served {
    let mut served = Served::default();
    for line in metrics.lines() {
        let Some((series, value)) = line.rsplit_once(' ') else {
            continue;
        };
        let Ok(value) = value.parse::<f64>() else {
            continue;
        };
        match series.split('{').next() {
            Some(CONVERSIONS) => served.conversions += value,
            Some(REQUESTS) => served.add(series, value),
            _ => {}
        }
    }
    served
}

impl Served {
    fn add(&mut self, series: &str, count: f64) {
        let label = |label: &str| {
            let (_, rest) = series.split_once(&format!("{label}=\""))?;
            rest.split('"').next()
        };
        let (verb, resource) = (label("verb"), label("resource"));
        let is_read = matches!(verb, Some("GET" | "LIST"));
        // What is asked for beside resources, such as these metrics, has none.
        if is_read && resource.is_some_and(|resource| !resource.is_empty()) {
            self.reads += count;
        }
        match (verb, resource) {
            (Some("POST" | "PUT" | "PATCH" | "APPLY"), Some("events")) => {
                self.event_writes += count;
            }
            (Some("GET"), Some("secrets")) => self.secret_reads += count,
            (Some("PUT" | "PATCH" | "APPLY"), Some(plural)) => {
                *self.writes.entry(plural.to_owned()).or_default() += count;
            }
            _ => {}
        }
    }
}

impl Scene {
    /// What the API server has been asked until now.
    pub async fn served(&self) -> anyhow::Result<Served> {
        Ok(read(&self.get("/metrics").await?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_told_apart() {
        let metrics = r#"
# HELP apiserver_request_total [STABLE] Counter of apiserver requests
apiserver_request_total{code="200",component="apiserver",dry_run="",group="network.azure.com",resource="virtualnetworks",scope="resource",subresource="",verb="PATCH",version="v1api20201101storage"} 7
apiserver_request_total{code="200",component="apiserver",dry_run="",group="network.azure.com",resource="virtualnetworks",scope="resource",subresource="status",verb="PATCH",version="v1api20201101storage"} 3
apiserver_request_total{code="201",component="apiserver",dry_run="",group="network.azure.com",resource="virtualnetworks",scope="resource",subresource="",verb="APPLY",version="v1api20201101"} 5
apiserver_request_total{code="201",component="apiserver",dry_run="",group="cache.azure.com",resource="redis",scope="resource",subresource="",verb="PATCH",version="v1"} 90
apiserver_request_total{code="201",component="apiserver",dry_run="",group="events.k8s.io",resource="events",scope="resource",subresource="",verb="POST",version="v1"} 2
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="events",scope="resource",subresource="",verb="PATCH",version="v1"} 1
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="secrets",scope="resource",subresource="",verb="GET",version="v1"} 4
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="secrets",scope="namespace",subresource="",verb="LIST",version="v1"} 9
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="",scope="",subresource="/metrics",verb="GET",version=""} 8
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="secrets",scope="cluster",subresource="",verb="WATCH",version="v1"} 6
apiserver_crd_conversion_webhook_duration_seconds_count{failure_type="",result="success"} 1.1e+01
"#;
        let writes = [("virtualnetworks", 15.0), ("redis", 90.0)];
        let expected = Served {
            writes: writes
                .map(|(plural, count)| (plural.to_owned(), count))
                .into(),
            reads: 13.0,
            event_writes: 3.0,
            secret_reads: 4.0,
            conversions: 11.0,
        };
        assert_eq!(read(metrics), expected);
    }
}

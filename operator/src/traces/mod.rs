//! Traces for an OpenTelemetry collector: a span for each pass over an object, and in it one for each request to ARM.
//!
//! | module | what lives here |
//! |---|---|
//! | `collector` | sends batches over HTTP |
//! | `convention` | the names that OpenTelemetry has for what our spans hold |
//!
//! The SDK reads its own variables beside what is told here: `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`,
//! `OTEL_TRACES_SAMPLER`, `OTEL_BSP_…`, `OTEL_EXPORTER_OTLP_HEADERS`.
//!
//! What does not live here: the spans themselves, which are those of the log lines.

mod collector;
mod convention;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;
use tracing::{Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;
use url::Url;

use collector::Collector;
use convention::Conventional;

/// Longest wait for the last spans to be sent when the operator stops.
const FINISH_LIMIT: Duration = Duration::from_secs(1);

/// Longest wait for the collector's answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// Where a collector takes OTLP over HTTP. Its path for traces, `/v1/traces`, is appended.
#[derive(Clone, PartialEq, Eq)]
pub struct CollectorUrl(Url);

impl FromStr for CollectorUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "expected the URL of a collector such as http://collector:4318";
        let url = Url::parse(text).map_err(|error| format!("{expected}: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(expected.to_owned());
        }
        Ok(Self(url))
    }
}

/// Without a password that may stand in it.
impl fmt::Debug for CollectorUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.host_str().unwrap_or_default())
    }
}

impl CollectorUrl {
    fn traces(&self) -> String {
        let base = self.0.as_str().trim_end_matches('/');
        format!("{base}/v1/traces")
    }
}

/// Why no traces can be sent.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    /// No HTTP client can be made.
    #[error("no connections for traces can be made: {0}")]
    Http(#[from] reqwest::Error),
    /// The exporter refuses its settings.
    #[error("traces cannot be exported: {0}; see the variables OTEL_EXPORTER_OTLP_…")]
    Exporter(#[from] opentelemetry_otlp::ExporterBuildError),
}

/// Spans on their way to a collector.
#[derive(Clone, Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Sends spans to a collector from now on, in the background. A collector that does not answer costs spans and
    /// a line in the log, never work.
    ///
    /// # Errors
    /// When variables of the SDK cannot be used.
    pub fn start(url: &CollectorUrl, runtime: &Handle) -> Result<Self, TracesError> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Collector::new(ANSWER_LIMIT, runtime.clone())?)
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(ANSWER_LIMIT)
            .with_endpoint(url.traces())
            .build()?;
        let mut resource = Resource::builder()
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name("armature");
        }
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.build())
            .with_batch_exporter(Conventional(exporter))
            .build();
        Ok(Self { provider })
    }

    /// Makes spans of this operator's own spans. What is logged within them goes along, from level info up.
    pub fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        let ours = filter_fn(|metadata| {
            *metadata.level() <= Level::INFO && metadata.target().starts_with("armature")
        });
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("armature"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(ours)
    }

    /// Sends the spans that have ended, now instead of with the next batch.
    pub async fn flush(&self) {
        let provider = self.provider.clone();
        wait(move || provider.force_flush()).await;
    }

    /// Sends what is left, for a limited time.
    pub async fn finish(self) {
        wait(move || self.provider.shutdown_with_timeout(FINISH_LIMIT)).await;
    }
}

/// Waits for the exporter's thread, which needs this runtime meanwhile.
async fn wait(sending: impl FnOnce() -> OTelSdkResult + Send + 'static) {
    if let Ok(Err(error)) = tokio::task::spawn_blocking(sending).await {
        tracing::warn!(%error, "some traces were not sent");
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Bytes;
    use axum::routing::post;
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;
    use tracing_subscriber::Registry;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::logging::testing::subscribe;

    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_left_at_the_end_is_sent_and_nothing_of_others() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sent, mut received) = mpsc::unbounded_channel();
        let take = post(move |body: Bytes| async move { sent.send(body).unwrap() });
        let router = Router::new().route("/v1/traces", take);
        tokio::spawn(async move { axum::serve(listener, router).await });

        let traces = Traces::start(&url.parse().unwrap(), &Handle::current()).unwrap();
        let subscriber = Registry::default().with(traces.layer());
        {
            let _log = subscribe(subscriber);
            drop(tracing::info_span!("reconcile", namespace = "team"));
            drop(tracing::info_span!(target: "hyper", "connection"));
            drop(tracing::debug_span!("detail"));
        }
        traces.finish().await;
        let body = received.try_recv().unwrap();
        let text = String::from_utf8_lossy(&body);
        for part in [
            "service.name",
            "armature",
            "reconcile",
            "k8s.namespace.name",
            "team",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(
            !text.contains("connection") && !text.contains("detail"),
            "{text}"
        );
    }

    #[test]
    fn the_path_for_traces_is_appended() {
        for (text, expected) in [
            ("http://collector:4318", "http://collector:4318/v1/traces"),
            ("https://c.test/otlp/", "https://c.test/otlp/v1/traces"),
        ] {
            let url: CollectorUrl = text.parse().unwrap();
            assert_eq!(url.traces(), expected);
        }
        for wrong in ["collector:4318", "4318", "file:///v1", ""] {
            let error = wrong.parse::<CollectorUrl>().unwrap_err();
            assert!(error.contains("http://collector:4318"), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_password_in_the_url_is_not_shown() {
        let url: CollectorUrl = "https://user:s3cr3t@c.test".parse().unwrap();
        assert_eq!(format!("{url:?}"), "c.test");
    }
}

//! Counts requests to ARM on their way, under Azure Service Operator's names (ASO behaviour §5.4).

use std::sync::Arc;
use std::time::Instant;

use armature_runtime::azure::{CredentialKey, Request, Response, Transport, TransportError};
use armature_runtime::id::ResourceId;
use armature_runtime::kind::KindInfo;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::Seconds;

/// Label of what is no resource of a known type, such as the status of an operation.
const OTHER: &str = "other";

/// Name and value.
type Label = (&'static str, String);

/// Figures about requests. Clones count together.
#[derive(Clone)]
pub(super) struct Requests {
    kinds: &'static [&'static KindInfo],
    answered: Family<[Label; 3], Counter>,
    failed: Family<[Label; 2], Counter>,
    seconds: Family<[Label; 2], Histogram, Seconds>,
}

impl Requests {
    /// Nothing counted yet; types other than those of these kinds share a label.
    pub(super) fn new(kinds: &'static [&'static KindInfo]) -> Self {
        Self {
            kinds,
            answered: Family::default(),
            failed: Family::default(),
            seconds: Family::new_with_constructor(Seconds),
        }
    }

    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "azure_successful_requests",
            "Requests to Azure that were answered, by HTTP status: errors too",
            self.answered.clone(),
        );
        registry.register(
            "azure_failed_requests",
            "Requests to Azure without an answer",
            self.failed.clone(),
        );
        registry.register(
            "azure_requests_time_seconds",
            "Duration of requests to Azure",
            self.seconds.clone(),
        );
    }

    fn count(&self, url: &str, method: &str, seconds: f64, status: Option<u16>) {
        let resource = ("resource", arm_type(url, self.kinds).to_owned());
        let method = ("requestType", method.to_owned());
        let labels = [resource, method];
        self.seconds.get_or_create(&labels).observe(seconds);
        match status {
            None => self.failed.get_or_create(&labels).inc(),
            Some(status) => {
                let [resource, method] = labels;
                let labels = [resource, method, ("responseCode", status.to_string())];
                self.answered.get_or_create(&labels).inc()
            }
        };
    }
}

/// The ARM type that a URL is about.
fn arm_type(url: &str, kinds: &[&'static KindInfo]) -> &'static str {
    let path = url.split_once('?').map_or(url, |(path, _)| path);
    // Actions such as listKeys are a segment behind the resource.
    let id = ResourceId::parse(path).ok().or_else(|| {
        let (resource, _) = path.rsplit_once('/')?;
        ResourceId::parse(resource).ok()
    });
    let kind = id.and_then(|id| kinds.iter().find(|kind| id.has_type(kind.remote_type())));
    kind.map_or(OTHER, |kind| kind.remote_type())
}

/// A transport whose requests are counted.
pub struct Counted {
    arm: Arc<dyn Transport>,
    requests: Requests,
}

impl Counted {
    /// Counts what goes through this transport.
    pub(super) fn new(arm: Arc<dyn Transport>, requests: Requests) -> Self {
        Self { arm, requests }
    }
}

#[async_trait::async_trait]
impl Transport for Counted {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        let (url, method) = (request.url.clone(), request.method.to_string());
        let started = Instant::now();
        let answer = self.arm.send(request).await;
        let status = answer.as_ref().ok().map(|response| response.status);
        let seconds = started.elapsed().as_secs_f64();
        self.requests.count(&url, &method, seconds, status);
        answer
    }

    async fn subscription(&self, credential: &CredentialKey) -> Result<String, TransportError> {
        self.arm.subscription(credential).await
    }

    async fn principal(&self, credential: &CredentialKey) -> String {
        self.arm.principal(credential).await
    }

    async fn names(&self, credential: &CredentialKey) -> Vec<String> {
        self.arm.names(credential).await
    }

    async fn endpoint(&self, credential: &CredentialKey) -> String {
        self.arm.endpoint(credential).await
    }
}

#[cfg(test)]
mod tests {
    use armature_generated::KINDS;

    use super::*;

    #[test]
    fn urls_are_counted_under_types_that_are_known() {
        let group = "/subscriptions/s/resourceGroups/g";
        let account = format!("{group}/providers/microsoft.storage/storageAccounts/a");
        for (url, expected) in [
            (group.to_owned(), "Microsoft.Resources/resourceGroups"),
            (
                format!("{account}?api-version=1"),
                "Microsoft.Storage/storageAccounts",
            ),
            (
                format!("{account}/listKeys?api-version=1"),
                "Microsoft.Storage/storageAccounts",
            ),
            (
                format!("{account}/blobServices/default/containers/c"),
                "Microsoft.Storage/storageAccounts/blobServices/containers",
            ),
            (format!("{group}/providers/Mine.Own/things/t"), OTHER),
            (
                "https://host/subscriptions/s/operationresults/1".to_owned(),
                OTHER,
            ),
            (String::new(), OTHER),
        ] {
            assert_eq!(arm_type(&url, KINDS), expected, "{url}");
        }
    }

    #[test]
    fn what_is_answered_and_what_is_not_have_their_own_figures() {
        let requests = Requests::new(KINDS);
        let group = "/subscriptions/s/resourceGroups/g";
        requests.count(group, "PUT", 0.1, Some(201));
        requests.count(group, "PUT", 0.1, Some(201));
        requests.count(group, "GET", 0.1, None);
        let mut registry = Registry::default();
        requests.register(&mut registry);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        let of = |method: &str| {
            format!("resource=\"Microsoft.Resources/resourceGroups\",requestType=\"{method}\"")
        };
        for line in [
            format!(
                "azure_successful_requests_total{{{},responseCode=\"201\"}} 2",
                of("PUT")
            ),
            format!("azure_failed_requests_total{{{}}} 1", of("GET")),
            format!("azure_requests_time_seconds_count{{{}}} 2", of("PUT")),
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}

//! Counts requests to ARM on their way.

use std::sync::Arc;
use std::time::Instant;

use armature_runtime::arm::{CredentialKey, Request, Response, Transport, TransportError};

use super::{MethodLabels, Metrics, RequestLabels};

/// A transport whose requests are counted.
pub struct Counted {
    arm: Arc<dyn Transport>,
    metrics: Metrics,
}

impl Counted {
    /// Counts what goes through this transport.
    pub fn new(arm: Arc<dyn Transport>, metrics: Metrics) -> Self {
        Self { arm, metrics }
    }
}

#[async_trait::async_trait]
impl Transport for Counted {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        let method = request.method.to_string();
        let started = Instant::now();
        let answer = self.arm.send(request).await;
        let labels = MethodLabels {
            method: method.clone(),
        };
        let seconds = started.elapsed().as_secs_f64();
        self.metrics
            .request_seconds
            .get_or_create(&labels)
            .observe(seconds);
        let status = match &answer {
            Ok(response) => response.status.to_string(),
            Err(_) => "none".to_owned(),
        };
        let labels = RequestLabels { method, status };
        self.metrics.requests.get_or_create(&labels).inc();
        answer
    }

    async fn subscription(&self, credential: &CredentialKey) -> Result<String, TransportError> {
        self.arm.subscription(credential).await
    }

    async fn principal(&self, credential: &CredentialKey) -> String {
        self.arm.principal(credential).await
    }
}

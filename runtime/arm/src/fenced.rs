//! A way to Azure that lets writes through while this replica may write.

use std::sync::Arc;

use armature_azure::{CredentialKey, Request, Response, Transport, TransportError};
use armature_reconcile::fence::Fence;
use async_trait::async_trait;

/// A way to Azure that lets writes through while the fence is open.
pub struct FencedTransport {
    arm: Arc<dyn Transport>,
    fence: Fence,
}

impl FencedTransport {
    /// Puts the fence in front of a transport.
    pub fn new(arm: Arc<dyn Transport>, fence: Fence) -> Self {
        Self { arm, fence }
    }
}

#[async_trait]
impl Transport for FencedTransport {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        let method = request.method;
        if !method.is_write() {
            return self.arm.send(request).await;
        }
        let url = request.url.split('?').next().unwrap_or_default().to_owned();
        let sent = self.fence.run(self.arm.send(request)).await;
        sent.unwrap_or_else(|closed| {
            Err(TransportError {
                method,
                url,
                message: closed.to_string(),
                credential: false,
                refused: None,
                retry_after: None,
            })
        })
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
    use std::time::Duration;

    use armature_azure::Method;
    use armature_reconcile::testing::Journal;
    use tokio::time::Instant;

    use super::super::testing::{MemoryAzure, response};
    use super::*;

    const GROUP: &str = "/subscriptions/s-1/resourceGroups/g";

    #[tokio::test(start_paused = true)]
    async fn a_closed_fence_lets_reads_through_and_no_writes() {
        let journal = Journal::default();
        let azure = Arc::new(MemoryAzure::new(journal.clone(), "s-1"));
        let answer = response(200, &[], None);
        azure.script(Method::Get, GROUP, answer);
        let fence = Fence::closed();
        let arm = FencedTransport::new(azure, fence.clone());
        let request = |method| Request {
            method,
            url: format!("{GROUP}?api-version=1"),
            body: None,
            if_match: None,
            credential: CredentialKey::Global,
        };
        assert!(arm.send(request(Method::Get)).await.is_ok());
        journal.take();
        for method in [Method::Put, Method::Patch, Method::Post, Method::Delete] {
            let error = arm.send(request(method)).await.unwrap_err();
            assert_eq!(error.url, GROUP);
            assert!(
                error.to_string().contains("no longer holds the Lease"),
                "{error}"
            );
        }
        assert_eq!(journal.take(), [""; 0], "nothing reached Azure");
        fence.extend(Instant::now() + Duration::from_secs(10));
        assert!(arm.send(request(Method::Delete)).await.is_ok());
    }
}

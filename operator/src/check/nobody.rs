//! An Azure that answers nothing but which subscription a credential is for: what a Secret, or the operator, says itself.

use std::sync::Arc;

use armature_runtime::azure::Method;
use armature_runtime::azure::credential::SecretReader;
use armature_runtime::azure::{CredentialKey, Request, Response, Transport, TransportError};
use async_trait::async_trait;

/// The key of a credential's subscription.
pub const SUBSCRIPTION: &str = "AZURE_SUBSCRIPTION_ID";

/// Nobody is asked.
pub struct Nobody {
    /// Where credentials are.
    pub secrets: Arc<dyn SecretReader>,
    /// The subscription of the operator's own credential, where it is known.
    pub subscription: Option<String>,
    /// Base URL of Azure Resource Manager, behind which ids are looked for.
    pub endpoint: String,
}

fn unsaid(url: &str, message: String) -> TransportError {
    TransportError {
        method: Method::Get,
        url: url.to_owned(),
        message,
        credential: false,
        refused: None,
        retry_after: None,
    }
}

#[async_trait]
impl Transport for Nobody {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        let path = request.url.split('?').next().unwrap_or_default();
        let message = "a check asks nothing of Azure".to_owned();
        Err(unsaid(path, message))
    }

    async fn subscription(&self, credential: &CredentialKey) -> Result<String, TransportError> {
        let unsaid = |message: String| unsaid("/subscriptions", message);
        let CredentialKey::Secret { namespace, name } = credential else {
            let unknown = "the subscription of the operator's own credential is not known: --operator-namespace says where the \
                           operator is, or --subscription which one it is";
            return self
                .subscription
                .clone()
                .ok_or_else(|| unsaid(unknown.to_owned()));
        };
        let secret = self
            .secrets
            .read_secret(namespace, name)
            .await
            .map_err(unsaid)?;
        let secret = secret.ok_or_else(|| {
            unsaid(format!(
                "Secret {namespace}/{name} with the Azure credential does not exist"
            ))
        })?;
        let value = secret.data.get(SUBSCRIPTION);
        let value = value.map(|value| String::from_utf8_lossy(value).trim().to_owned());
        let value = value.filter(|value| !value.is_empty());
        value.ok_or_else(|| {
            unsaid(format!(
                "key {SUBSCRIPTION} is missing in Secret {namespace}/{name}"
            ))
        })
    }

    async fn endpoint(&self, _: &CredentialKey) -> String {
        self.endpoint.clone()
    }
}

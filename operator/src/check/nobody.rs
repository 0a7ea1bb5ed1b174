//! An Azure that answers nothing but which subscription a credential is for: what a Secret, or the operator, says itself.

use std::sync::Arc;

use armature_runtime::azure::Method;
use armature_runtime::azure::credential::SecretReader;
use armature_runtime::azure::{CredentialKey, Request, Response, Transport, TransportError};
use async_trait::async_trait;

/// The key of a credential's subscription.
pub const SUBSCRIPTION: &str = "AZURE_SUBSCRIPTION_ID";

/// The list of built-in roles: their definitions are the same for everybody, and may be referred to everywhere.
const ROLES: &str = "/providers/Microsoft.Authorization/roleDefinitions";

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
        if request.method == Method::Get && path == ROLES {
            // As in a world without an Azure: the body goes without the id of the role.
            return Ok(Response {
                status: 404,
                headers: [("x-ms-request-id".to_owned(), "check".to_owned())].into(),
                body: None,
            });
        }
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

#[cfg(test)]
mod tests {
    use armature_runtime::azure::absence::is_gone;
    use armature_runtime::azure::credential::{NamespaceBounds, SecretData};

    use super::*;

    struct NoSecrets;

    #[async_trait]
    impl SecretReader for NoSecrets {
        async fn read_secret(&self, _: &str, _: &str) -> Result<Option<SecretData>, String> {
            Ok(None)
        }

        async fn bounds(&self, _: &str, _: bool) -> Result<NamespaceBounds, String> {
            Ok(NamespaceBounds::default())
        }
    }

    /// A role by its name keeps nobody from looking at the rest of its assignment.
    #[tokio::test]
    async fn there_are_no_roles_and_nothing_else_is_answered() {
        let nobody = Nobody {
            secrets: Arc::new(NoSecrets),
            subscription: None,
            endpoint: String::new(),
        };
        let roles = format!("{ROLES}?api-version=2022-04-01");
        for (method, url, is_answered) in [
            (Method::Get, roles.as_str(), true),
            (Method::Post, ROLES, false),
            (Method::Get, "/subscriptions/s/resourceGroups/g", false),
        ] {
            let answer = nobody.send(Request {
                method,
                url: url.to_owned(),
                body: None,
                if_match: None,
                credential: CredentialKey::Global,
            });
            let answer = answer.await.ok();
            assert_eq!(answer.is_some(), is_answered, "{method} {url}");
            assert!(
                answer.is_none_or(|answer| is_gone(&answer)),
                "{method} {url}"
            );
        }
    }
}

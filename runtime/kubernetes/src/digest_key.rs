//! The operator's key of the digests that it keeps in objects: random bytes in a Secret of its namespace.
//!
//! Where the Secret is lost another key takes its place. Nothing is sent because of that: digests of another key are
//! read as none, and made anew with the next look at each object.

use armature_engine::compare::DigestKey;
use armature_reconcile::port::KubernetesError;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::api::{Api, PostParams};
use tokio::sync::OnceCell;

use super::error::request;
use super::names::FIELD_MANAGER;

/// Name of the Secret.
const SECRET: &str = "armature-digest-key";
/// Its only key.
const KEY: &str = "key";

/// The key that the operator in this namespace has; nothing where it has made none yet.
///
/// # Errors
/// When the Secret cannot be read, or holds something else.
pub async fn read_digest_key(
    client: &Client,
    namespace: &str,
) -> Result<Option<DigestKey>, KubernetesError> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let label = || format!("Secret {namespace}/{SECRET}");
    let secret = request("read", label, secrets.get_opt(SECRET)).await?;
    let keys = DigestKeys::new(namespace);
    secret.map(|secret| keys.key_in(&secret)).transpose()
}

/// Reads the key, or makes it, once per process.
pub struct DigestKeys {
    namespace: String,
    key: OnceCell<DigestKey>,
}

impl DigestKeys {
    /// The key in the operator's own namespace.
    pub fn new(namespace: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            key: OnceCell::new(),
        }
    }

    /// The key. A failure is asked again with the next call.
    ///
    /// # Errors
    /// When the Secret can be neither read nor made, or holds something else.
    pub async fn get(&self, client: &Client) -> Result<DigestKey, KubernetesError> {
        let key = self.key.get_or_try_init(|| self.read_or_create(client));
        key.await.cloned()
    }

    async fn read_or_create(&self, client: &Client) -> Result<DigestKey, KubernetesError> {
        let secrets: Api<Secret> = Api::namespaced(client.clone(), &self.namespace);
        let label = || format!("Secret {}/{SECRET}", self.namespace);
        let read = || request("read", label, secrets.get_opt(SECRET));
        if let Some(secret) = read().await? {
            return self.key_in(&secret);
        }
        let key = DigestKey::random();
        let parameters = PostParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PostParams::default()
        };
        let secret = self.secret(&key);
        match request("create", label, secrets.create(&parameters, &secret)).await {
            Ok(_) => Ok(key),
            // Another replica was faster.
            Err(KubernetesError::Conflict { .. }) => match read().await? {
                Some(secret) => self.key_in(&secret),
                None => Err(KubernetesError::Conflict { object: label() }),
            },
            Err(error) => Err(error),
        }
    }

    fn secret(&self, key: &DigestKey) -> Secret {
        Secret {
            metadata: ObjectMeta {
                name: Some(SECRET.to_owned()),
                namespace: Some(self.namespace.clone()),
                ..ObjectMeta::default()
            },
            data: Some([(KEY.to_owned(), ByteString(key.as_bytes().to_vec()))].into()),
            ..Secret::default()
        }
    }

    fn key_in(&self, secret: &Secret) -> Result<DigestKey, KubernetesError> {
        let bytes = secret.data.as_ref().and_then(|data| data.get(KEY));
        let key = bytes.and_then(|bytes| DigestKey::from_bytes(&bytes.0));
        key.ok_or_else(|| KubernetesError::Other {
            operation: "use",
            object: format!("Secret {}/{SECRET}", self.namespace),
            message: format!(
                "its key '{KEY}' must hold {} bytes; delete the Secret, and the operator makes another one",
                DigestKey::LENGTH
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_read_and_anything_else_is_refused_with_what_to_do() {
        let keys = DigestKeys::new("operators");
        let key = DigestKey::random();
        let mut secret = keys.secret(&key);
        assert_eq!(keys.key_in(&secret).unwrap(), key);
        secret.data = Some([(KEY.to_owned(), ByteString(b"short".to_vec()))].into());
        let error = keys.key_in(&secret).unwrap_err().to_string();
        assert!(error.contains("operators/armature-digest-key"), "{error}");
        assert!(error.contains("delete the Secret"), "{error}");
    }
}

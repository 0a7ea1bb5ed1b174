//! Secrets that hold credentials.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Weak;

use async_trait::async_trait;

use super::NamespaceBounds;

/// A Secret that holds a credential. Values are never printed.
#[derive(Clone, Default)]
pub struct SecretData {
    /// Changes whenever the data does: uid and resourceVersion.
    pub version: String,
    /// Decoded data.
    pub data: BTreeMap<String, Vec<u8>>,
}

impl fmt::Debug for SecretData {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SecretData")
            .field("version", &self.version)
            .field("keys", &self.data.keys())
            .finish()
    }
}

/// Reads credential Secrets; implemented by the Kubernetes side.
#[async_trait]
pub trait SecretReader: Send + Sync {
    /// The Secret, or `None` when there is none. The error is a sentence for people.
    async fn read_secret(&self, namespace: &str, name: &str) -> Result<Option<SecretData>, String>;

    /// What the namespace says of the identities that its Secrets name; `live` as the server has it, and not as a watch shows it.
    /// The error is a sentence for people.
    async fn bounds(&self, namespace: &str, live: bool) -> Result<NamespaceBounds, String>;

    /// The version that the Secret has as far as a watch tells, without asking; nothing where no watch shows it.
    fn shown_version(&self, _namespace: &str, _name: &str) -> Option<String> {
        None
    }

    /// Who is told from now on when a Secret that was read has changed or is gone, where a watch shows it.
    fn tell(&self, _user: Weak<dyn SecretUser>) {}
}

/// Who uses what Secrets hold.
pub trait SecretUser: Send + Sync {
    /// The Secret is another one now, or gone: what was read of it counts no more. Must not block.
    fn secret_changed(&self, namespace: &str, name: &str);
}

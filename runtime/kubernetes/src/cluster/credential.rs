//! Secrets with Azure credentials, read from the API server when they changed: nothing secret is cached here.

use std::sync::Weak;

use armature_azure::credential::{NamespaceBounds, SecretData, SecretReader, SecretUser};
use armature_reconcile::port::{DataKind, KubernetesPort};
use async_trait::async_trait;

use super::port::Cluster;

#[async_trait]
impl SecretReader for Cluster {
    async fn read_secret(&self, namespace: &str, name: &str) -> Result<Option<SecretData>, String> {
        let versions = &self.secret_versions;
        let reading = versions.begin_read(namespace, name);
        let found = self.read_data(DataKind::Secret, namespace, name).await;
        let found = found.map_err(|error| error.to_string())?;
        let secret = found.map(|secret| SecretData {
            version: version(&secret.uid, &secret.resource_version),
            data: secret.data,
        });
        let version = secret.as_ref().map(|secret| secret.version.as_str());
        versions.finish_read(namespace, name, reading, version);
        Ok(secret)
    }

    async fn bounds(&self, namespace: &str, live: bool) -> Result<NamespaceBounds, String> {
        let annotations = match live {
            true => self.live_namespace_annotations(namespace).await,
            false => self.namespace_annotations(namespace).await,
        };
        let annotations = annotations.map_err(|error| error.to_string())?;
        Ok(NamespaceBounds::of(&annotations))
    }

    fn tell(&self, user: Weak<dyn SecretUser>) {
        self.secret_versions.tell(user);
    }

    fn shown_version(&self, namespace: &str, name: &str) -> Option<String> {
        self.secret_versions.get(namespace, name)
    }
}

/// What changes whenever the data of a Secret does.
pub(crate) fn version(uid: &str, resource_version: &str) -> String {
    format!("{uid}/{resource_version}")
}

//! Secrets with Azure credentials, read from the API server each time: nothing secret is cached here.

use armature_azure::credential::{SecretData, SecretReader};
use armature_reconcile::port::{DataKind, KubernetesPort};
use async_trait::async_trait;

use super::cluster::Cluster;

#[async_trait]
impl SecretReader for Cluster {
    async fn read_secret(&self, namespace: &str, name: &str) -> Result<Option<SecretData>, String> {
        match self.read_data(DataKind::Secret, namespace, name).await {
            Ok(found) => Ok(found.map(|secret| SecretData {
                version: format!("{}/{}", secret.uid, secret.resource_version),
                data: secret.data,
            })),
            Err(error) => Err(error.to_string()),
        }
    }
}

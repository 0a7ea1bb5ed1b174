//! Counts drift by the events that the driver records; everything else passes through.

use std::collections::BTreeMap;
use std::sync::Arc;

use armature_runtime::engine::compare::DigestKey;
use armature_runtime::id::RemoteId;
use armature_runtime::kind::KindInfo;
use armature_runtime::names::event;
use armature_runtime::reconcile::port::{
    DataExport, DataKind, EventNote, KeyedData, KubernetesError, KubernetesPort, MetadataPatch,
    Protection,
};
use armature_runtime::reconcile::protection::Deletion;
use armature_runtime::reconcile::signature::{NOT_BELIEVED, NoteKeys};
use armature_runtime::resource::{Object, ObjectKey};
use serde_json::Value;

use super::Metrics;

/// A cluster whose drift is counted.
pub struct Counted {
    cluster: Arc<dyn KubernetesPort>,
    metrics: Metrics,
}

impl Counted {
    /// Counts what is recorded through this port.
    pub fn new(cluster: Arc<dyn KubernetesPort>, metrics: Metrics) -> Self {
        Self { cluster, metrics }
    }
}

#[async_trait::async_trait]
impl KubernetesPort for Counted {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Object>, KubernetesError> {
        self.cluster.get(key).await
    }

    async fn read(&self, key: &ObjectKey) -> Result<Option<Object>, KubernetesError> {
        self.cluster.read(key).await
    }

    fn kind(&self, group: &str, kind: &str) -> Option<&'static KindInfo> {
        self.cluster.kind(group, kind)
    }

    fn sharing(&self, id: &RemoteId, except: &ObjectKey) -> Result<Vec<Arc<Object>>, String> {
        self.cluster.sharing(id, except)
    }

    fn stand_for(&self, id: &RemoteId) -> Result<Vec<Arc<Object>>, String> {
        self.cluster.stand_for(id)
    }

    fn owned_by(&self, key: &ObjectKey) -> Vec<ObjectKey> {
        self.cluster.owned_by(key)
    }

    fn wake_dependents(&self, key: &ObjectKey) {
        self.cluster.wake_dependents(key);
    }

    async fn patch_metadata(
        &self,
        object: &Object,
        patch: MetadataPatch,
    ) -> Result<Object, KubernetesError> {
        self.cluster.patch_metadata(object, patch).await
    }

    async fn patch_status(
        &self,
        object: &Object,
        status: Value,
    ) -> Result<Object, KubernetesError> {
        self.cluster.patch_status(object, status).await
    }

    async fn read_data(
        &self,
        kind: DataKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<KeyedData>, KubernetesError> {
        self.cluster.read_data(kind, namespace, name).await
    }

    fn has_namespace_credential(&self, namespace: &str) -> Option<bool> {
        self.cluster.has_namespace_credential(namespace)
    }

    async fn digest_key(&self) -> Result<DigestKey, KubernetesError> {
        self.cluster.digest_key().await
    }

    async fn note_keys(&self) -> Result<NoteKeys, KubernetesError> {
        self.cluster.note_keys().await
    }

    async fn write_data(&self, owner: &Object, export: DataExport) -> Result<(), KubernetesError> {
        self.cluster.write_data(owner, export).await
    }

    async fn namespace_annotations(
        &self,
        name: &str,
    ) -> Result<BTreeMap<String, String>, KubernetesError> {
        self.cluster.namespace_annotations(name).await
    }

    async fn live_namespace_annotations(
        &self,
        name: &str,
    ) -> Result<BTreeMap<String, String>, KubernetesError> {
        self.cluster.live_namespace_annotations(name).await
    }

    fn protection_below(&self, deletion: &Deletion<'_>) -> Protection {
        self.cluster.protection_below(deletion)
    }

    async fn record(&self, object: &Object, note: EventNote) {
        if note.reason == event::DRIFTED {
            self.metrics.drifted(object.kind, &note.paths);
        }
        if note.reason == event::UNSTABLE {
            self.metrics.changes_by_itself(object.kind, &note.paths);
        }
        if note.reason == NOT_BELIEVED {
            self.metrics.notes_not_believed(object.kind);
        }
        if note.reason == event::OUTSIDE_SCOPES {
            self.metrics.outside_scopes(object.kind);
        }
        self.cluster.record(object, note).await;
    }
}

//! The port of one object's pass: the object itself as it is, and all others as their passes will leave them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use armature_runtime::engine::compare::DigestKey;
use armature_runtime::id::RemoteId;
use armature_runtime::kind::KindInfo;
use armature_runtime::names;
use armature_runtime::reconcile::port::{
    DataExport, DataKind, EventNote, KeyedData, KubernetesError, KubernetesPort, MetadataPatch,
    Protection,
};
use armature_runtime::reconcile::protection::Deletion;
use armature_runtime::resource::{Object, ObjectKey};
use async_trait::async_trait;
use serde_json::Value;
use serde_json::value::to_raw_value;

use super::state::Applied;
use crate::worlds::manifests::cluster::Absent;

/// The port of one object's pass.
pub struct Seen {
    world: Arc<Applied>,
    key: ObjectKey,
    notes: Mutex<Notes>,
}

/// What a pass asked for that nobody can tell.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// The last thing that it asked for in vain.
    pub absent: Option<Absent>,
    /// Secrets and ConfigMaps that were taken for there.
    pub assumed: Vec<String>,
}

impl Seen {
    /// The world as this object's pass sees it.
    pub fn new(world: Arc<Applied>, key: ObjectKey) -> Self {
        Self {
            world,
            key,
            notes: Mutex::default(),
        }
    }

    /// What the pass asked for that nobody can tell.
    pub fn noted(&self) -> Notes {
        self.notes().clone()
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        // Plain values: a panic cannot leave them half changed.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look_up(&self, key: &ObjectKey) -> Option<Object> {
        let found = match *key == self.key {
            true => self.world.object(key),
            false => self.world.seen_by_others(key),
        };
        if found.is_none() {
            self.notes().absent = Some(match self.world.manifests().is_mistaken(key) {
                true => Absent::Mistaken,
                false => Absent::Manifest,
            });
        }
        found
    }

    fn own(&self, change: impl FnOnce(&mut Object)) -> Result<Object, KubernetesError> {
        let mut object = self.world.object(&self.key).ok_or(KubernetesError::Gone {
            object: self.key.to_string(),
        })?;
        change(&mut object);
        self.world.store(object.clone());
        Ok(object)
    }
}

#[async_trait]
impl KubernetesPort for Seen {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Object>, KubernetesError> {
        Ok(self.look_up(key))
    }

    async fn read(&self, key: &ObjectKey) -> Result<Option<Object>, KubernetesError> {
        Ok(self.look_up(key))
    }

    fn kind(&self, group: &str, kind: &str) -> Option<&'static KindInfo> {
        let found = self.world.kind(group, kind);
        if found.is_none() {
            self.notes().absent = Some(Absent::Kind);
        }
        found
    }

    fn sharing(&self, id: &RemoteId, except: &ObjectKey) -> Result<Vec<Arc<Object>>, String> {
        Ok(self.world.sharing(id, except))
    }

    fn stand_for(&self, id: &RemoteId) -> Result<Vec<Arc<Object>>, String> {
        Ok(self.world.stand_for(id))
    }

    /// Those of a plan have their places, which [`Self::stand_for`] knows.
    fn owned_by(&self, _: &ObjectKey) -> Vec<ObjectKey> {
        Vec::new()
    }

    fn wake_dependents(&self, _: &ObjectKey) {}

    async fn patch_metadata(
        &self,
        _: &Object,
        patch: MetadataPatch,
    ) -> Result<Object, KubernetesError> {
        self.own(|object| patch.apply(object))
    }

    async fn patch_status(&self, _: &Object, status: Value) -> Result<Object, KubernetesError> {
        self.own(|object| object.status = to_raw_value(&status).ok())
    }

    async fn read_data(
        &self,
        kind: DataKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<KeyedData>, KubernetesError> {
        let Some((data, is_assumed)) = self.world.data(kind, namespace, name).await? else {
            // That a namespace has no credential of its own is nothing to be missed.
            if name != names::NAMESPACE_CREDENTIAL {
                self.notes().absent = Some(Absent::Manifest);
            }
            return Ok(None);
        };
        let title = format!("{kind:?} {namespace}/{name}");
        let mut notes = self.notes();
        if is_assumed && !notes.assumed.contains(&title) {
            notes.assumed.push(title);
        }
        Ok(Some(data))
    }

    fn has_namespace_credential(&self, _: &str) -> Option<bool> {
        // It is read once for all objects of the namespace.
        None
    }

    async fn digest_key(&self) -> Result<DigestKey, KubernetesError> {
        Ok(self.world.digest_key())
    }

    async fn write_data(&self, _: &Object, _: DataExport) -> Result<(), KubernetesError> {
        Ok(())
    }

    async fn namespace_annotations(
        &self,
        name: &str,
    ) -> Result<BTreeMap<String, String>, KubernetesError> {
        Ok(self.world.namespace(name))
    }

    async fn live_namespace_annotations(
        &self,
        name: &str,
    ) -> Result<BTreeMap<String, String>, KubernetesError> {
        Ok(self.world.namespace(name))
    }

    fn protection_below(&self, deletion: &Deletion<'_>) -> Protection {
        self.world.protection_below(deletion)
    }

    async fn record(&self, _: &Object, _: EventNote) {}
}

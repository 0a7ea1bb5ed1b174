//! The cluster that the pass of one object sees: the object is new, and everything else of the manifests is there, claimed
//! and ready.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use armature_runtime::engine::compare::DigestKey;
use armature_runtime::id::RemoteId;
use armature_runtime::kind::KindInfo;
use armature_runtime::names;
use armature_runtime::reconcile::claim;
use armature_runtime::reconcile::condition::reason;
use armature_runtime::reconcile::port::{
    DataExport, DataKind, EventNote, KeyedData, KubernetesError, KubernetesPort, MetadataPatch,
    Protection,
};
use armature_runtime::reconcile::protection::Deletion;
use armature_runtime::resource::{Object, ObjectKey};
use async_trait::async_trait;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::inventory::Manifests;

/// The ARM ids of objects, as far as they are known.
pub type Places = HashMap<ObjectKey, RemoteId>;

/// What a pass asked for that is in no manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// A kind that nobody knows.
    Kind,
    /// An object, a Secret or a ConfigMap.
    Manifest,
    /// An object whose manifest has a mistake, which is told where it stands.
    Mistaken,
}

/// The port of one object's pass.
pub struct Cluster {
    manifests: Arc<Manifests>,
    places: Arc<Places>,
    key: ObjectKey,
    digest_key: DigestKey,
    state: Mutex<State>,
}

struct State {
    object: Object,
    absent: Option<Absent>,
    /// The object of [`Absent::Mistaken`].
    mistaken: Option<ObjectKey>,
}

impl Cluster {
    /// The cluster around this object.
    pub fn new(manifests: Arc<Manifests>, places: Arc<Places>, object: Object) -> Self {
        Self {
            manifests,
            places,
            key: object.key(),
            digest_key: DigestKey::random(),
            state: Mutex::new(State {
                object,
                absent: None,
                mistaken: None,
            }),
        }
    }

    /// The object's `Ready` condition, as the pass has left it.
    pub fn ready(&self) -> Value {
        let status = self.state().object.status.clone();
        let status = status.and_then(|status| serde_json::from_str::<Value>(status.get()).ok());
        let conditions = status
            .as_ref()
            .and_then(|status| status["conditions"].as_array());
        let mut conditions = conditions.into_iter().flatten();
        let ready = conditions.find(|condition| condition["type"] == "Ready");
        ready.cloned().unwrap_or_default()
    }

    /// The last thing that the pass asked for in vain.
    pub fn absent(&self) -> Option<Absent> {
        self.state().absent
    }

    /// The last object that the pass asked for and that has a mistake of its own.
    pub fn mistaken(&self) -> Option<ObjectKey> {
        self.state().mistaken.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Plain values: a panic cannot leave them half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look_up(&self, key: &ObjectKey) -> Option<Object> {
        let mut state = self.state();
        if *key == self.key {
            return Some(state.object.clone());
        }
        let found = self.manifests.object(key);
        let place = self.places.get(key);
        state.absent = match found {
            // Why it has no place is told of the object itself.
            Some(_) if place.is_none() => Some(Absent::Mistaken),
            Some(_) => state.absent,
            None if self.manifests.is_mistaken(key) => Some(Absent::Mistaken),
            None => Some(Absent::Manifest),
        };
        if state.absent == Some(Absent::Mistaken) {
            state.mistaken = Some(key.clone());
        }
        found.map(|object| settled(object, place))
    }
}

/// The object as its pass will leave it, if it has a place in Azure.
pub fn settled(object: &Object, id: Option<&RemoteId>) -> Object {
    let mut object = object.clone();
    let Some(id) = id else {
        return object;
    };
    let annotations = object.metadata.annotations.get_or_insert_default();
    annotations.insert(names::RESOURCE_ID.to_owned(), id.as_str().to_owned());
    if !claim::is_claimed(&object) {
        let finalizers = object.metadata.finalizers.get_or_insert_default();
        finalizers.push(names::FINALIZER.to_owned());
    }
    let ready = json!({"type": "Ready", "status": "True", "reason": reason::SUCCEEDED});
    object.status = to_raw_value(&json!({ "conditions": [ready] })).ok();
    object
}

#[async_trait]
impl KubernetesPort for Cluster {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Object>, KubernetesError> {
        Ok(self.look_up(key))
    }

    async fn read(&self, key: &ObjectKey) -> Result<Option<Object>, KubernetesError> {
        Ok(self.look_up(key))
    }

    fn kind(&self, group: &str, kind: &str) -> Option<&'static KindInfo> {
        let found = self.manifests.kind(group, kind);
        if found.is_none() {
            self.state().absent = Some(Absent::Kind);
        }
        found
    }

    fn sharing(&self, id: &RemoteId, except: &ObjectKey) -> Result<Vec<Arc<Object>>, String> {
        let mut others = self.stand_for(id)?;
        others.retain(|other| other.key() != *except);
        Ok(others)
    }

    fn stand_for(&self, id: &RemoteId) -> Result<Vec<Arc<Object>>, String> {
        let places = self.places.iter().filter(|(_, place)| *place == id);
        let standing = places.filter_map(|(key, place)| {
            let object = self.manifests.object(key)?;
            Some(Arc::new(settled(object, Some(place))))
        });
        Ok(standing.collect())
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
        let mut state = self.state();
        patch.apply(&mut state.object);
        Ok(state.object.clone())
    }

    async fn patch_status(&self, _: &Object, status: Value) -> Result<Object, KubernetesError> {
        let mut state = self.state();
        state.object.status = to_raw_value(&status).ok();
        Ok(state.object.clone())
    }

    async fn read_data(
        &self,
        kind: DataKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<KeyedData>, KubernetesError> {
        let Some(data) = self.manifests.data(kind, namespace, name) else {
            // That a namespace has no credential of its own is nothing to be missed.
            if name != names::NAMESPACE_CREDENTIAL {
                self.state().absent = Some(Absent::Manifest);
            }
            return Ok(None);
        };
        Ok(Some(KeyedData {
            data: data.clone(),
            ..KeyedData::default()
        }))
    }

    fn has_namespace_credential(&self, namespace: &str) -> Option<bool> {
        let name = names::NAMESPACE_CREDENTIAL;
        let found = self.manifests.data(DataKind::Secret, namespace, name);
        Some(found.is_some())
    }

    async fn digest_key(&self) -> Result<DigestKey, KubernetesError> {
        Ok(self.digest_key.clone())
    }

    async fn write_data(&self, _: &Object, _: DataExport) -> Result<(), KubernetesError> {
        Ok(())
    }

    async fn namespace_annotations(
        &self,
        name: &str,
    ) -> Result<BTreeMap<String, String>, KubernetesError> {
        Ok(self.manifests.namespace(name))
    }

    async fn live_namespace_annotations(
        &self,
        name: &str,
    ) -> Result<BTreeMap<String, String>, KubernetesError> {
        Ok(self.manifests.namespace(name))
    }

    fn protection_below(&self, _: &Deletion<'_>) -> Protection {
        Protection::None
    }

    async fn record(&self, _: &Object, _: EventNote) {}
}

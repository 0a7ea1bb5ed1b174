//! The objects of the world, and what is known of each so far.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use armature_runtime::azure::credential::{NamespaceBounds, SecretData, SecretReader};
use armature_runtime::engine::compare::DigestKey;
use armature_runtime::id::RemoteId;
use armature_runtime::kind::KindInfo;
use armature_runtime::reconcile::annotations::Annotations;
use armature_runtime::reconcile::claim;
use armature_runtime::reconcile::port::{DataKind, KeyedData, KubernetesError, Protection};
use armature_runtime::reconcile::protection::Deletion;
use armature_runtime::resource::{Object, ObjectKey};
use async_trait::async_trait;
use futures::{StreamExt, stream};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::live::{Live, LiveData};
use crate::worlds::manifests::cluster::{Places, settled};
use crate::worlds::manifests::inventory::Manifests;

/// Namespaces that are read at a time.
const AT_A_TIME: usize = 16;

/// What is known of an object whose pass was foreseen.
#[derive(Clone, Debug)]
pub enum Known {
    /// It will be ready, and is this resource.
    Ready(RemoteId),
    /// It will not be: why, in one word.
    Blocked(String),
}

type DataId = (DataKind, String, String);

/// A cluster with manifests applied to it.
pub struct Applied {
    kinds: Vec<&'static KindInfo>,
    manifests: Manifests,
    live: Option<Live>,
    digest_key: DigestKey,
    namespaces: BTreeMap<String, Annotations>,
    /// Secrets and ConfigMaps that objects will write.
    exported: BTreeSet<DataId>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Object>,
    known: HashMap<ObjectKey, Known>,
    places: Arc<Places>,
    read: HashMap<DataId, Option<LiveData>>,
}

impl State {
    /// The resource that an object stands for, as far as that is known.
    fn id_of(&self, key: &ObjectKey, object: &Object) -> Option<RemoteId> {
        let recorded = || RemoteId::parse(object.kind.0, claim::resource_id(object)?).ok();
        match self.known.get(key) {
            Some(Known::Ready(id)) => Some(id.clone()),
            Some(Known::Blocked(_)) => recorded(),
            None => self.places.get(key).cloned().or_else(recorded),
        }
    }
}

/// What a world is made of.
pub struct Parts {
    /// The kinds that there are.
    pub kinds: Vec<&'static KindInfo>,
    /// What is applied.
    pub manifests: Manifests,
    /// What it is applied to.
    pub live: Option<Live>,
    /// All objects, with manifests applied.
    pub objects: Vec<Object>,
    /// Secrets and ConfigMaps that objects will write.
    pub exported: BTreeSet<(DataKind, String, String)>,
    /// The key of the digests in objects.
    pub digest_key: DigestKey,
}

impl Applied {
    /// A world. Reads the annotations of its namespaces.
    ///
    /// # Errors
    /// When a namespace cannot be read.
    pub async fn new(parts: Parts) -> Result<Self, KubernetesError> {
        let mut names = parts.manifests.namespaces();
        names.extend(parts.objects.iter().map(|object| object.key().namespace));
        let mut namespaces = BTreeMap::new();
        let reads = names.into_iter().map(|name| {
            let live = parts.live.clone();
            async move {
                let read = match &live {
                    Some(live) => live.namespace(&name).await,
                    None => Ok(Annotations::new()),
                };
                read.map(|annotations| (name, annotations))
            }
        });
        let reads: Vec<_> = stream::iter(reads).buffered(AT_A_TIME).collect().await;
        for read in reads {
            let (name, mut annotations): (String, Annotations) = read?;
            annotations.extend(parts.manifests.namespace(&name));
            namespaces.insert(name, annotations);
        }
        let named = |object: Object| (object.key().to_string() + object.kind.0.group, object);
        Ok(Self {
            kinds: parts.kinds,
            manifests: parts.manifests,
            live: parts.live,
            digest_key: parts.digest_key,
            namespaces,
            exported: parts.exported,
            state: Mutex::new(State {
                objects: parts.objects.into_iter().map(named).collect(),
                ..State::default()
            }),
        })
    }

    /// The manifests.
    pub fn manifests(&self) -> &Manifests {
        &self.manifests
    }

    /// The kind of this group and name.
    pub fn kind(&self, group: &str, kind: &str) -> Option<&'static KindInfo> {
        let mut kinds = self.kinds.iter().copied();
        kinds.find(|known| known.group == group && known.kind == kind)
    }

    /// The object as it is now.
    pub fn object(&self, key: &ObjectKey) -> Option<Object> {
        self.state().objects.get(&name_of(key)).cloned()
    }

    /// Takes in what a pass has written.
    pub fn store(&self, object: Object) {
        let name = name_of(&object.key());
        self.state().objects.insert(name, object);
    }

    /// The object as others see it: as its pass will leave it.
    pub fn seen_by_others(&self, key: &ObjectKey) -> Option<Object> {
        let object = self.object(key)?;
        let state = self.state();
        Some(match state.known.get(key) {
            Some(Known::Ready(id)) => settled(&object, Some(id)),
            Some(Known::Blocked(reason)) => blocked(object, reason),
            None => settled(&object, state.places.get(key)),
        })
    }

    /// Takes in where objects will be whose pass was not foreseen yet.
    pub fn set_places(&self, places: Places) {
        self.state().places = Arc::new(places);
    }

    /// Where objects will be.
    pub fn places(&self) -> Arc<Places> {
        self.state().places.clone()
    }

    /// Takes in what was foreseen of an object.
    pub fn learn(&self, key: &ObjectKey, known: Known) {
        self.state().known.insert(key.clone(), known);
    }

    /// Other objects that stand for this id.
    pub fn sharing(&self, id: &RemoteId, except: &ObjectKey) -> Vec<Arc<Object>> {
        let mut others = self.stand_for(id);
        others.retain(|other| other.key() != *except);
        others
    }

    /// Objects that stand for this id.
    pub fn stand_for(&self, id: &RemoteId) -> Vec<Arc<Object>> {
        let keys: Vec<ObjectKey> = {
            let state = self.state();
            let all = state.objects.values().map(|object| (object.key(), object));
            let standing =
                all.filter(|(key, object)| state.id_of(key, object).as_ref() == Some(id));
            standing.map(|(key, _)| key).collect()
        };
        let seen = keys.iter().filter_map(|key| self.seen_by_others(key));
        seen.map(Arc::new).collect()
    }

    /// Whether an object stands against the deletion.
    pub fn protection_below(&self, deletion: &Deletion<'_>) -> Protection {
        let state = self.state();
        let none = Annotations::new();
        let is_one = |object: &&Object| {
            let namespace = self.namespaces.get(&object.key().namespace);
            deletion.is_refused_by(object, namespace.unwrap_or(&none))
        };
        let found = state.objects.values().find(is_one);
        found.map_or(Protection::None, |object| {
            Protection::Of(object.key().to_string())
        })
    }

    /// Annotations of a namespace.
    pub fn namespace(&self, name: &str) -> Annotations {
        self.namespaces.get(name).cloned().unwrap_or_default()
    }

    /// The key of the digests in objects.
    pub fn digest_key(&self) -> DigestKey {
        self.digest_key.clone()
    }

    /// Values of a Secret or ConfigMap, and whether they are only assumed: what an object will write, and without a cluster
    /// also what no manifest has, is marked where it is used.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn data(
        &self,
        kind: DataKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<(KeyedData, bool)>, KubernetesError> {
        if let Some(given) = self.manifests.given_data(kind, namespace, name) {
            let data = KeyedData {
                data: given.clone(),
                ..KeyedData::default()
            };
            return Ok(Some((data, false)));
        }
        let id = (kind, namespace.to_owned(), name.to_owned());
        if let Some(live) = &self.live {
            if let Some(found) = self.read(live, &id).await? {
                let data = KeyedData {
                    uid: found.uid,
                    resource_version: found.resource_version,
                    data: found.values,
                    ..KeyedData::default()
                };
                return Ok(Some((data, false)));
            }
            if !self.exported.contains(&id) {
                return Ok(None);
            }
        }
        let marks = self.manifests.data(kind, namespace, name);
        Ok(marks.map(|marks| {
            let data = KeyedData {
                data: marks.clone(),
                ..KeyedData::default()
            };
            (data, !self.exported.contains(&id))
        }))
    }

    async fn read(&self, live: &Live, id: &DataId) -> Result<Option<LiveData>, KubernetesError> {
        let known = self.state().read.get(id).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let (kind, namespace, name) = id;
        let read = live.data(*kind, namespace, name).await?;
        self.state().read.insert(id.clone(), read.clone());
        Ok(read)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Plain values: a panic cannot leave them half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SecretReader for Applied {
    async fn read_secret(&self, namespace: &str, name: &str) -> Result<Option<SecretData>, String> {
        let found = self.data(DataKind::Secret, namespace, name).await;
        let found = found.map_err(|error| error.to_string())?;
        Ok(found.map(|(secret, _)| SecretData {
            version: format!("{}/{}", secret.uid, secret.resource_version),
            data: secret.data,
        }))
    }

    async fn bounds(&self, namespace: &str, _live: bool) -> Result<NamespaceBounds, String> {
        Ok(NamespaceBounds::of(&self.namespace(namespace)))
    }

    fn shown_version(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}

fn name_of(key: &ObjectKey) -> String {
    key.to_string() + key.kind.0.group
}

/// The object as its pass will leave it where it cannot go on.
fn blocked(mut object: Object, reason: &str) -> Object {
    let ready = json!({"type": "Ready", "status": "False", "reason": reason});
    object.status = to_raw_value(&json!({ "conditions": [ready] })).ok();
    object
}

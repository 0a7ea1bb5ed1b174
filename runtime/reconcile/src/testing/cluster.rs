//! A cluster in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use armature_engine::compare::DigestKey;
use armature_shapes::id::RemoteId;
use armature_shapes::kind::KindInfo;
use armature_shapes::names::NAMESPACE_CREDENTIAL;
use armature_shapes::resource::{Kind, Object, ObjectKey};
use armature_shapes::testing::kinds;
use async_trait::async_trait;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::{Breakpoint, Journal, Side, lock};
use crate::claim;
use crate::port::{
    DataExport, DataKind, EventNote, KeyedData, KubernetesError, KubernetesPort, MetadataPatch,
    Protection,
};
use crate::protection::Deletion;
use crate::signature::NoteKeys;

mod release;
mod state;

use state::State;

/// Objects, Secrets, ConfigMaps, namespaces and events. Stale writes are refused.
pub struct MemoryCluster {
    journal: Journal,
    digest_key: Mutex<DigestKey>,
    /// From when on objects need a signature, and whether all do.
    signing: Mutex<(Option<Timestamp>, bool)>,
    kinds: Vec<&'static KindInfo>,
    breakpoint: Arc<Breakpoint>,
    state: Mutex<State>,
}

impl MemoryCluster {
    /// An empty cluster that knows the kinds of [`super::kinds`].
    pub fn new(journal: Journal) -> Self {
        Self::with_kinds(journal, &[&kinds::GROUP, &kinds::STORE, &kinds::BOX])
    }

    /// An empty cluster that knows these kinds.
    pub fn with_kinds(journal: Journal, kinds: &[&'static KindInfo]) -> Self {
        Self {
            journal,
            digest_key: Mutex::new(DigestKey::random()),
            signing: Mutex::default(),
            kinds: kinds.to_vec(),
            breakpoint: Arc::default(),
            state: Mutex::default(),
        }
    }

    /// The cluster with every write stopped where the breakpoint says.
    #[must_use]
    pub fn stopped_at(mut self, breakpoint: Arc<Breakpoint>) -> Self {
        self.breakpoint = breakpoint;
        self
    }

    /// Creates an object as it is given, or replaces its spec, as an API server does: a uid of its own on creation,
    /// a generation that grows only with a spec that is another one. Returns whether anything has changed.
    pub fn store(&self, object: Object) -> bool {
        let mut state = lock(&self.state);
        let version = state.next_version();
        let key = object.key();
        if let Some(stored) = state.objects.get_mut(&key) {
            let text = |object: &Object| object.spec.as_ref().map(|spec| spec.get().to_owned());
            if text(stored) == text(&object) {
                return false;
            }
            stored.spec = object.spec;
            stored.metadata.generation = Some(stored.metadata.generation.unwrap_or(0) + 1);
            stored.metadata.resource_version = Some(version);
            return true;
        }
        state.created += 1;
        let mut created = object;
        created.metadata.uid = Some(format!("uid-{}", state.created));
        created.metadata.generation.get_or_insert(1);
        created.metadata.resource_version = Some(version);
        state.objects.insert(key.clone(), created);
        state.note_id(&key);
        true
    }

    /// Writes a Secret or ConfigMap again without a change of its content, as a new label does.
    pub fn touch_data(&self, kind: DataKind, name: &str) {
        let at = (kind, "default".to_owned(), name.to_owned());
        let mut state = lock(&self.state);
        let version = state.next_version();
        if let Some(data) = state.data.get_mut(&at) {
            data.resource_version = version;
        }
    }

    /// Events so far, with their objects, which are forgotten here.
    pub fn take_event_notes(&self) -> Vec<(ObjectKey, EventNote)> {
        std::mem::take(&mut lock(&self.state).events)
    }

    /// Creates an object in namespace `default`, or replaces its spec: the generation grows.
    pub fn apply(&self, kind: &'static KindInfo, name: &str, spec: &Value) -> ObjectKey {
        let key = ObjectKey {
            kind: Kind(kind),
            namespace: "default".to_owned(),
            name: name.to_owned(),
        };
        let mut state = lock(&self.state);
        let version = state.next_version();
        let object = state.objects.entry(key.clone()).or_insert_with(|| Object {
            kind: Kind(kind),
            metadata: ObjectMeta {
                name: Some(key.name.clone()),
                namespace: Some(key.namespace.clone()),
                uid: Some(format!("uid-{name}")),
                creation_timestamp: Some(Time(Timestamp::UNIX_EPOCH)),
                ..ObjectMeta::default()
            },
            spec: None,
            status: None,
        });
        object.spec = raw(spec);
        object.metadata.generation = Some(object.metadata.generation.unwrap_or(0) + 1);
        object.metadata.resource_version = Some(version);
        key
    }

    /// Loses the key of the operator's digests: another one takes its place.
    pub fn lose_digest_key(&self) {
        *lock(&self.digest_key) = DigestKey::random();
    }

    /// Another operator is at work, with this key. Returns the one of before.
    pub fn exchange_digest_key(&self, key: DigestKey) -> DigestKey {
        std::mem::replace(&mut *lock(&self.digest_key), key)
    }

    /// Objects that are younger than this need signed notes.
    pub fn demand_signatures_since(&self, since: Timestamp) {
        lock(&self.signing).0 = Some(since);
    }

    /// All objects need signed notes.
    pub fn demand_signatures(&self) {
        lock(&self.signing).1 = true;
    }

    /// How often a Secret or ConfigMap was read.
    pub fn data_reads(&self) -> usize {
        lock(&self.state).data_reads
    }

    /// Sets or removes an annotation.
    pub fn annotate(&self, key: &ObjectKey, name: &str, value: Option<&str>) {
        let mut state = lock(&self.state);
        let version = state.next_version();
        if let Some(object) = state.objects.get_mut(key) {
            let annotations = object.metadata.annotations.get_or_insert_default();
            match value {
                Some(value) => annotations.insert(name.to_owned(), value.to_owned()),
                None => annotations.remove(name),
            };
            object.metadata.resource_version = Some(version);
        }
        state.note_id(key);
    }

    /// Deletes an object: it stays while it has finalizers, and its generation grows.
    pub fn delete(&self, key: &ObjectKey) {
        let mut state = lock(&self.state);
        let version = state.next_version();
        let Some(object) = state.objects.get_mut(key) else {
            return;
        };
        if object
            .metadata
            .finalizers
            .as_ref()
            .is_none_or(Vec::is_empty)
        {
            state.objects.remove(key);
        } else {
            object.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
            object.metadata.generation = Some(object.metadata.generation.unwrap_or(0) + 1);
            object.metadata.resource_version = Some(version);
        }
    }

    /// Removes an object as if it had never been there, finalizers or not.
    pub fn forget(&self, key: &ObjectKey) {
        lock(&self.state).objects.remove(key);
    }

    /// An annotation's value.
    pub fn annotation(&self, key: &ObjectKey, name: &str) -> Option<String> {
        let object = self.object(key)?;
        object.metadata.annotations?.get(name).cloned()
    }

    /// The object, if it exists.
    pub fn object(&self, key: &ObjectKey) -> Option<Object> {
        lock(&self.state).objects.get(key).cloned()
    }

    /// The object's status; `null` when it has none.
    pub fn status(&self, key: &ObjectKey) -> Value {
        self.object(key)
            .and_then(|object| serde_json::from_str(object.status?.get()).ok())
            .unwrap_or_default()
    }

    /// Status, severity and reason of a condition, joined by `/`; empty when it is absent.
    pub fn condition(&self, key: &ObjectKey, name: &str) -> String {
        let status = self.status(key);
        let conditions = status["conditions"].as_array();
        let found = conditions
            .into_iter()
            .flatten()
            .find(|item| item["type"] == name);
        let text = |item: &Value, field: &str| item[field].as_str().unwrap_or("").to_owned();
        found.map_or_else(String::new, |item| {
            ["status", "severity", "reason"]
                .map(|field| text(item, field))
                .join("/")
        })
    }

    /// Message of `Ready`.
    pub fn message(&self, key: &ObjectKey) -> String {
        let status = self.status(key);
        let conditions = status["conditions"].as_array();
        let found = conditions
            .into_iter()
            .flatten()
            .find(|item| item["type"] == "Ready");
        found
            .and_then(|item| item["message"].as_str())
            .unwrap_or("")
            .to_owned()
    }

    /// Writes a Secret or ConfigMap that no object owns.
    pub fn put_data(&self, kind: DataKind, name: &str, data: &[(&str, &str)]) {
        let mut state = lock(&self.state);
        let resource_version = state.next_version();
        let data = data
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()))
            .collect();
        let keyed = KeyedData {
            uid: format!("uid-{name}"),
            resource_version,
            owners: Vec::new(),
            own_keys: BTreeSet::new(),
            data,
        };
        let at = (kind, "default".to_owned(), name.to_owned());
        state.data.insert(at, keyed);
    }

    /// Deletes a Secret or ConfigMap.
    pub fn remove_data(&self, kind: DataKind, name: &str) {
        let at = (kind, "default".to_owned(), name.to_owned());
        lock(&self.state).data.remove(&at);
    }

    /// A value of a Secret or ConfigMap.
    pub fn data(&self, kind: DataKind, name: &str, key: &str) -> Option<String> {
        let at = (kind, "default".to_owned(), name.to_owned());
        let state = lock(&self.state);
        let bytes = state.data.get(&at)?.data.get(key)?;
        String::from_utf8(bytes.clone()).ok()
    }

    /// Annotations of a namespace, as watches have told.
    pub fn namespace(&self, name: &str) -> BTreeMap<String, String> {
        let state = lock(&self.state);
        state.namespaces.get(name).cloned().unwrap_or_default()
    }

    /// Adds a finalizer, as another operator would.
    pub fn add_finalizer(&self, key: &ObjectKey, name: &str) {
        let mut state = lock(&self.state);
        if let Some(object) = state.objects.get_mut(key) {
            let finalizers = object.metadata.finalizers.get_or_insert_default();
            finalizers.push(name.to_owned());
        }
    }

    /// Sets the annotations of a namespace.
    pub fn annotate_namespace(&self, name: &str, annotations: BTreeMap<String, String>) {
        lock(&self.state)
            .namespaces
            .insert(name.to_owned(), annotations);
    }

    /// Sets the annotations of a namespace on the server: watches have not told of them yet.
    pub fn annotate_namespace_unseen(&self, name: &str, annotations: BTreeMap<String, String>) {
        lock(&self.state)
            .live_namespaces
            .insert(name.to_owned(), annotations);
    }

    /// The annotations of a namespace.
    pub fn annotations_of_namespace(&self, name: &str) -> BTreeMap<String, String> {
        let state = lock(&self.state);
        state.namespaces.get(name).cloned().unwrap_or_default()
    }

    /// Makes the next writes of objects fail as if somebody had been faster.
    pub fn interfere(&self, writes: usize) {
        lock(&self.state).conflicts = writes;
    }

    /// How many of these writes are still to come.
    pub fn interferences(&self) -> usize {
        lock(&self.state).conflicts
    }

    /// Refuses writes of metadata from now on, as an admission policy does, or no longer.
    pub fn refuse_metadata(&self, refuses: bool) {
        lock(&self.state).refuses_metadata = refuses;
    }

    /// Refuses a status of more bytes from now on, as etcd does.
    pub fn limit_status(&self, bytes: usize) {
        lock(&self.state).longest_status = Some(bytes);
    }

    fn refused(&self, operation: &'static str, object: &Object) -> KubernetesError {
        self.journal
            .note(format!("refused to {operation} {}", object.key()));
        KubernetesError::Refused {
            operation,
            object: object.key().to_string(),
            message: "a rule".to_owned(),
        }
    }

    /// Keeps the cache at the object as it is now, until it is read from the server.
    pub fn lag(&self, key: &ObjectKey) {
        let mut state = lock(&self.state);
        if let Some(object) = state.objects.get(key).cloned() {
            state.cached.insert(key.clone(), object);
        }
    }

    /// Has the cache at the object as it was, until it is read from the server.
    pub fn lag_at(&self, object: Object) {
        lock(&self.state).cached.insert(object.key(), object);
    }

    /// Reasons and messages of events so far, which are forgotten here.
    pub fn take_events(&self) -> Vec<(String, String)> {
        std::mem::take(&mut lock(&self.state).events)
            .into_iter()
            .map(|(_, event)| (event.reason, event.message))
            .collect()
    }

    fn write(
        &self,
        what: &str,
        object: &Object,
        change: impl FnOnce(&mut Object),
    ) -> Result<Object, KubernetesError> {
        let key = object.key();
        let mut state = lock(&self.state);
        let version = state.next_version();
        if state.conflicts > 0 {
            state.conflicts -= 1;
            let object = key.to_string();
            return Err(KubernetesError::Conflict { object });
        }
        let Some(stored) = state.objects.get_mut(&key) else {
            // It costs the API server a request all the same.
            self.journal.note(format!("{what} {key}, which is gone"));
            return Err(KubernetesError::Gone {
                object: key.to_string(),
            });
        };
        if stored.metadata.resource_version != object.metadata.resource_version {
            return Err(KubernetesError::Conflict {
                object: key.to_string(),
            });
        }
        self.journal.note(format!("{what} {key}"));
        change(stored);
        stored.metadata.resource_version = Some(version);
        let written = stored.clone();
        state.note_id(&key);
        let finalizers = written.metadata.finalizers.as_ref();
        if written.metadata.deletion_timestamp.is_some() && finalizers.is_none_or(Vec::is_empty) {
            state.objects.remove(&key);
        }
        Ok(written)
    }
}

fn raw(value: &Value) -> Option<Box<RawValue>> {
    to_raw_value(value).ok()
}

#[async_trait]
impl KubernetesPort for MemoryCluster {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Object>, KubernetesError> {
        let cached = lock(&self.state).cached.get(key).cloned();
        Ok(cached.or_else(|| self.object(key)))
    }

    async fn read(&self, key: &ObjectKey) -> Result<Option<Object>, KubernetesError> {
        lock(&self.state).cached.remove(key);
        Ok(self.object(key))
    }

    fn kind(&self, group: &str, kind: &str) -> Option<&'static KindInfo> {
        let mut kinds = self.kinds.iter().copied();
        kinds.find(|info| (info.group, info.kind) == (group, kind))
    }

    fn sharing(&self, id: &RemoteId, except: &ObjectKey) -> Result<Vec<Arc<Object>>, String> {
        let mut others = self.stand_for(id)?;
        others.retain(|other| other.key() != *except);
        Ok(others)
    }

    fn stand_for(&self, id: &RemoteId) -> Result<Vec<Arc<Object>>, String> {
        let state = lock(&self.state);
        let keys = state.ids.get(&id.as_str().to_lowercase());
        let keys = keys.into_iter().flatten();
        let objects = keys.filter_map(|key| state.objects.get(key));
        let is_of = |object: &&Object| {
            claim::resource_id(object).is_some_and(|found| found.eq_ignore_ascii_case(id.as_str()))
        };
        Ok(objects.filter(is_of).cloned().map(Arc::new).collect())
    }

    fn owned_by(&self, key: &ObjectKey) -> Vec<ObjectKey> {
        let state = lock(&self.state);
        let id = state.objects.get(key).and_then(claim::resource_id);
        let all = state.objects.iter();
        let owned = all.filter(|(_, object)| {
            let spec: Value = object
                .spec
                .as_ref()
                .and_then(|spec| serde_json::from_str(spec.get()).ok())
                .unwrap_or_default();
            let (name, by_id) = (&spec["owner"]["name"], spec["owner"]["armId"].as_str());
            let is_same = |one: &str, other: &str| one.eq_ignore_ascii_case(other);
            by_id.zip(id).is_some_and(|(by_id, id)| is_same(by_id, id))
                || *name == key.name.as_str()
        });
        owned.map(|(key, _)| key.clone()).collect()
    }

    fn wake_dependents(&self, key: &ObjectKey) {
        self.journal.note(format!("wake dependents of {key}"));
    }

    async fn patch_metadata(
        &self,
        object: &Object,
        patch: MetadataPatch,
    ) -> Result<Object, KubernetesError> {
        self.breakpoint.pass(Side::Before, "metadata").await;
        if lock(&self.state).refuses_metadata {
            return Err(self.refused("change the metadata of", object));
        }
        let written = self.write("metadata", object, |stored| {
            patch.apply(stored);
        });
        self.breakpoint.pass(Side::After, "metadata").await;
        written
    }

    async fn patch_status(
        &self,
        object: &Object,
        status: Value,
    ) -> Result<Object, KubernetesError> {
        self.breakpoint.pass(Side::Before, "status").await;
        let longest = lock(&self.state).longest_status;
        if longest.is_some_and(|longest| status.to_string().len() > longest) {
            return Err(self.refused("write the status of", object));
        }
        let written = self.write("status", object, |stored| stored.status = raw(&status));
        self.breakpoint.pass(Side::After, "status").await;
        written
    }

    async fn read_data(
        &self,
        kind: DataKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<KeyedData>, KubernetesError> {
        let at = (kind, namespace.to_owned(), name.to_owned());
        let mut state = lock(&self.state);
        state.data_reads += 1;
        Ok(state.data.get(&at).cloned())
    }

    fn has_namespace_credential(&self, namespace: &str) -> Option<bool> {
        let at = (
            DataKind::Secret,
            namespace.to_owned(),
            NAMESPACE_CREDENTIAL.to_owned(),
        );
        Some(lock(&self.state).data.contains_key(&at))
    }

    async fn digest_key(&self) -> Result<DigestKey, KubernetesError> {
        Ok(lock(&self.digest_key).clone())
    }

    async fn note_keys(&self) -> Result<NoteKeys, KubernetesError> {
        let (since, all) = *lock(&self.signing);
        let keys = NoteKeys::new(lock(&self.digest_key).clone(), None, since);
        Ok(if all { keys.demanding_all() } else { keys })
    }

    async fn write_data(&self, owner: &Object, export: DataExport) -> Result<(), KubernetesError> {
        self.journal
            .note(format!("export {:?} {}", export.kind, export.name));
        let mut state = lock(&self.state);
        let resource_version = state.next_version();
        let uid = owner.metadata.uid.clone().unwrap_or_default();
        let namespace = owner.metadata.namespace.clone().unwrap_or_default();
        let own_keys = export.data.keys().cloned().collect();
        let data = export.data.into_iter();
        let keyed = KeyedData {
            own_keys,
            uid: format!("uid-{}", export.name),
            resource_version,
            owners: vec![OwnerReference {
                kind: owner.kind.0.kind.to_owned(),
                name: owner.metadata.name.clone().unwrap_or_default(),
                uid,
                ..OwnerReference::default()
            }],
            data: data.map(|(key, text)| (key, text.into_bytes())).collect(),
        };
        state
            .data
            .insert((export.kind, namespace, export.name), keyed);
        Ok(())
    }

    async fn namespace_annotations(
        &self,
        name: &str,
    ) -> Result<BTreeMap<String, String>, KubernetesError> {
        Ok(self.annotations_of_namespace(name))
    }

    async fn live_namespace_annotations(
        &self,
        name: &str,
    ) -> Result<BTreeMap<String, String>, KubernetesError> {
        let state = lock(&self.state);
        let live = state.live_namespaces.get(name);
        let live = live.or_else(|| state.namespaces.get(name));
        Ok(live.cloned().unwrap_or_default())
    }

    fn protection_below(&self, deletion: &Deletion<'_>) -> Protection {
        let state = lock(&self.state);
        let none = BTreeMap::new();
        let mut objects = state.objects.values();
        let found = objects.find(|object| {
            let namespace = object.metadata.namespace.as_deref().unwrap_or_default();
            deletion.is_refused_by(object, state.namespaces.get(namespace).unwrap_or(&none))
        });
        found.map_or(Protection::None, |object| {
            Protection::Of(object.key().to_string())
        })
    }

    async fn record(&self, object: &Object, event: EventNote) {
        lock(&self.state).events.push((object.key(), event));
    }
}

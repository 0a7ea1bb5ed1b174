//! The cluster as the driver sees it: its port, over the API server and the cache.

#[cfg(test)]
mod exports;

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::sync::Arc;

use armature_engine::compare::DigestKey;
use armature_reconcile::fence::Fence;
use armature_reconcile::object_name::is_object_name;
use armature_reconcile::port::{
    DataExport, DataKind, EventNote, KeyedData, KubernetesError, KubernetesPort, MetadataPatch,
    Protection,
};
use armature_reconcile::protection::Deletion;
use armature_reconcile::signature::NoteKeys;
use armature_shapes::id::RemoteId;
use armature_shapes::kind::KindInfo;
use armature_shapes::resource::{Kind, Object, ObjectKey};
use async_trait::async_trait;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource;
use kube::api::{Api, Patch, PatchParams, ValidationDirective};
use serde_json::{Map, Value, json};

use super::digest_key::DigestKeys;
use super::in_step::InStep;
use super::namespace::NamespaceCache;
use super::namespace_credential::NamespaceCredentials;
use super::protection::protection_below;
use super::secret_versions::SecretVersions;
use super::wake::Wake;
use crate::cache::exports::own_keys;
use crate::cache::objects::{Known, ObjectCache};
use crate::client::clients::Clients;
use crate::error::request;
use crate::event::{EventFigures, EventRecorder};
use crate::names::FIELD_MANAGER;
use crate::stored::data::{ConfigMapData, SecretData};
use crate::stored::item::MetadataOf;
use crate::stored::object::StoredObject;

/// A cluster as the driver sees it.
#[derive(Clone)]
pub struct Cluster {
    pub(crate) clients: Clients,
    pub(crate) kinds: Arc<HashMap<(&'static str, &'static str), &'static KindInfo>>,
    pub(crate) cache: Arc<ObjectCache>,
    pub(crate) namespaces: Arc<NamespaceCache>,
    pub(crate) credentials: Arc<NamespaceCredentials>,
    pub(crate) secret_versions: Arc<SecretVersions>,
    pub(crate) wake: Arc<dyn Wake>,
    pub(crate) in_step: Arc<InStep>,
    events: EventRecorder,
    fence: Fence,
    digest_keys: Arc<DigestKeys>,
}

impl Cluster {
    /// A cluster with these kinds, managed from the operator's own namespace. `wake` is told which objects need to be
    /// reconciled. Needs a tokio runtime.
    pub fn new(
        clients: Clients,
        namespace: &str,
        kinds: &[&'static KindInfo],
        wake: Arc<dyn Wake>,
    ) -> Self {
        let events = EventRecorder::start(clients.requests().clone());
        Self {
            clients,
            kinds: Arc::new(
                kinds
                    .iter()
                    .map(|kind| ((kind.group, kind.kind), *kind))
                    .collect(),
            ),
            cache: Arc::default(),
            namespaces: Arc::default(),
            credentials: Arc::default(),
            secret_versions: Arc::default(),
            wake,
            in_step: Arc::default(),
            events,
            fence: Fence::open(),
            digest_keys: Arc::new(DigestKeys::new(namespace)),
        }
    }

    /// The same cluster, of which objects, Secrets and ConfigMaps are written only while the fence is open.
    #[must_use]
    pub fn fenced_by(self, fence: Fence) -> Self {
        Self { fence, ..self }
    }

    /// The objects in memory.
    pub fn cache(&self) -> &ObjectCache {
        &self.cache
    }

    /// Which watches are in step.
    pub fn in_step(&self) -> &InStep {
        &self.in_step
    }

    /// What became of the events of objects.
    pub fn events(&self) -> &EventFigures {
        self.events.figures()
    }

    /// Who writes the events of objects.
    pub fn recorder(&self) -> EventRecorder {
        self.events.clone()
    }

    fn api(&self, key: &ObjectKey) -> Api<StoredObject> {
        Api::namespaced_with(self.clients.passes().clone(), &key.namespace, &key.kind)
    }

    /// The object as the server has it.
    async fn fetch(&self, key: &ObjectKey) -> Result<Option<Object>, KubernetesError> {
        let call = async { self.api(key).get_opt(&key.name).await };
        let found = request("read", || key.to_string(), call).await?;
        Ok(found.map(|object| object.into_object(key.kind)))
    }

    /// Does a write, unless another replica may be at work.
    async fn write<T>(
        &self,
        operation: &'static str,
        object: impl Fn() -> String,
        call: impl Future<Output = kube::Result<T>>,
    ) -> Result<T, KubernetesError> {
        let written = self.fence.run(request(operation, &object, call)).await;
        written.unwrap_or_else(|closed| {
            Err(KubernetesError::Other {
                operation,
                object: object(),
                message: closed.to_string(),
            })
        })
    }

    /// Takes in the answer to a write.
    fn written(&self, kind: Kind, answer: StoredObject) -> Object {
        let object = answer.into_object(kind);
        self.take_in(&object);
        object
    }

    /// Takes in what the server answered, which watches may tell later.
    fn take_in(&self, object: &Object) {
        self.wake_all(self.cache.apply_written(object));
    }

    /// Forgets an object that is gone, and has those looked at that may take its resource over.
    fn forget(&self, key: &ObjectKey) {
        self.wake_all(self.cache.remove(key));
    }

    pub(crate) fn wake_all(&self, keys: Vec<ObjectKey>) {
        for key in keys {
            self.wake.wake(key);
        }
    }

    /// Forgets the object when the server says that it is gone.
    fn noting_gone<T>(
        &self,
        key: &ObjectKey,
        answer: Result<T, KubernetesError>,
    ) -> Result<T, KubernetesError> {
        if matches!(answer, Err(KubernetesError::Gone { .. })) {
            self.forget(key);
        }
        answer
    }
}

#[async_trait]
impl KubernetesPort for Cluster {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Object>, KubernetesError> {
        match self.cache.known(key) {
            Known::Whole(object) => Ok(Some(*object)),
            Known::Nothing if self.cache.is_listed(key.kind, &key.namespace) => Ok(None),
            Known::InPart | Known::Nothing => self.fetch(key).await,
        }
    }

    async fn read(&self, key: &ObjectKey) -> Result<Option<Object>, KubernetesError> {
        let found = self.fetch(key).await?;
        match &found {
            Some(object) => self.take_in(object),
            None => self.forget(key),
        }
        Ok(found)
    }

    fn kind(&self, group: &str, kind: &str) -> Option<&'static KindInfo> {
        self.kinds.get(&(group, kind)).copied()
    }

    fn sharing(&self, id: &RemoteId, except: &ObjectKey) -> Result<Vec<Arc<Object>>, String> {
        self.cache.sharing(id, except)
    }

    fn stand_for(&self, id: &RemoteId) -> Result<Vec<Arc<Object>>, String> {
        self.cache.stand_for(id)
    }

    fn owned_by(&self, key: &ObjectKey) -> Vec<ObjectKey> {
        self.cache.owned_by(key)
    }

    fn wake_dependents(&self, key: &ObjectKey) {
        self.wake_all(self.cache.dependents(key));
    }

    async fn patch_metadata(
        &self,
        object: &Object,
        patch: MetadataPatch,
    ) -> Result<Object, KubernetesError> {
        let key = object.key();
        let mut body = json!({});
        if let Some(name) = &patch.azure_name {
            body["spec"] = json!({ "azureName": name });
        }
        body["metadata"] = metadata_body(object, patch);
        let call = async {
            self.api(&key)
                .patch(&key.name, &patch_parameters(), &Patch::Merge(body))
                .await
        };
        let change = "change the metadata of";
        let answer = self.write(change, || key.to_string(), call).await;
        Ok(self.written(object.kind, self.noting_gone(&key, answer)?))
    }

    async fn patch_status(
        &self,
        object: &Object,
        status: Value,
    ) -> Result<Object, KubernetesError> {
        let key = object.key();
        let body = json!({
            "metadata": identity(object),
            "status": status_patch(object, status),
        });
        let call = async {
            self.api(&key)
                .patch_status(&key.name, &patch_parameters(), &Patch::Merge(body))
                .await
        };
        let answer = self
            .write("write the status of", || key.to_string(), call)
            .await;
        Ok(self.written(object.kind, self.noting_gone(&key, answer)?))
    }

    async fn read_data(
        &self,
        kind: DataKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<KeyedData>, KubernetesError> {
        if !is_object_name(name) {
            // Nothing can have it.
            return Ok(None);
        }
        let client = self.clients.passes().clone();
        let label = || format!("{kind:?} {namespace}/{name}");
        match kind {
            DataKind::Secret => {
                let api: Api<SecretData> = Api::namespaced(client, namespace);
                let found = request("read", label, api.get_opt(name)).await?;
                Ok(found.map(|secret| {
                    let (metadata, data) = secret.into_parts();
                    keyed(metadata, data)
                }))
            }
            DataKind::ConfigMap => {
                let api: Api<ConfigMapData> = Api::namespaced(client, namespace);
                let found = request("read", label, api.get_opt(name)).await?;
                Ok(found.map(|map| {
                    let (metadata, data) = map.into_parts();
                    keyed(metadata, data)
                }))
            }
        }
    }

    fn has_namespace_credential(&self, namespace: &str) -> Option<bool> {
        self.credentials.has(namespace)
    }

    async fn digest_key(&self) -> Result<DigestKey, KubernetesError> {
        self.digest_keys.get(self.clients.passes()).await
    }

    async fn note_keys(&self) -> Result<NoteKeys, KubernetesError> {
        self.digest_keys.of_notes(self.clients.passes()).await
    }

    async fn write_data(&self, owner: &Object, export: DataExport) -> Result<(), KubernetesError> {
        let client = self.clients.passes().clone();
        let namespace = owner.metadata.namespace.clone().unwrap_or_default();
        let label = || format!("{:?} {namespace}/{}", export.kind, export.name);
        if !is_object_name(&export.name) {
            return Err(KubernetesError::Refused {
                operation: "write",
                object: label(),
                message: "the name is none that a Secret or ConfigMap can have: use lower-case letters, digits, '-' and '.'"
                    .to_owned(),
            });
        }
        let parameters = PatchParams {
            // What appears meanwhile under the name of one that is made is somebody else's: its values stay.
            force: export.target_uid.is_some(),
            ..PatchParams::apply(FIELD_MANAGER)
        };
        let metadata = ObjectMeta {
            name: Some(export.name.clone()),
            namespace: Some(namespace.clone()),
            uid: export.target_uid.clone(),
            labels: Some(export.labels).filter(|labels| !labels.is_empty()),
            annotations: Some(export.annotations).filter(|entries| !entries.is_empty()),
            owner_references: Some(vec![owner_reference(owner)]),
            ..ObjectMeta::default()
        };
        match export.kind {
            DataKind::Secret => {
                let data = export.data.into_iter();
                let body = Secret {
                    metadata,
                    data: Some(
                        data.map(|(key, value)| (key, ByteString(value.into_bytes())))
                            .collect(),
                    ),
                    ..Secret::default()
                };
                let api: Api<MetadataOf<Secret>> = Api::namespaced(client, &namespace);
                let patch = Patch::Apply(body);
                let call = api.patch(&export.name, &parameters, &patch);
                self.write("write", label, call).await?;
            }
            DataKind::ConfigMap => {
                let body = ConfigMap {
                    metadata,
                    data: Some(export.data),
                    ..ConfigMap::default()
                };
                let api: Api<MetadataOf<ConfigMap>> = Api::namespaced(client, &namespace);
                let patch = Patch::Apply(body);
                let call = api.patch(&export.name, &parameters, &patch);
                self.write("write", label, call).await?;
            }
        }
        Ok(())
    }

    async fn namespace_annotations(
        &self,
        name: &str,
    ) -> Result<BTreeMap<String, String>, KubernetesError> {
        match self.namespaces.get(name) {
            Some(annotations) => Ok(annotations),
            None => self.live_namespace_annotations(name).await,
        }
    }

    async fn live_namespace_annotations(
        &self,
        name: &str,
    ) -> Result<BTreeMap<String, String>, KubernetesError> {
        let api: Api<Namespace> = Api::all(self.clients.passes().clone());
        let call = api.get_metadata_opt(name);
        let found = request("read", || format!("Namespace {name}"), call).await?;
        Ok(found
            .and_then(|namespace| namespace.metadata.annotations)
            .unwrap_or_default())
    }

    fn protection_below(&self, deletion: &Deletion<'_>) -> Protection {
        protection_below(&self.cache, &self.namespaces, deletion)
    }

    async fn record(&self, object: &Object, event: EventNote) {
        self.events.record(object, event);
    }
}

/// How the operator patches objects. Nobody reads the warnings about unknown fields, which the API server decodes each object
/// once more for.
pub(crate) fn patch_parameters() -> PatchParams {
    PatchParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        field_validation: Some(ValidationDirective::Ignore),
        ..PatchParams::default()
    }
}

/// Metadata that makes a write fail when the object is another one or changed since it was read.
fn identity(object: &Object) -> Map<String, Value> {
    let mut metadata = Map::new();
    metadata.insert("uid".into(), json!(object.metadata.uid));
    metadata.insert(
        "resourceVersion".into(),
        json!(object.metadata.resource_version),
    );
    metadata
}

/// The merge patch that turns the status of the object as it was read into the new one.
///
/// Not a PUT of the status: its body would have to repeat the spec, or the API server would take the spec's
/// members for removed and forget which user applied them.
fn status_patch(object: &Object, status: Value) -> Value {
    let before = object
        .status
        .as_ref()
        .and_then(|text| serde_json::from_str(text.get()).ok());
    difference(&before.unwrap_or_default(), status)
}

/// The JSON merge patch (RFC 7386) from one value to another.
fn difference(before: &Value, after: Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (before, &after) else {
        return after;
    };
    let mut patch = Map::new();
    for (name, value) in after {
        match before.get(name) {
            Some(known) if known == value => {}
            Some(known) => {
                patch.insert(name.clone(), difference(known, value.clone()));
            }
            None => {
                patch.insert(name.clone(), value.clone());
            }
        }
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    Value::Object(patch)
}

/// A merge patch of metadata that fails when the object changed since it was read.
fn metadata_body(object: &Object, patch: MetadataPatch) -> Value {
    let mut body = identity(object);
    if !patch.annotations.is_empty() {
        body.insert("annotations".into(), json!(patch.annotations));
    }
    if !patch.labels.is_empty() {
        body.insert("labels".into(), json!(patch.labels));
    }
    if let Some(finalizers) = patch.finalizers {
        body.insert("finalizers".into(), json!(finalizers));
    }
    if let Some(owners) = patch.owner_references {
        body.insert("ownerReferences".into(), Value::Array(owners));
    }
    Value::Object(body)
}

fn owner_reference(owner: &Object) -> OwnerReference {
    OwnerReference {
        api_version: StoredObject::api_version(&owner.kind).into_owned(),
        kind: owner.kind.0.kind.to_owned(),
        name: owner.metadata.name.clone().unwrap_or_default(),
        uid: owner.metadata.uid.clone().unwrap_or_default(),
        ..OwnerReference::default()
    }
}

fn keyed(metadata: ObjectMeta, data: impl Iterator<Item = (String, Vec<u8>)>) -> KeyedData {
    KeyedData {
        own_keys: own_keys(&metadata).unwrap_or_default(),
        uid: metadata.uid.unwrap_or_default(),
        resource_version: metadata.resource_version.unwrap_or_default(),
        owners: metadata.owner_references.unwrap_or_default(),
        data: data.collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_are_minimal_and_lead_to_the_new_value() {
        let cases = [
            (json!(null), json!({"a": 1}), json!({"a": 1})),
            (json!({"a": 1}), json!({"a": 1}), json!({})),
            (
                json!({"a": 1, "b": 2}),
                json!({"b": 3}),
                json!({"b": 3, "a": null}),
            ),
            (
                json!({"a": {"b": 1, "c": [1, 2]}, "d": 4}),
                json!({"a": {"b": 1, "c": [2]}, "d": 4}),
                json!({"a": {"c": [2]}}),
            ),
            (
                json!({"a": {"b": 1}}),
                json!({"a": "text"}),
                json!({"a": "text"}),
            ),
            (
                json!({"a": "text"}),
                json!({"a": {"b": 1}}),
                json!({"a": {"b": 1}}),
            ),
        ];
        for (before, after, patch) in cases {
            assert_eq!(difference(&before, after), patch, "from {before}");
        }
    }
}

//! The narrow port through which the driver reaches Kubernetes. Implemented over kube in
//! `armature_kubernetes` and in memory in tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use serde_json::Value;
use serde_json::value::to_raw_value;

use armature_engine::compare::DigestKey;
use armature_shapes::id::RemoteId;
use armature_shapes::kind::KindInfo;
use armature_shapes::resource::{Object, ObjectKey};

use crate::protection::Deletion;
use crate::signature::NoteKeys;

/// A Secret or ConfigMap as the driver sees it.
#[derive(Clone, Default, PartialEq)]
pub struct KeyedData {
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.resourceVersion`.
    pub resource_version: String,
    /// Its owners.
    pub owners: Vec<OwnerReference>,
    /// Keys whose values this operator wrote.
    pub own_keys: BTreeSet<String>,
    /// Data, decoded. Values of Secrets are never printed.
    pub data: BTreeMap<String, Vec<u8>>,
}

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DataKind {
    /// `v1/Secret`.
    Secret,
    /// `v1/ConfigMap`.
    ConfigMap,
}

impl fmt::Display for DataKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            DataKind::Secret => "Secret",
            DataKind::ConfigMap => "ConfigMap",
        })
    }
}

/// A Secret or ConfigMap to be created or updated, owned by the object.
#[derive(Clone, PartialEq)]
pub struct DataExport {
    /// Which of the two.
    pub kind: DataKind,
    /// Name in the object's namespace.
    pub name: String,
    /// `metadata.uid` of the one that exists and is the object's own. The write fails when another one has
    /// taken its place.
    pub target_uid: Option<String>,
    /// Something that it should have cannot be had now: what it had before stays.
    pub incomplete: bool,
    /// Keys and values.
    pub data: BTreeMap<String, String>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
}

/// Changes to `metadata`, and the one to the spec that an operator may make; `None` as a value removes the entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetadataPatch {
    /// Annotations to set or remove.
    pub annotations: BTreeMap<String, Option<String>>,
    /// Labels to set or remove.
    pub labels: BTreeMap<String, Option<String>>,
    /// The whole list of finalizers, when it changes.
    pub finalizers: Option<Vec<String>>,
    /// The whole list of owner references, when it changes.
    pub owner_references: Option<Vec<Value>>,
    /// `spec.azureName`, when the operator made it up: it has to be the same for ever.
    pub azure_name: Option<String>,
}

impl MetadataPatch {
    /// Works the changes into an object, as an API server does.
    pub fn apply(self, object: &mut Object) {
        if let Some(name) = &self.azure_name {
            let spec = object.spec.as_ref().map_or("{}", |spec| spec.get());
            let mut spec: Value = serde_json::from_str(spec).unwrap_or_default();
            spec["azureName"] = Value::from(name.as_str());
            object.spec = to_raw_value(&spec).ok();
            let generation = object.metadata.generation.unwrap_or_default();
            object.metadata.generation = Some(generation + 1);
        }
        self.apply_to_metadata(&mut object.metadata);
    }

    /// The annotations that an object will have.
    pub fn annotations_of(&self, object: &Object) -> BTreeMap<String, String> {
        let mut annotations = object.metadata.annotations.clone();
        merge(&mut annotations, self.annotations.clone());
        annotations.unwrap_or_default()
    }

    fn apply_to_metadata(self, metadata: &mut ObjectMeta) {
        merge(&mut metadata.annotations, self.annotations);
        merge(&mut metadata.labels, self.labels);
        if let Some(finalizers) = self.finalizers {
            metadata.finalizers = Some(finalizers);
        }
        if let Some(owners) = self.owner_references {
            let owners = owners.into_iter().map(serde_json::from_value);
            metadata.owner_references = owners.collect::<Result<_, _>>().ok();
        }
    }
}

fn merge(into: &mut Option<BTreeMap<String, String>>, changes: BTreeMap<String, Option<String>>) {
    let entries = into.get_or_insert_default();
    for (name, value) in changes {
        match value {
            Some(value) => entries.insert(name, value),
            None => entries.remove(&name),
        };
    }
}

/// Whether a resource may be deleted, as far as other objects go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protection {
    /// No object says otherwise.
    None,
    /// This object's resource would go along, and must not be deleted.
    Of(String),
    /// Not all objects are known, for this reason.
    Unknown(String),
}

/// A Kubernetes event.
#[derive(Clone, Debug, PartialEq)]
pub struct EventNote {
    /// `Normal` or `Warning`.
    pub warning: bool,
    /// Reason in one word (ASO behaviour §1.2).
    pub reason: String,
    /// Text for people, without secrets.
    pub message: String,
    /// Paths in ARM's JSON that it is about, without keys: for figures, not for people.
    pub paths: Vec<String>,
}

/// Why Kubernetes did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum KubernetesError {
    /// The object changed since it was read: read again.
    #[error("{object} changed while it was being written; it will be read again")]
    Conflict {
        /// Kind, namespace and name.
        object: String,
    },
    /// The object is gone.
    #[error("{object} no longer exists")]
    Gone {
        /// Kind, namespace and name.
        object: String,
    },
    /// The API server cannot be used at all.
    #[error("{message}")]
    Unreachable {
        /// Which server, why, and what to do.
        message: String,
    },
    /// The API server does not take this, and will not take it the next time: by a rule of its own, an admission policy, or
    /// because it is too large.
    #[error("the Kubernetes API refused to {operation} {object}: {message}")]
    Refused {
        /// What was tried.
        operation: &'static str,
        /// Kind, namespace and name.
        object: String,
        /// What the server said.
        message: String,
    },
    /// Anything else.
    #[error("the Kubernetes API refused to {operation} {object}: {message}")]
    Other {
        /// What was tried.
        operation: &'static str,
        /// Kind, namespace and name.
        object: String,
        /// What the server said.
        message: String,
    },
}

/// The port.
#[async_trait]
pub trait KubernetesPort: Send + Sync {
    /// Reads an object in its stored form, from the cache where there is one.
    async fn get(&self, key: &ObjectKey) -> Result<Option<Object>, KubernetesError>;

    /// Reads an object in its stored form from the server, past any cache, which has it from then on. For when a write met
    /// a conflict: the cache may still be behind then.
    async fn read(&self, key: &ObjectKey) -> Result<Option<Object>, KubernetesError>;

    /// The kind of this group and name, when it is known.
    fn kind(&self, group: &str, kind: &str) -> Option<&'static KindInfo>;

    /// Other claimed objects with this id.
    ///
    /// # Errors
    /// Why that cannot be told yet, in words: not all objects are known.
    fn sharing(&self, id: &RemoteId, except: &ObjectKey) -> Result<Vec<Arc<Object>>, String>;

    /// Objects of whatever kind that have this ARM id noted: of a resource that another object may have made, too.
    ///
    /// # Errors
    /// Why that cannot be told: not all objects of the kinds of that ARM type are known.
    fn stand_for(&self, id: &RemoteId) -> Result<Vec<Arc<Object>>, String>;

    /// Objects of its namespace that name this one as their owner, by name or by its ARM id, or refer to it, as far as they are known.
    fn owned_by(&self, key: &ObjectKey) -> Vec<ObjectKey>;

    /// Has the objects looked at that name this one as their owner or refer to it.
    fn wake_dependents(&self, key: &ObjectKey);

    /// Patches metadata, on the condition that the object is unchanged since it was read.
    async fn patch_metadata(
        &self,
        object: &Object,
        patch: MetadataPatch,
    ) -> Result<Object, KubernetesError>;

    /// Replaces the status (stored form), on the same condition.
    async fn patch_status(&self, object: &Object, status: Value)
    -> Result<Object, KubernetesError>;

    /// Reads a Secret or ConfigMap from the server; nothing of it is cached.
    async fn read_data(
        &self,
        kind: DataKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<KeyedData>, KubernetesError>;

    /// Whether the namespace has a credential of its own (`aso-credential`), as far as watches have told; nothing where
    /// they have not. May be behind the server.
    fn has_namespace_credential(&self, namespace: &str) -> Option<bool>;

    /// The operator's own random key of the digests that it keeps in objects: the same for all its replicas, and over
    /// restarts.
    async fn digest_key(&self) -> Result<DigestKey, KubernetesError>;

    /// The keys that notes are signed with, which stand beside that of the digests. Without any, nothing is signed and every
    /// note is believed.
    async fn note_keys(&self) -> Result<NoteKeys, KubernetesError> {
        Ok(NoteKeys::default())
    }

    /// Creates or updates a Secret or ConfigMap with an owner reference to the object. The caller has checked
    /// that an existing one is the object's own.
    async fn write_data(&self, owner: &Object, export: DataExport) -> Result<(), KubernetesError>;

    /// Annotations of a namespace, as far as watches have told. May be behind the server.
    async fn namespace_annotations(
        &self,
        name: &str,
    ) -> Result<BTreeMap<String, String>, KubernetesError>;

    /// Annotations of a namespace, read from the server.
    async fn live_namespace_annotations(
        &self,
        name: &str,
    ) -> Result<BTreeMap<String, String>, KubernetesError>;

    /// Whether an object stands against the deletion, since its resource would go along.
    fn protection_below(&self, deletion: &Deletion<'_>) -> Protection;

    /// Records an event; failures are logged, never returned.
    async fn record(&self, object: &Object, event: EventNote);
}

//! What the API server sends for an object of any kind at its storage version.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::DynamicResourceScope;
use serde::Deserialize;
use serde_json::value::RawValue;

use armature_shapes::resource::{Kind, Object};

use super::metadata;

/// Annotation in which `kubectl apply` keeps a second copy of the whole object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// An object as it is on the wire. The kind is known from the request, so `apiVersion` and `kind` are not
/// read; spec and status stay text. No field may be flattened: text cannot be kept behind serde's buffers.
#[derive(Clone, Debug, Deserialize)]
pub struct StoredObject {
    /// Metadata without managedFields.
    #[serde(default, deserialize_with = "metadata::without_owners")]
    pub metadata: ObjectMeta,
    /// `spec` as sent.
    #[serde(default)]
    pub spec: Option<Box<RawValue>>,
    /// `status` as sent.
    #[serde(default)]
    pub status: Option<Box<RawValue>>,
}

impl StoredObject {
    /// An object of which the metadata alone is known.
    pub(super) fn of(metadata: ObjectMeta) -> Self {
        Self {
            metadata,
            spec: None,
            status: None,
        }
    }

    /// The object for the cache and the reconciler, without the copy that kubectl keeps.
    pub fn into_object(mut self, kind: Kind) -> Object {
        if let Some(annotations) = &mut self.metadata.annotations {
            annotations.remove(LAST_APPLIED);
        }
        Object {
            kind,
            metadata: self.metadata,
            spec: self.spec,
            status: self.status,
        }
    }
}

impl kube::Resource for StoredObject {
    type DynamicType = Kind;
    type Scope = DynamicResourceScope;

    fn kind(kind: &Kind) -> Cow<'_, str> {
        Cow::Borrowed(kind.0.kind)
    }

    fn group(kind: &Kind) -> Cow<'_, str> {
        Cow::Borrowed(kind.0.group)
    }

    fn version(kind: &Kind) -> Cow<'_, str> {
        Cow::Borrowed(kind.0.hub.storage_version)
    }

    fn plural(kind: &Kind) -> Cow<'_, str> {
        Cow::Borrowed(kind.0.plural)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[cfg(test)]
mod tests {
    use kube::core::{ObjectList, WatchEvent};

    use super::*;

    const OBJECT: &str = r#"{"apiVersion":"storage.azure.com/v1","kind":"StorageAccount","metadata":{"name":"a","managedFields":[{"manager":"m"}],"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}","kept":"1"}},"spec":{"b": 1.50, "a":2},"status":null}"#;

    #[test]
    fn text_is_kept_in_a_watch_event() {
        let line = format!(r#"{{"type":"MODIFIED","object":{OBJECT}}}"#);
        let event: WatchEvent<StoredObject> = serde_json::from_str(&line).unwrap();
        let WatchEvent::Modified(object) = event else {
            panic!("not a modification");
        };
        assert_eq!(object.spec.unwrap().get(), r#"{"b": 1.50, "a":2}"#);
        assert!(object.status.is_none());
    }

    #[test]
    fn text_is_kept_in_a_list() {
        let page = format!(
            r#"{{"apiVersion":"v1","kind":"StorageAccountList","metadata":{{"resourceVersion":"7"}},"items":[{OBJECT}]}}"#
        );
        let list: ObjectList<StoredObject> = serde_json::from_str(&page).unwrap();
        assert_eq!(
            list.items[0].spec.as_ref().unwrap().get(),
            r#"{"b": 1.50, "a":2}"#
        );
    }
}

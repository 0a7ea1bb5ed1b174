//! What the API server sends for an object of any kind at its storage version.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::DynamicResourceScope;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use armature_shapes::names::PENDING;
use armature_shapes::resource::{Kind, Object};

use crate::stored::metadata;

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
    pub(crate) fn of(metadata: ObjectMeta) -> Self {
        Self {
            metadata,
            spec: None,
            status: None,
        }
    }

    /// The object for the cache and the reconciler, without the copy that kubectl keeps, and without the condition of which
    /// the CRD says that nobody has looked.
    pub fn into_object(mut self, kind: Kind) -> Object {
        if let Some(annotations) = &mut self.metadata.annotations {
            annotations.remove(LAST_APPLIED);
        }
        Object {
            kind,
            metadata: self.metadata,
            spec: self.spec,
            status: self.status.and_then(without_default),
        }
    }
}

/// A status without the condition that its CRD has put there; nothing where there is no more in it.
fn without_default(status: Box<RawValue>) -> Option<Box<RawValue>> {
    // Most statuses do not have the word and stay as they are.
    if !status.get().contains(PENDING) {
        return Some(status);
    }
    let Ok(Value::Object(mut members)) = serde_json::from_str(status.get()) else {
        return Some(status);
    };
    let is_default = |condition: &Value| {
        ["type", "status", "reason"].map(|name| &condition[name]) == ["Ready", "Unknown", PENDING]
    };
    let Some(conditions) = members.get_mut("conditions").and_then(Value::as_array_mut) else {
        return Some(status);
    };
    let before = conditions.len();
    conditions.retain(|condition| !is_default(condition));
    if conditions.len() == before {
        return Some(status);
    }
    if conditions.is_empty() {
        members.remove("conditions");
    }
    if members.is_empty() {
        return None;
    }
    Some(to_raw_value(&members).unwrap_or(status))
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

    /// What is left of a status in the cache.
    fn cached(status: &str) -> Option<String> {
        let text = format!(r#"{{"metadata":{{"name":"a"}},"status":{status}}}"#);
        let stored: StoredObject = serde_json::from_str(&text).unwrap();
        let object = stored.into_object(Kind(&armature_shapes::testing::kinds::STORE));
        object.status.map(|status| status.get().to_owned())
    }

    #[test]
    fn the_default_of_a_crd_is_nobodys_word() {
        let unseen = r#"{"type":"Ready","status":"Unknown","reason":"Pending"}"#;
        let status =
            |conditions: &str, more: &str| format!(r#"{{"conditions":[{conditions}]{more}}}"#);
        assert_eq!(cached(&status(unseen, "")), None);
        let id = r#"{"id":"/x"}"#.to_owned();
        assert_eq!(cached(&status(unseen, r#","id":"/x""#)), Some(id));
        let more = r#"{"type":"Other","reason":"Known"}"#;
        let beside = status(&format!("{more},{unseen}"), "");
        assert_eq!(cached(&beside), Some(status(more, "")));
        let others = [
            status(
                r#"{"type":"Ready","status":"False","reason":"Failed","message":"Pending"}"#,
                "",
            ),
            status(r#"{"type":"Other","reason":"Pending"}"#, ""),
            status(
                r#"{"type":"Ready","status":"False","reason":"Pending"}"#,
                "",
            ),
            r#"{"id":"Pending"}"#.to_owned(),
            r#"["Pending"]"#.to_owned(),
        ];
        for other in others {
            assert_eq!(cached(&other), Some(other));
        }
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

//! Metadata as the API server sends it, of which no form keeps an object from being read.
//!
//! Whoever may create an object may give it `managedFields` of his own, nested deeper than a reader of JSON goes (the API server
//! keeps 200 levels, serde_json reads 128). One such object must not hide a list, so they stay text until somebody asks for
//! those of one manager.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    FieldsV1, ManagedFieldsEntry, ObjectMeta, OwnerReference, Time,
};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::names::FIELD_MANAGER;

/// All of metadata; what is null counts as absent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sent {
    annotations: Option<BTreeMap<String, Option<String>>>,
    creation_timestamp: Option<Time>,
    deletion_grace_period_seconds: Option<i64>,
    deletion_timestamp: Option<Time>,
    finalizers: Option<Vec<String>>,
    generate_name: Option<String>,
    generation: Option<i64>,
    labels: Option<BTreeMap<String, Option<String>>>,
    managed_fields: Option<Box<RawValue>>,
    name: Option<String>,
    namespace: Option<String>,
    owner_references: Option<Vec<OwnerReference>>,
    resource_version: Option<String>,
    self_link: Option<String>,
    uid: Option<String>,
}

/// What an entry of managedFields says of its owner.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    api_version: Option<String>,
    manager: Option<String>,
    operation: Option<String>,
    fields_v1: Option<Box<RawValue>>,
}

/// Metadata without managedFields: for `deserialize_with`.
pub(crate) fn without_owners<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<ObjectMeta, D::Error> {
    let sent = Option::<Sent>::deserialize(deserializer)?;
    Ok(sent.map(Sent::into_meta).unwrap_or_default())
}

/// Metadata with who owns fields, and with the fields of Armature itself: for `deserialize_with`.
pub(crate) fn with_owners<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<ObjectMeta, D::Error> {
    let Some(mut sent) = Option::<Sent>::deserialize(deserializer)? else {
        return Ok(ObjectMeta::default());
    };
    let owners = sent.managed_fields.take().map(|text| owners(&text));
    Ok(ObjectMeta {
        managed_fields: owners,
        ..sent.into_meta()
    })
}

/// The entries that can be read. Those of another form are of no manager that anybody asks for.
fn owners(text: &RawValue) -> Vec<ManagedFieldsEntry> {
    let entries: Vec<Box<RawValue>> = serde_json::from_str(text.get()).unwrap_or_default();
    let entries = entries
        .iter()
        .filter_map(|entry| serde_json::from_str::<Entry>(entry.get()).ok());
    entries.map(Entry::into_entry).collect()
}

impl Entry {
    fn into_entry(self) -> ManagedFieldsEntry {
        let is_own = self.manager.as_deref() == Some(FIELD_MANAGER);
        let fields = self.fields_v1.filter(|_| is_own);
        // Too deep to be what we applied.
        let fields = fields.and_then(|fields| serde_json::from_str(fields.get()).ok());
        ManagedFieldsEntry {
            api_version: self.api_version,
            manager: self.manager,
            operation: self.operation,
            fields_v1: fields.map(FieldsV1),
            ..ManagedFieldsEntry::default()
        }
    }
}

impl Sent {
    fn into_meta(self) -> ObjectMeta {
        let texts = |texts: BTreeMap<String, Option<String>>| {
            let texts = texts.into_iter();
            texts
                .map(|(name, text)| (name, text.unwrap_or_default()))
                .collect()
        };
        ObjectMeta {
            annotations: self.annotations.map(texts),
            creation_timestamp: self.creation_timestamp,
            deletion_grace_period_seconds: self.deletion_grace_period_seconds,
            deletion_timestamp: self.deletion_timestamp,
            finalizers: self.finalizers,
            generate_name: self.generate_name,
            generation: self.generation,
            labels: self.labels.map(texts),
            managed_fields: None,
            name: self.name,
            namespace: self.namespace,
            owner_references: self.owner_references,
            resource_version: self.resource_version,
            self_link: self.self_link,
            uid: self.uid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Object {
        #[serde(deserialize_with = "without_owners")]
        metadata: ObjectMeta,
    }

    #[derive(Deserialize)]
    struct Owned {
        #[serde(deserialize_with = "with_owners")]
        metadata: ObjectMeta,
    }

    fn deep(levels: usize) -> String {
        format!("{}1{}", r#"{"f:a":"#.repeat(levels), "}".repeat(levels))
    }

    fn object(fields: &str) -> String {
        let metadata = r#""name":"a","namespace":"n","uid":"u","resourceVersion":"7","generation":2,"labels":{"l":"1"},
            "annotations":{"a":"b"},"finalizers":["f"],"creationTimestamp":"2026-01-01T00:00:00Z",
            "ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"w"}]"#;
        format!(r#"{{"metadata":{{{metadata},"managedFields":{fields}}}}}"#)
    }

    #[test]
    fn all_is_read_but_managed_fields() {
        let text = object("[]");
        let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut expected: ObjectMeta = serde_json::from_value(whole["metadata"].clone()).unwrap();
        expected.managed_fields = None;
        let read: Object = serde_json::from_str(&text).unwrap();
        assert_eq!(read.metadata, expected);
        let null: Object = serde_json::from_str(r#"{"metadata":null}"#).unwrap();
        assert_eq!(null.metadata, ObjectMeta::default());
    }

    #[test]
    fn fields_of_any_depth_hide_nothing() {
        for levels in [1, 200, 100_000] {
            let fields = format!(
                r#"[{{"manager":"x","operation":"Update","fieldsV1":{}}},
                    {{"manager":"armature","operation":"Apply","apiVersion":"v1","fieldsV1":{{"f:data":{{}}}}}},
                    {{"manager":"armature","operation":"Update","fieldsV1":{}}}, 1, null]"#,
                deep(levels),
                deep(200)
            );
            let read: Object = serde_json::from_str(&object(&fields)).unwrap();
            assert_eq!(read.metadata.name.as_deref(), Some("a"));
            let owned: Owned = serde_json::from_str(&object(&fields)).unwrap();
            let entries = owned.metadata.managed_fields.unwrap();
            let managers = entries
                .iter()
                .map(|entry| entry.manager.as_deref().unwrap());
            assert_eq!(managers.collect::<Vec<_>>(), ["x", "armature", "armature"]);
            let fields = entries.iter().map(|entry| entry.fields_v1.is_some());
            assert_eq!(fields.collect::<Vec<_>>(), [false, true, false]);
        }
        let odd: Owned = serde_json::from_str(&object(r#""x""#)).unwrap();
        assert_eq!(odd.metadata.managed_fields, Some(Vec::new()));
    }
}

//! Secrets and ConfigMaps as they are read: metadata of any form, and values.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::NamespaceResourceScope;
use serde::Deserialize;

use crate::stored::metadata;

/// A Secret.
pub type SecretData = DataOf<Secret, ByteString>;
/// A ConfigMap.
pub type ConfigMapData = DataOf<ConfigMap, String>;

/// A Secret or ConfigMap whose values are `V`. Never printed.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "V: Deserialize<'de>"))]
pub struct DataOf<K, V> {
    /// With the managedFields of Armature alone.
    #[serde(default, deserialize_with = "metadata::with_owners")]
    pub metadata: ObjectMeta,
    data: Option<BTreeMap<String, V>>,
    binary_data: Option<BTreeMap<String, ByteString>>,
    #[serde(skip)]
    kind: PhantomData<fn() -> K>,
}

impl<K, V> DataOf<K, V>
where
    Vec<u8>: FromValue<V>,
{
    /// The metadata, and bytes by key.
    pub fn into_parts(self) -> (ObjectMeta, impl Iterator<Item = (String, Vec<u8>)>) {
        let values = self.data.unwrap_or_default().into_iter();
        let values = values.map(|(key, value)| (key, Vec::from_value(value)));
        let bytes = self.binary_data.unwrap_or_default().into_iter();
        let bytes = bytes.map(|(key, value)| (key, value.0));
        (self.metadata, values.chain(bytes))
    }
}

/// Bytes of a value.
pub trait FromValue<V> {
    /// The bytes.
    fn from_value(value: V) -> Self;
}

impl FromValue<ByteString> for Vec<u8> {
    fn from_value(value: ByteString) -> Self {
        value.0
    }
}

impl FromValue<String> for Vec<u8> {
    fn from_value(value: String) -> Self {
        value.into_bytes()
    }
}

impl<K, V> fmt::Debug for DataOf<K, V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let metadata = &self.metadata;
        formatter
            .debug_struct("DataOf")
            .field("namespace", &metadata.namespace)
            .field("name", &metadata.name)
            .finish_non_exhaustive()
    }
}

impl<K, V> kube::Resource for DataOf<K, V>
where
    K: kube::Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        K::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        K::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        K::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        K::plural(&())
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
    use super::*;

    #[test]
    fn values_are_read_whatever_the_metadata_are_and_never_printed() {
        let deep = format!("{}1{}", r#"{"f:a":"#.repeat(200), "}".repeat(200));
        let metadata = format!(
            r#"{{"name":"s","namespace":"n","managedFields":[{{"manager":"x","fieldsV1":{deep}}}]}}"#
        );
        let secret = format!(r#"{{"metadata":{metadata},"data":{{"a":"cGFzc3dvcmQ="}}}}"#);
        let secret: SecretData = serde_json::from_str(&secret).unwrap();
        assert!(!format!("{secret:?}").contains("pass"));
        let (metadata, values) = secret.into_parts();
        assert_eq!(metadata.name.as_deref(), Some("s"));
        let values: Vec<_> = values.collect();
        assert_eq!(values, [("a".to_owned(), b"password".to_vec())]);
        let map = r#"{"metadata":{},"data":{"a":"x"},"binaryData":{"b":"/w=="}}"#;
        let map: ConfigMapData = serde_json::from_str(map).unwrap();
        let values: Vec<_> = map.into_parts().1.collect();
        let expected = [("a", vec![b'x']), ("b", vec![0xff])];
        assert_eq!(values, expected.map(|(key, value)| (key.to_owned(), value)));
        let empty: SecretData = serde_json::from_str(r#"{"data":null}"#).unwrap();
        assert_eq!(empty.into_parts().1.count(), 0);
    }
}

//! The typed object of one kind and version: what `kube::Api` reads and writes in Rust programs.

use std::borrow::Cow;
use std::fmt;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::Error as _;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::kind::TypedKind;
use crate::shape::{DecodeError, decode, encode};

/// An object of kind and version `K`, for example `TypedObject<v1api20230101::StorageAccountKind>`.
///
/// JSON goes through the shapes' codec: unknown members are ignored, absent members are `None`.
pub struct TypedObject<K: TypedKind> {
    /// Kubernetes metadata.
    pub metadata: ObjectMeta,
    /// Desired state.
    pub spec: K::Spec,
    /// Observed state; absent until the operator has written it.
    pub status: Option<K::Status>,
}

impl<K: TypedKind> TypedObject<K> {
    /// An object of this name with this desired state.
    pub fn new(name: &str, spec: K::Spec) -> Self {
        Self {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                ..ObjectMeta::default()
            },
            spec,
            status: None,
        }
    }

    /// `group/version` of the type.
    pub fn api_version() -> String {
        format!("{}/{}", K::KIND.group, K::VERSION)
    }

    /// The object as JSON with `apiVersion` and `kind`.
    ///
    /// # Errors
    /// When the metadata cannot be written as JSON, which its own type rules out.
    pub fn to_value(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }
}

impl<K: TypedKind> Clone for TypedObject<K> {
    fn clone(&self) -> Self {
        Self {
            metadata: self.metadata.clone(),
            spec: self.spec.clone(),
            status: self.status.clone(),
        }
    }
}

impl<K: TypedKind> Default for TypedObject<K> {
    fn default() -> Self {
        Self {
            metadata: ObjectMeta::default(),
            spec: K::Spec::default(),
            status: None,
        }
    }
}

impl<K: TypedKind> PartialEq for TypedObject<K> {
    fn eq(&self, other: &Self) -> bool {
        self.metadata == other.metadata && self.spec == other.spec && self.status == other.status
    }
}

impl<K: TypedKind> fmt::Debug for TypedObject<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct(K::KIND.kind)
            .field("metadata", &self.metadata)
            .field("spec", &self.spec)
            .field("status", &self.status)
            .finish()
    }
}

impl<K: TypedKind> Serialize for TypedObject<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = if self.status.is_some() { 5 } else { 4 };
        let mut object = serializer.serialize_struct(K::KIND.kind, fields)?;
        object.serialize_field("apiVersion", &Self::api_version())?;
        object.serialize_field("kind", K::KIND.kind)?;
        object.serialize_field("metadata", &self.metadata)?;
        object.serialize_field("spec", &encode(&self.spec))?;
        if let Some(status) = &self.status {
            object.serialize_field("status", &encode(status))?;
        }
        object.end()
    }
}

/// The members of an object before the codec has seen them.
#[derive(Deserialize)]
struct Members {
    #[serde(default)]
    metadata: ObjectMeta,
    #[serde(default)]
    spec: Option<Value>,
    #[serde(default)]
    status: Option<Value>,
}

impl<'de, K: TypedKind> Deserialize<'de> for TypedObject<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Members::deserialize(deserializer)?;
        Self::from_parts(
            members.metadata,
            members.spec.as_ref(),
            members.status.as_ref(),
        )
        .map_err(D::Error::custom)
    }
}

impl<K: TypedKind> TypedObject<K> {
    /// Decodes spec and status; paths in errors start with `spec` or `status`.
    pub(crate) fn from_parts(
        metadata: ObjectMeta,
        spec: Option<&Value>,
        status: Option<&Value>,
    ) -> Result<Self, DecodeError> {
        Ok(Self {
            metadata,
            spec: spec
                .map(decode)
                .transpose()
                .map_err(|error| error.below("spec"))?
                .unwrap_or_default(),
            status: status
                .map(decode)
                .transpose()
                .map_err(|error| error.below("status"))?,
        })
    }
}

impl<K: TypedKind> kube::Resource for TypedObject<K> {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        Cow::Borrowed(K::KIND.kind)
    }

    fn group((): &()) -> Cow<'_, str> {
        Cow::Borrowed(K::KIND.group)
    }

    fn version((): &()) -> Cow<'_, str> {
        Cow::Borrowed(K::VERSION)
    }

    fn plural((): &()) -> Cow<'_, str> {
        Cow::Borrowed(K::KIND.plural)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

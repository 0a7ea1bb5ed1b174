//! The one untyped object that watches, the cache and the reconciler work with.

use std::fmt;
use std::hash::{Hash, Hasher};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::value::RawValue;

use crate::kind::KindInfo;

/// A kind, comparable by identity: there is one static [`KindInfo`] per kind.
#[derive(Clone, Copy)]
pub struct Kind(pub &'static KindInfo);

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Kind {}

impl Hash for Kind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.0.kind, self.0.group)
    }
}

impl std::ops::Deref for Kind {
    type Target = KindInfo;
    fn deref(&self) -> &KindInfo {
        self.0
    }
}

/// Which object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectKey {
    /// Kind.
    pub kind: Kind,
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} {}/{}",
            self.kind.kind, self.namespace, self.name
        )
    }
}

/// An object of any kind in its stored (hub) form. Spec and status stay text until they are needed: parsed
/// JSON takes about eight times the memory.
#[derive(Clone, Debug)]
pub struct Object {
    /// Kind.
    pub kind: Kind,
    /// Metadata without managedFields.
    pub metadata: ObjectMeta,
    /// `spec`, stored form.
    pub spec: Option<Box<RawValue>>,
    /// `status`, stored form.
    pub status: Option<Box<RawValue>>,
}

impl Object {
    /// The object's key.
    pub fn key(&self) -> ObjectKey {
        ObjectKey {
            kind: self.kind,
            namespace: self.metadata.namespace.clone().unwrap_or_default(),
            name: self.metadata.name.clone().unwrap_or_default(),
        }
    }
}

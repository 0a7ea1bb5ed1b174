//! The objects of the cluster for whoever looks at all of them.

use std::sync::Arc;

use armature_shapes::resource::{Object, ObjectKey};

use crate::annotations::Annotations;

/// The objects of the cluster, as far as they are known.
pub trait Inventory: Send + Sync {
    /// Whether all of them are known.
    fn is_complete(&self) -> bool;

    /// All that are known, one after the other: they may take much memory at once.
    fn all(&self) -> Box<dyn Iterator<Item = Arc<Object>> + '_>;

    /// One of them.
    fn get(&self, key: &ObjectKey) -> Option<Arc<Object>>;

    /// Annotations of a namespace.
    fn namespace(&self, name: &str) -> Annotations;

    /// Whether the namespace has a credential of its own; nothing while that is not known.
    fn has_credential(&self, namespace: &str) -> Option<bool>;
}

//! The objects in memory, for whoever asks Azure about all of them at once.

use std::sync::Arc;

use armature_reconcile::annotations::Annotations;
use armature_reconcile::inventory::Inventory;
use armature_shapes::resource::{Object, ObjectKey};

use super::port::Cluster;

impl Inventory for Cluster {
    fn is_complete(&self) -> bool {
        let exists = |name: &str| self.namespaces.may_exist(name);
        self.cache.not_known(exists).is_none()
    }

    fn all(&self) -> Box<dyn Iterator<Item = Arc<Object>> + '_> {
        Box::new(self.cache.all())
    }

    fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.cache.get(key)
    }

    fn namespace(&self, name: &str) -> Annotations {
        self.namespaces.get(name).unwrap_or_default()
    }

    fn has_credential(&self, namespace: &str) -> Option<bool> {
        self.credentials.has(namespace)
    }
}

//! Annotations of namespaces, kept by a metadata-only watch.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use armature_shapes::names::PROTECT;

/// Annotations of one namespace.
pub type Annotations = BTreeMap<String, String>;

/// Annotations of all namespaces.
#[derive(Default)]
pub struct NamespaceCache {
    known: RwLock<HashMap<String, Annotations>>,
    /// All namespaces were listed once.
    is_complete: AtomicBool,
}

impl NamespaceCache {
    /// Annotations of the namespace, if it is known.
    pub fn get(&self, name: &str) -> Option<Annotations> {
        self.known
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
            .cloned()
    }

    /// Namespaces that say something of the protection of their objects.
    pub fn protecting(&self) -> Vec<String> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let says = |(_, annotations): &(&String, &Annotations)| annotations.contains_key(PROTECT);
        known
            .iter()
            .filter(says)
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Takes in a state and returns the one before.
    pub fn insert(&self, name: String, annotations: Annotations) -> Option<Annotations> {
        self.known
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name, annotations)
    }

    /// Forgets all but these: a list of all namespaces has ended.
    pub fn keep(&self, listed: &HashSet<String>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.retain(|name, _| listed.contains(name));
        self.is_complete.store(true, Ordering::Release);
    }

    /// Whether there may be a namespace of this name: none is known to be missing before all were listed.
    pub fn may_exist(&self, name: &str) -> bool {
        !self.is_complete.load(Ordering::Acquire) || self.get(name).is_some()
    }

    /// Forgets a namespace that is gone.
    pub fn remove(&self, name: &str) {
        self.known
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_list_does_not_name_is_gone_and_nothing_is_before_the_first() {
        let namespaces = NamespaceCache::default();
        let protects = Annotations::from([(PROTECT.to_owned(), "delete".to_owned())]);
        for name in ["stays", "goes"] {
            namespaces.insert(name.to_owned(), protects.clone());
        }
        assert!(namespaces.may_exist("unknown"), "nobody has listed them");
        namespaces.keep(&HashSet::from(["stays".to_owned()]));
        assert!(!namespaces.may_exist("unknown"));
        assert!(!namespaces.may_exist("goes"));
        assert_eq!(namespaces.get("goes"), None);
        assert_eq!(namespaces.protecting(), ["stays"]);
    }
}

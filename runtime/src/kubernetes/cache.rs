//! The objects of all watched kinds in memory, and who refers to whom.
//!
//! One map for all kinds behind one lock: entries are text and shared pointers, every hold is short.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::filter::{is_ready, needs_reconcile, releases_dependents};
use super::references::{Target, targets};
use crate::reconcile::port::DataKind;
use crate::resource::{Kind, Object, ObjectKey};

/// The cache. Every change returns the keys that must be reconciled because of it.
#[derive(Default)]
pub struct ObjectCache {
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    objects: HashMap<ObjectKey, Entry>,
    /// Who refers to what, by namespace and target.
    users: HashMap<(String, Target), HashSet<ObjectKey>>,
    /// Kinds whose first list is complete.
    synced: HashSet<Kind>,
}

struct Entry {
    object: Arc<Object>,
    targets: Box<[Target]>,
}

impl ObjectCache {
    /// The object, if it is known.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.read()
            .objects
            .get(key)
            .map(|entry| Arc::clone(&entry.object))
    }

    /// Whether all objects of the kind are known, so that an unknown one does not exist.
    pub fn is_synced(&self, kind: Kind) -> bool {
        self.read().synced.contains(&kind)
    }

    /// How many objects are known, by kind.
    pub fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for key in self.read().objects.keys() {
            *counts.entry(key.kind.0.kind).or_default() += 1;
        }
        counts
    }

    /// Takes in an object that a watch delivered. Older states than the known one are ignored: our own
    /// writes are taken in before the watch repeats them.
    pub fn apply(&self, object: Object) -> Vec<ObjectKey> {
        self.write().apply(object)
    }

    /// Takes in the server's answer to our own write, unless the object is gone meanwhile.
    pub fn apply_written(&self, object: &Object) -> Vec<ObjectKey> {
        let mut state = self.write();
        let key = object.key();
        if !state.objects.contains_key(&key) {
            return Vec::new();
        }
        let finished = object.metadata.deletion_timestamp.is_some()
            && object
                .metadata
                .finalizers
                .as_ref()
                .is_none_or(Vec::is_empty);
        if finished {
            state.remove(&key);
            return Vec::new();
        }
        state.apply(object.clone())
    }

    /// Forgets an object that is gone.
    pub fn remove(&self, key: &ObjectKey) {
        self.write().remove(key);
    }

    /// Ends a list of a kind in one namespace, or in all: what was known and is not in it is gone.
    pub fn finish_list(&self, kind: Kind, namespace: Option<&str>, listed: &HashSet<ObjectKey>) {
        let mut state = self.write();
        let gone: Vec<ObjectKey> = state
            .objects
            .keys()
            .filter(|key| {
                key.kind == kind
                    && namespace.is_none_or(|namespace| key.namespace == namespace)
                    && !listed.contains(*key)
            })
            .cloned()
            .collect();
        for key in &gone {
            state.remove(key);
        }
    }

    /// Notes that the first list of the kind is complete in every watched namespace.
    pub fn mark_synced(&self, kind: Kind) {
        self.write().synced.insert(kind);
    }

    /// Forgets all objects of a kind that is no longer watched.
    pub fn forget_kind(&self, kind: Kind) {
        let mut state = self.write();
        state.synced.remove(&kind);
        let gone: Vec<ObjectKey> = state
            .objects
            .keys()
            .filter(|key| key.kind == kind)
            .cloned()
            .collect();
        for key in &gone {
            state.remove(key);
        }
    }

    /// Objects that read this Secret or ConfigMap.
    pub fn users_of_data(&self, kind: DataKind, namespace: &str, name: &str) -> Vec<ObjectKey> {
        let target = Target::data(kind, name);
        self.read()
            .users
            .get(&(namespace.to_owned(), target))
            .map(|users| users.iter().cloned().collect())
            .unwrap_or_default()
    }

    /// Objects of a namespace for which the predicate holds.
    pub fn in_namespace(
        &self,
        namespace: &str,
        predicate: impl Fn(&Object) -> bool,
    ) -> Vec<ObjectKey> {
        self.read()
            .objects
            .iter()
            .filter(|(key, entry)| key.namespace == namespace && predicate(&entry.object))
            .map(|(key, _)| key.clone())
            .collect()
    }

    // A panic while the lock was held cannot leave half a change that matters: entries are replaced whole.
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn apply(&mut self, object: Object) -> Vec<ObjectKey> {
        let key = object.key();
        let before = self
            .objects
            .get(&key)
            .map(|entry| Arc::clone(&entry.object));
        if before
            .as_ref()
            .is_some_and(|before| is_not_newer(&object, before))
        {
            return Vec::new();
        }
        let mut wake = Vec::new();
        if needs_reconcile(before.as_deref(), &object) {
            wake.push(key.clone());
        }
        if releases_dependents(before.as_deref(), &object) {
            wake.extend(self.waiting_for(&key));
        }
        self.index(&key, object);
        wake
    }

    /// Objects that refer to this one and are not ready.
    fn waiting_for(&self, key: &ObjectKey) -> Vec<ObjectKey> {
        let target = Target::Object {
            group: key.kind.group.to_owned(),
            kind: key.kind.0.kind.to_owned(),
            name: key.name.clone(),
        };
        let Some(users) = self.users.get(&(key.namespace.clone(), target)) else {
            return Vec::new();
        };
        users
            .iter()
            .filter(|user| {
                self.objects
                    .get(*user)
                    .is_some_and(|entry| !is_ready(&entry.object))
            })
            .cloned()
            .collect()
    }

    fn index(&mut self, key: &ObjectKey, object: Object) {
        let targets: Box<[Target]> = targets(&object).into_iter().collect();
        self.unlink(key);
        for target in &targets {
            self.users
                .entry((key.namespace.clone(), target.clone()))
                .or_default()
                .insert(key.clone());
        }
        self.objects.insert(
            key.clone(),
            Entry {
                object: Arc::new(object),
                targets,
            },
        );
    }

    fn unlink(&mut self, key: &ObjectKey) {
        let Some(entry) = self.objects.get_mut(key) else {
            return;
        };
        for target in std::mem::take(&mut entry.targets) {
            let place = (key.namespace.clone(), target);
            if let Some(users) = self.users.get_mut(&place) {
                users.remove(key);
                if users.is_empty() {
                    self.users.remove(&place);
                }
            }
        }
    }

    fn remove(&mut self, key: &ObjectKey) {
        self.unlink(key);
        self.objects.remove(key);
    }
}

/// Whether `object` is the same state as `known` or an older one. Resource versions of one kind grow; a
/// recreated object (another uid) always counts as newer.
fn is_not_newer(object: &Object, known: &Object) -> bool {
    let version = |object: &Object| -> Option<u64> {
        object.metadata.resource_version.as_ref()?.parse().ok()
    };
    object.metadata.uid == known.metadata.uid
        && matches!((version(object), version(known)), (Some(new), Some(old)) if new <= old)
}

//! The objects of all watched kinds in memory, and who refers to whom.
//!
//! One map for all kinds behind one lock: entries are compressed text, marks and shared pointers, and every hold is short.
//! What depends on the length of an object, which is a tenant's to choose, is done before the lock is taken: reading,
//! comparing and packing it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use armature_reconcile::port::DataKind;
use armature_reconcile::urgency::Urgency;
use armature_shapes::id::RemoteId;
use armature_shapes::resource::{Kind, Object, ObjectKey};

use super::filter::is_settled;
use super::packed::{Packed, Sample};
use super::references::Target;
use super::state::{Arrival, Change, Entry, Marks, State, id_of};

/// The cache. Every change returns the keys that must be reconciled because of it.
#[derive(Default)]
pub struct ObjectCache {
    state: RwLock<State>,
    /// What the next objects of a kind are compressed against.
    samples: Mutex<HashMap<Kind, Sample>>,
}

/// An object that is unpacked when it is asked for: not while others wait for the lock, and not all at once, which would
/// take the memory that packing saves.
struct Handle {
    key: Arc<ObjectKey>,
    object: Arc<Packed>,
}

impl Handle {
    fn of((key, entry): (&Arc<ObjectKey>, &Entry)) -> Self {
        Self {
            key: Arc::clone(key),
            object: Arc::clone(&entry.object),
        }
    }

    fn object(&self) -> Object {
        self.object.unpack(self.key.kind)
    }
}

/// What is known of an object.
pub enum Known {
    /// All of it.
    Whole(Box<Object>),
    /// It is large: the API server has the rest.
    InPart,
    /// Nothing.
    Nothing,
}

impl ObjectCache {
    /// The object, as it is to be worked on.
    pub fn known(&self, key: &ObjectKey) -> Known {
        match self.packed(key) {
            Some(packed) if packed.is_whole => Known::Whole(Box::new(packed.unpack(key.kind))),
            Some(_) => Known::InPart,
            None => Known::Nothing,
        }
    }

    /// The object, if it is known. Of a large one there is what is asked of many objects at once: metadata, whose it is, what it
    /// exports and whether it is done.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        let packed = self.packed(key)?;
        Some(Arc::new(packed.unpack(key.kind)))
    }

    /// Whether all objects of the kind in this namespace are known, so that an unknown one does not exist.
    pub fn is_listed(&self, kind: Kind, namespace: &str) -> bool {
        self.read().lists.has(kind, namespace)
    }

    /// Other objects with this ARM id. An ARM id is of one kind.
    ///
    /// # Errors
    /// Why that cannot be told: not all objects of the kind are known.
    pub fn sharing(&self, id: &RemoteId, except: &ObjectKey) -> Result<Vec<Arc<Object>>, String> {
        let handles: Vec<Handle> = {
            let state = self.read();
            let lists = &state.lists;
            if let Some(why) = lists.sharing_unknown(except.kind, &except.namespace) {
                return Err(why);
            }
            let sharing = state.sharing(id, except);
            sharing.map(Handle::of).collect()
        };
        let others = handles.iter().map(Handle::object);
        let others = others.filter(|other| id_of(other).as_ref() == Some(id));
        Ok(others.map(Arc::new).collect())
    }

    /// Objects of whatever kind with this ARM id.
    ///
    /// # Errors
    /// Why that cannot be told: not all objects of the kinds of its type are known.
    pub fn stand_for(&self, id: &RemoteId) -> Result<Vec<Arc<Object>>, String> {
        let handles: Vec<Handle> = {
            let state = self.read();
            let arm_type = id.arm().map(|id| id.arm_type().to_string());
            if let Some(why) = state.lists.of_type_unknown(&arm_type.unwrap_or_default()) {
                return Err(why);
            }
            state.standing(id).map(Handle::of).collect()
        };
        let objects = handles.iter().map(Handle::object);
        let objects = objects.filter(|object| id_of(object).as_ref() == Some(id));
        Ok(objects.map(Arc::new).collect())
    }

    /// Objects that name this one as their owner or refer to it.
    pub fn dependents(&self, key: &ObjectKey) -> Vec<ObjectKey> {
        let state = self.read();
        let users = state.users_of(key);
        users.map(|user| user.as_ref().clone()).collect()
    }

    /// The same, with those of its namespace that name its ARM id as their owner.
    pub fn owned_by(&self, key: &ObjectKey) -> Vec<ObjectKey> {
        let mut owned = self.dependents(key);
        let id = self.get(key).as_deref().and_then(id_of);
        if let Some(id) = id {
            let state = self.read();
            let by_id = state.owned_by_id(&key.namespace, id.as_str());
            owned.extend(by_id.map(|user| user.as_ref().clone()));
        }
        owned
    }

    /// All objects that are known, one after the other.
    pub fn all(&self) -> impl Iterator<Item = Arc<Object>> + use<> {
        let handles = self.handles(|_| true).into_iter();
        handles.map(|handle| Arc::new(handle.object()))
    }

    fn handles(&self, wanted: impl Fn(&ObjectKey) -> bool) -> Vec<Handle> {
        let state = self.read();
        let entries = state.objects.iter();
        let wanted = entries.filter(|(key, _)| wanted(key));
        wanted.map(Handle::of).collect()
    }

    /// Keys of all objects that are known, and whether somebody waits for the object.
    pub fn by_urgency(&self) -> Vec<(ObjectKey, Urgency)> {
        let urgency = |object: &Object| match is_settled(object) {
            true => Urgency::Background,
            false => Urgency::Foreground,
        };
        let handles = self.handles(|_| true).into_iter();
        handles
            .map(|handle| (handle.key.as_ref().clone(), urgency(&handle.object())))
            .collect()
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
        self.take_in(&object, false)
    }

    /// Takes in the server's answer to our own write, unless the object is gone meanwhile.
    pub fn apply_written(&self, object: &Object) -> Vec<ObjectKey> {
        let finalizers = object.metadata.finalizers.as_deref();
        let is_kept = finalizers.is_some_and(|finalizers| !finalizers.is_empty());
        if object.metadata.deletion_timestamp.is_some() && !is_kept {
            return self.remove(&object.key());
        }
        self.take_in(object, true)
    }

    /// Takes in a state of an object, one that is not known only where it may be new.
    fn take_in(&self, object: &Object, is_known: bool) -> Vec<ObjectKey> {
        let key = object.key();
        let mut arrival = None;
        loop {
            let known = self.packed(&key);
            if is_known && known.is_none() {
                return Vec::new();
            }
            let before = known.as_ref().map(|packed| packed.unpack(key.kind));
            let Some(change) = Change::between(before.as_ref(), object) else {
                return Vec::new();
            };
            let taken = arrival.get_or_insert_with(|| Arrival {
                object: Arc::new(self.pack(object)),
                marks: Marks::of(object),
            });
            // Where another state came in between, the change is another one. Each turn of the loop is a step of somebody's.
            let mut state = self.write();
            if state.knows(&key, known.as_ref()) {
                return state.apply(&key, taken, change);
            }
        }
    }

    fn packed(&self, key: &ObjectKey) -> Option<Arc<Packed>> {
        let state = self.read();
        state
            .objects
            .get(key)
            .map(|entry| Arc::clone(&entry.object))
    }

    fn pack(&self, object: &Object) -> Packed {
        let samples = || self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sample = samples().get(&object.kind).cloned().unwrap_or_default();
        let packed = Packed::pack(object, &mut sample);
        samples().insert(object.kind, sample);
        packed
    }

    /// Forgets an object that is gone. Whoever stood for the same ARM id may take it over, and what is being deleted and
    /// belonged to it may be gone, too.
    pub fn remove(&self, key: &ObjectKey) -> Vec<ObjectKey> {
        self.write().remove(key)
    }

    /// Ends a list of a kind in one namespace, or in all: what was known and is not in it is gone. Returns what is gone and
    /// what must be reconciled because of it.
    pub fn finish_list(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        listed: &HashSet<ObjectKey>,
    ) -> Vec<ObjectKey> {
        let mut state = self.write();
        let gone: Vec<Arc<ObjectKey>> = state
            .objects
            .keys()
            .filter(|key| {
                key.kind == kind
                    && namespace.is_none_or(|namespace| key.namespace == namespace)
                    && !listed.contains(key.as_ref())
            })
            .cloned()
            .collect();
        let mut wake = Vec::new();
        for key in gone {
            wake.extend(state.remove(&key));
            wake.push(key.as_ref().clone());
        }
        wake
    }

    /// Notes that the first list of the kind is complete, in one namespace or in all.
    pub fn mark_listed(&self, kind: Kind, namespace: Option<&str>) {
        let scope = namespace.map(str::to_owned);
        self.write().lists.complete(kind, &scope);
    }

    /// Notes that the API server refuses to list a kind, and will go on to.
    pub fn mark_refused(&self, kind: Kind, namespace: Option<&str>, why: &str) {
        let scope = namespace.map(str::to_owned);
        self.write().lists.refuse(kind, &scope, why);
    }

    /// Notes that the API server goes on to fail at a list, while it lists the kind elsewhere.
    pub fn mark_failing(&self, kind: Kind, namespace: &str, why: &str) {
        let scope = Some(namespace.to_owned());
        self.write().lists.fail(kind, &scope, why);
    }

    /// A namespace other than this one of which all objects of the kind are known.
    pub fn listed_elsewhere(&self, kind: Kind, namespace: &str) -> Option<String> {
        self.read().lists.complete_elsewhere(kind, namespace)
    }

    /// Forgets all objects of a kind that is no longer watched.
    pub fn forget_kind(&self, kind: Kind) {
        let mut state = self.write();
        state.lists.forget(kind);
        let gone: Vec<Arc<ObjectKey>> = state
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
        let users = self.users_of(namespace, Target::data(kind, name));
        users.iter().map(|object| object.key()).collect()
    }

    /// Objects that want this Secret or ConfigMap written.
    pub fn writers_of_data(&self, kind: DataKind, namespace: &str, name: &str) -> Vec<Arc<Object>> {
        let name = name.to_owned();
        self.users_of(namespace, Target::Export { kind, name })
    }

    /// Namespaces and names of all Secrets or ConfigMaps that objects want written.
    pub fn written_data(&self, kind: DataKind) -> Vec<(String, String)> {
        let state = self.read();
        let places = state.users.keys();
        let written = places.filter_map(|place| match place.as_ref() {
            (namespace, Target::Export { kind: of, name }) if *of == kind => {
                Some((namespace.clone(), name.clone()))
            }
            _ => None,
        });
        written.collect()
    }

    fn users_of(&self, namespace: &str, target: Target) -> Vec<Arc<Object>> {
        let handles: Vec<Handle> = {
            let state = self.read();
            let users = state.users.get(&(namespace.to_owned(), target));
            let users = users.into_iter().flatten();
            users
                .filter_map(|key| state.objects.get_key_value(key))
                .map(Handle::of)
                .collect()
        };
        let objects = handles.iter().map(Handle::object);
        objects.map(Arc::new).collect()
    }

    /// Notes that the objects of a kind are about to be listed, in these namespaces or in all.
    pub fn mark_awaited(&self, kind: Kind, namespaces: &[Option<String>]) {
        let scopes = namespaces.iter().cloned();
        self.write().lists.begin(kind, scopes);
    }

    /// Notes that it is known which kinds are installed.
    pub fn mark_kinds_known(&self) {
        self.write().lists.all_kinds_are_known();
    }

    /// What is not known, so that an unknown object may exist, in words. `exists` says whether a namespace does.
    pub fn not_known(&self, exists: impl Fn(&str) -> bool) -> Option<String> {
        self.read().lists.unknown(exists)
    }

    /// Objects that say something of their protection, and all those of namespaces that do.
    pub fn protecting(&self, namespaces: &[String]) -> impl Iterator<Item = Arc<Object>> + use<> {
        let state = self.read();
        let own = state.protecting.iter();
        let own = own.filter_map(|key| state.objects.get_key_value(key));
        // Most clusters protect nothing in this way, and are not gone through.
        let everything = (!namespaces.is_empty()).then_some(&state.objects);
        let followers = everything.into_iter().flatten();
        let followers = followers.filter(|(key, _)| namespaces.contains(&key.namespace));
        let handles: Vec<Handle> = own.chain(followers).map(Handle::of).collect();
        let handles = handles.into_iter();
        handles.map(|handle| Arc::new(handle.object()))
    }

    /// Objects of a namespace for which the predicate holds.
    pub fn in_namespace(
        &self,
        namespace: &str,
        predicate: impl Fn(&Object) -> bool,
    ) -> Vec<ObjectKey> {
        let handles = self.handles(|key| key.namespace == namespace).into_iter();
        handles
            .filter(|handle| predicate(&handle.object()))
            .map(|handle| handle.key.as_ref().clone())
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

#[cfg(test)]
mod tests;

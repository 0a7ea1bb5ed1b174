//! The objects of all watched kinds in memory, and who refers to whom.
//!
//! One map for all kinds behind one lock: entries are compressed text and shared pointers, every hold is short.

mod packed;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use armature_azure::budget::Urgency;
use armature_reconcile::claim;
use armature_reconcile::port::DataKind;
use armature_shapes::id::RemoteId;
use armature_shapes::names::{ADOPTION, CREDENTIAL_FROM, OBSERVE, PROTECT, RECONCILE_POLICY};
use armature_shapes::resource::{Kind, Object, ObjectKey};
use packed::{Packed, Sample};
use serde_json::value::RawValue;

use super::filter::{Released, is_ready, is_settled, needs_reconcile, released};
use super::references::{Target, targets};

/// The cache. Every change returns the keys that must be reconciled because of it.
#[derive(Default)]
pub struct ObjectCache {
    state: RwLock<State>,
}

/// What an object refers to: a target, in a namespace.
type Place = (String, Target);

#[derive(Default)]
struct State {
    objects: HashMap<Arc<ObjectKey>, Entry>,
    /// Who refers to what. Most places have one user, and there are as many as objects: places and keys are shared with
    /// [`State::objects`].
    users: HashMap<Arc<Place>, Vec<Arc<ObjectKey>>>,
    /// Kinds whose first list is complete.
    synced: HashSet<Kind>,
    /// Kinds that are watched.
    awaited: HashSet<Kind>,
    /// Every installed kind is watched.
    kinds_are_known: bool,
    /// Objects that say something of their protection.
    protecting: HashSet<ObjectKey>,
    /// How many objects have an ARM id, by its hash: most often one.
    ids: HashMap<u64, u32>,
    /// What the next objects of a kind are compressed against.
    samples: HashMap<Kind, Sample>,
}

struct Entry {
    object: Arc<Packed>,
    places: Box<[Arc<Place>]>,
}

impl Entry {
    /// The object, of which the key is known.
    fn object(&self, key: &ObjectKey) -> Arc<Object> {
        Arc::new(self.object.unpack(key.kind))
    }
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

impl ObjectCache {
    /// The object, if it is known.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        let packed = Arc::clone(&self.read().objects.get(key)?.object);
        Some(Arc::new(packed.unpack(key.kind)))
    }

    /// Whether all objects of the kind are known, so that an unknown one does not exist.
    pub fn is_synced(&self, kind: Kind) -> bool {
        self.read().synced.contains(&kind)
    }

    /// Other objects with this ARM id; nothing while not all objects of the kind are known. An ARM id is of one kind.
    pub fn sharing(&self, id: &RemoteId, except: &ObjectKey) -> Option<Vec<Arc<Object>>> {
        let state = self.read();
        state
            .synced
            .contains(&except.kind)
            .then(|| state.sharing(id, except))
    }

    /// Objects that name this one as their owner or refer to it.
    pub fn dependents(&self, key: &ObjectKey) -> Vec<ObjectKey> {
        let state = self.read();
        let users = state.users_of(key);
        users.map(|user| user.as_ref().clone()).collect()
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
            return state.remove(&key);
        }
        state.apply(object.clone())
    }

    /// Forgets an object that is gone. Whoever stood for the same ARM id may take it over, and what is being deleted and
    /// belonged to it may be gone, too.
    pub fn remove(&self, key: &ObjectKey) -> Vec<ObjectKey> {
        self.write().remove(key)
    }

    /// Ends a list of a kind in one namespace, or in all: what was known and is not in it is gone.
    pub fn finish_list(&self, kind: Kind, namespace: Option<&str>, listed: &HashSet<ObjectKey>) {
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
        state.awaited.remove(&kind);
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
        let state = self.read();
        let users = state.users.get(&(namespace.to_owned(), target));
        let users = users.into_iter().flatten();
        users
            .filter_map(|key| Some(state.objects.get(key)?.object(key)))
            .collect()
    }

    /// Notes that the objects of a kind are about to be listed.
    pub fn mark_awaited(&self, kind: Kind) {
        self.write().awaited.insert(kind);
    }

    /// Notes that it is known which kinds are installed.
    pub fn mark_kinds_known(&self) {
        self.write().kinds_are_known = true;
    }

    /// What is not known yet, so that an unknown object may exist: which kinds are installed, or the objects of one.
    pub fn not_known(&self) -> Option<String> {
        let state = self.read();
        if !state.kinds_are_known {
            return Some("installed kinds".to_owned());
        }
        let mut awaited = state.awaited.difference(&state.synced);
        let kind = awaited.next()?;
        Some(format!("objects of kind {}", kind.0.kind))
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

impl State {
    fn apply(&mut self, object: Object) -> Vec<ObjectKey> {
        let key = object.key();
        let before = self.objects.get(&key).map(|entry| entry.object(&key));
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
        match released(before.as_deref(), &object) {
            Released::Nobody => {}
            Released::References => wake.extend(self.waiting(self.referring_to(&key))),
            Released::Everybody => wake.extend(self.waiting(self.users_of(&key))),
        }
        let gives_up = |before: &Arc<Object>| gives_up_its_resource(before, &object);
        if before.as_ref().is_some_and(gives_up) {
            wake.extend(self.heirs(&object));
        }
        self.index(&key, before.as_deref(), &object);
        wake
    }

    /// Those of the objects that are not ready.
    fn waiting<'a>(&self, users: impl Iterator<Item = &'a Arc<ObjectKey>>) -> Vec<ObjectKey> {
        users
            .filter(|user| {
                self.objects
                    .get(user.as_ref())
                    .is_some_and(|entry| !is_ready(&entry.object(user)))
            })
            .map(|user| user.as_ref().clone())
            .collect()
    }

    /// Objects that name this one as their owner or refer to it.
    fn users_of(&self, key: &ObjectKey) -> impl Iterator<Item = &Arc<ObjectKey>> {
        let owned = Target::Owner {
            group: key.kind.group.to_owned(),
            kind: key.kind.0.kind.to_owned(),
            name: key.name.clone(),
        };
        let owned = self.users.get(&(key.namespace.clone(), owned));
        self.referring_to(key).chain(owned.into_iter().flatten())
    }

    /// Objects that refer to this one, not as their owner.
    fn referring_to(&self, key: &ObjectKey) -> impl Iterator<Item = &Arc<ObjectKey>> {
        let target = Target::Object {
            group: key.kind.group.to_owned(),
            kind: key.kind.0.kind.to_owned(),
            name: key.name.clone(),
        };
        let users = self.users.get(&(key.namespace.clone(), target));
        users.into_iter().flatten()
    }

    fn sharing(&self, id: &RemoteId, except: &ObjectKey) -> Vec<Arc<Object>> {
        if self.ids.get(&hash(id)).is_none_or(|count| *count < 2) {
            return Vec::new();
        }
        let entries = self
            .objects
            .iter()
            .filter(|(key, _)| key.as_ref() != except);
        let objects = entries.filter(|(key, _)| key.kind == except.kind);
        let objects = objects.map(|(key, entry)| entry.object(key));
        objects
            .filter(|object| id_of(object).as_ref() == Some(id))
            .collect()
    }

    /// Other objects for the same ARM id.
    fn heirs(&self, object: &Object) -> Vec<ObjectKey> {
        let others = id_of(object).map(|id| self.sharing(&id, &object.key()));
        let others = others.into_iter().flatten();
        others.map(|other| other.key()).collect()
    }

    /// Counts the ARM id of an object that comes, or stops counting that of one that goes.
    fn count_id(&mut self, object: &Object, comes: bool) {
        let Some(id) = id_of(object) else {
            return;
        };
        let count = self.ids.entry(hash(&id)).or_default();
        *count = if comes {
            count.saturating_add(1)
        } else {
            count.saturating_sub(1)
        };
        if *count == 0 {
            self.ids.remove(&hash(&id));
        }
    }

    fn index(&mut self, key: &ObjectKey, before: Option<&Object>, object: &Object) {
        let annotations = object.metadata.annotations.as_ref();
        if annotations.is_some_and(|annotations| annotations.contains_key(PROTECT)) {
            self.protecting.insert(key.clone());
        } else {
            self.protecting.remove(key);
        }
        if let Some(before) = before {
            self.count_id(before, false);
        }
        self.count_id(object, true);
        let sample = self.samples.entry(key.kind).or_default();
        let packed = Arc::new(Packed::pack(object, sample));
        // Most changes are of status and annotations: what the object refers to need not be read again.
        if let Some(entry) = self.objects.get_mut(key)
            && before.is_some_and(|before| refers_alike(before, object))
        {
            entry.object = packed;
            return;
        }
        self.unlink(key);
        let known = self.objects.get_key_value(key);
        let key = known.map_or_else(|| Arc::new(key.clone()), |(known, _)| Arc::clone(known));
        let targets = targets(object).into_iter();
        let places: Box<[Arc<Place>]> = targets
            .map(|target| self.place((key.namespace.clone(), target)))
            .collect();
        for place in &places {
            let users = self.users.entry(Arc::clone(place)).or_default();
            users.push(Arc::clone(&key));
        }
        let object = packed;
        self.objects.insert(key, Entry { object, places });
    }

    /// The place as others share it.
    fn place(&self, place: Place) -> Arc<Place> {
        let known = self.users.get_key_value(&place);
        known.map_or_else(|| Arc::new(place), |(known, _)| Arc::clone(known))
    }

    fn unlink(&mut self, key: &ObjectKey) {
        let Some(entry) = self.objects.get_mut(key) else {
            return;
        };
        for place in std::mem::take(&mut entry.places) {
            if let Some(users) = self.users.get_mut(&place) {
                users.retain(|user| user.as_ref() != key);
                if users.is_empty() {
                    self.users.remove(&place);
                }
            }
        }
    }

    fn remove(&mut self, key: &ObjectKey) -> Vec<ObjectKey> {
        self.unlink(key);
        self.protecting.remove(key);
        let Some(entry) = self.objects.remove(key) else {
            return Vec::new();
        };
        let object = entry.object(key);
        let mut wake = self.heirs(&object);
        self.count_id(&object, false);
        wake.extend(self.going_with(key));
        wake
    }

    /// Objects that are being deleted and referred to this one: what Azure cannot delete by itself is gone with its owner.
    fn going_with(&self, key: &ObjectKey) -> Vec<ObjectKey> {
        let users = self.users_of(key).filter(|user| {
            let entry = self.objects.get(user.as_ref());
            entry.is_some_and(|entry| {
                let object = entry.object(user);
                object.metadata.deletion_timestamp.is_some()
            })
        });
        users.map(|user| user.as_ref().clone()).collect()
    }
}

/// The ARM id of a claimed object.
fn id_of(object: &Object) -> Option<RemoteId> {
    RemoteId::parse(object.kind.0, claim::resource_id(object)?).ok()
}

fn hash(id: &RemoteId) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// Whether the object does not write its resource any more, so that another one may.
fn gives_up_its_resource(before: &Object, after: &Object) -> bool {
    let word = |object: &Object, name: &str| {
        let annotations = object.metadata.annotations.as_ref();
        annotations.and_then(|annotations| annotations.get(name).cloned())
    };
    let mut names = [RECONCILE_POLICY, OBSERVE, ADOPTION].into_iter();
    names.any(|name| word(before, name) != word(after, name))
}

/// Whether two states of an object refer to the same things for certain: spec and credential are what references are read
/// from.
fn refers_alike(known: &Object, new: &Object) -> bool {
    fn read_from(object: &Object) -> (Option<&str>, Option<&String>) {
        let annotations = object.metadata.annotations.as_ref();
        (
            object.spec.as_deref().map(RawValue::get),
            annotations.and_then(|annotations| annotations.get(CREDENTIAL_FROM)),
        )
    }
    read_from(known) == read_from(new)
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

#[cfg(test)]
mod tests;

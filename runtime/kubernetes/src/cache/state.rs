//! What the cache knows, behind its lock. Nothing here reads an object: marks of what is asked for were made before.

use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use armature_reconcile::claim;
use armature_shapes::id::RemoteId;
use armature_shapes::names::{ADOPTION, CREDENTIAL_FROM, OBSERVE, PROTECT, RECONCILE_POLICY};
use armature_shapes::resource::{Object, ObjectKey};
use serde_json::value::RawValue;

use super::filter::{Released, is_ready, needs_reconcile, released};
use super::lists::Lists;
use super::packed::Packed;
use super::references::{Target, targets};

/// What an object refers to: a target, in a namespace.
type Place = (String, Target);

#[derive(Default)]
pub(super) struct State {
    pub objects: HashMap<Arc<ObjectKey>, Entry>,
    /// Who refers to what. Most places have one user, and there are as many as objects: places and keys are shared with
    /// [`State::objects`].
    pub users: HashMap<Arc<Place>, Vec<Arc<ObjectKey>>>,
    /// Which lists are complete.
    pub lists: Lists,
    /// Objects that say something of their protection.
    pub protecting: HashSet<Arc<ObjectKey>>,
    /// Claimed objects by the hash of their ARM id: most often one.
    ids: HashMap<u64, Vec<Arc<ObjectKey>>>,
}

pub(super) struct Entry {
    pub object: Arc<Packed>,
    marks: Marks,
    places: Box<[Arc<Place>]>,
}

/// What is asked of many objects at once.
#[derive(Clone, Copy)]
pub(super) struct Marks {
    /// Hash of the ARM id of a claimed object.
    id: Option<u64>,
    is_ready: bool,
    is_being_deleted: bool,
    is_protecting: bool,
}

impl Marks {
    pub fn of(object: &Object) -> Self {
        let annotations = object.metadata.annotations.as_ref();
        Self {
            id: id_of(object).as_ref().map(hash),
            is_ready: is_ready(object),
            is_being_deleted: object.metadata.deletion_timestamp.is_some(),
            is_protecting: annotations.is_some_and(|words| words.contains_key(PROTECT)),
        }
    }
}

/// A state of an object that comes in.
pub(super) struct Arrival {
    pub object: Arc<Packed>,
    pub marks: Marks,
}

/// What a state of an object changes.
pub(super) struct Change {
    needs_reconcile: bool,
    released: Released,
    gives_up_its_resource: bool,
    /// What the object refers to; nothing where it is as before.
    targets: Option<Vec<Target>>,
}

impl Change {
    /// Nothing where `after` is the known state or an older one.
    pub fn between(before: Option<&Object>, after: &Object) -> Option<Self> {
        if before.is_some_and(|before| is_not_newer(after, before)) {
            return None;
        }
        // Most changes are of status and annotations: what the object refers to need not be read again.
        let refers_as_before = before.is_some_and(|before| refers_alike(before, after));
        Some(Self {
            needs_reconcile: needs_reconcile(before, after),
            released: released(before, after),
            gives_up_its_resource: before
                .is_some_and(|before| gives_up_its_resource(before, after)),
            targets: (!refers_as_before).then(|| targets(after).into_iter().collect()),
        })
    }
}

impl State {
    /// Whether this, or nothing, is what is known of the object.
    pub fn knows(&self, key: &ObjectKey, object: Option<&Arc<Packed>>) -> bool {
        match (self.objects.get(key), object) {
            (None, None) => true,
            (Some(entry), Some(object)) => Arc::ptr_eq(&entry.object, object),
            _ => false,
        }
    }

    /// Takes in a state of an object and returns who must be reconciled because of it.
    pub fn apply(&mut self, key: &ObjectKey, arrival: &Arrival, change: Change) -> Vec<ObjectKey> {
        let mut wake = Vec::new();
        if change.needs_reconcile {
            wake.push(key.clone());
        }
        match change.released {
            Released::Nobody => {}
            Released::References => wake.extend(self.waiting(self.referring_to(key))),
            Released::Everybody => wake.extend(self.waiting(self.users_of(key))),
        }
        if change.gives_up_its_resource {
            wake.extend(self.heirs(key, arrival.marks.id));
        }
        self.index(key, arrival, change.targets);
        wake
    }

    /// Those of the objects that are not ready.
    fn waiting<'a>(&self, users: impl Iterator<Item = &'a Arc<ObjectKey>>) -> Vec<ObjectKey> {
        self.marked(users, |marks| !marks.is_ready)
    }

    /// Those of the objects for whose marks the predicate holds.
    fn marked<'a>(
        &self,
        users: impl Iterator<Item = &'a Arc<ObjectKey>>,
        holds: impl Fn(&Marks) -> bool,
    ) -> Vec<ObjectKey> {
        let entry = |key: &ObjectKey| self.objects.get(key);
        users
            .filter(|user| entry(user).is_some_and(|entry| holds(&entry.marks)))
            .map(|user| user.as_ref().clone())
            .collect()
    }

    /// Objects that name this one as their owner or refer to it.
    pub fn users_of(&self, key: &ObjectKey) -> impl Iterator<Item = &Arc<ObjectKey>> {
        let owned = Target::Owner {
            group: key.kind.group.to_owned(),
            kind: key.kind.0.kind.to_owned(),
            name: key.name.clone(),
        };
        let owned = self.users.get(&(key.namespace.clone(), owned));
        self.referring_to(key).chain(owned.into_iter().flatten())
    }

    /// Objects of a namespace that name this ARM id as their owner.
    pub fn owned_by_id(&self, namespace: &str, id: &str) -> impl Iterator<Item = &Arc<ObjectKey>> {
        let place = (namespace.to_owned(), Target::owner_id(id));
        self.users.get(&place).into_iter().flatten()
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

    /// Other objects of the kind that may have this ARM id: its hash is theirs.
    pub fn sharing(
        &self,
        id: &RemoteId,
        except: &ObjectKey,
    ) -> impl Iterator<Item = (&Arc<ObjectKey>, &Entry)> {
        let others = self.others(Some(hash(id)), except);
        others.filter_map(|key| self.objects.get_key_value(key))
    }

    /// Objects that may have this ARM id: its hash is theirs.
    pub fn standing(&self, id: &RemoteId) -> impl Iterator<Item = (&Arc<ObjectKey>, &Entry)> {
        let keys = self.ids.get(&hash(id)).into_iter().flatten();
        keys.filter_map(|key| self.objects.get_key_value(key))
    }

    fn others(&self, id: Option<u64>, except: &ObjectKey) -> impl Iterator<Item = &Arc<ObjectKey>> {
        let keys = id.and_then(|id| self.ids.get(&id)).into_iter().flatten();
        keys.filter(move |key| key.kind == except.kind && key.as_ref() != except)
    }

    /// Other objects for the same ARM id.
    fn heirs(&self, key: &ObjectKey, id: Option<u64>) -> Vec<ObjectKey> {
        let others = self.others(id, key);
        others.map(|other| other.as_ref().clone()).collect()
    }

    fn index(&mut self, key: &ObjectKey, arrival: &Arrival, targets: Option<Vec<Target>>) {
        let known = self.objects.get_key_value(key);
        let key = known.map_or_else(|| Arc::new(key.clone()), |(known, _)| Arc::clone(known));
        let before = self.objects.get(&key).and_then(|entry| entry.marks.id);
        self.move_id(&key, before, arrival.marks.id);
        if arrival.marks.is_protecting {
            self.protecting.insert(Arc::clone(&key));
        } else {
            self.protecting.remove(&key);
        }
        let (object, marks) = (Arc::clone(&arrival.object), arrival.marks);
        let Some(targets) = targets else {
            if let Some(entry) = self.objects.get_mut(&key) {
                (entry.object, entry.marks) = (object, marks);
            }
            return;
        };
        self.unlink(&key);
        let targets = targets.into_iter();
        let places: Box<[Arc<Place>]> = targets
            .map(|target| self.place((key.namespace.clone(), target)))
            .collect();
        for place in &places {
            let users = self.users.entry(Arc::clone(place)).or_default();
            users.push(Arc::clone(&key));
        }
        let entry = Entry {
            object,
            marks,
            places,
        };
        self.objects.insert(key, entry);
    }

    /// Notes the ARM id of an object in place of its former one.
    fn move_id(&mut self, key: &Arc<ObjectKey>, before: Option<u64>, after: Option<u64>) {
        if before == after {
            return;
        }
        if let Some(keys) = before.and_then(|id| self.ids.get_mut(&id)) {
            keys.retain(|other| other != key);
        }
        if let Some(id) = before.filter(|id| self.ids.get(id).is_some_and(Vec::is_empty)) {
            self.ids.remove(&id);
        }
        if let Some(id) = after {
            self.ids.entry(id).or_default().push(Arc::clone(key));
        }
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

    /// Forgets an object and returns who must be reconciled because of it.
    pub fn remove(&mut self, key: &ObjectKey) -> Vec<ObjectKey> {
        self.unlink(key);
        self.protecting.remove(key);
        let Some((known, entry)) = self.objects.remove_entry(key) else {
            return Vec::new();
        };
        let mut wake = self.heirs(key, entry.marks.id);
        self.move_id(&known, entry.marks.id, None);
        // What Azure cannot delete by itself is gone with its owner.
        wake.extend(self.marked(self.users_of(key), |marks| marks.is_being_deleted));
        wake
    }
}

/// The ARM id of a claimed object.
pub(super) fn id_of(object: &Object) -> Option<RemoteId> {
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

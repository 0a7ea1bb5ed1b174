//! The cluster as another release of the operator sees it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use armature_shapes::kind::KindInfo;
use armature_shapes::resource::{Kind, ObjectKey};

use super::super::lock;
use super::MemoryCluster;
use super::state::State;

impl MemoryCluster {
    /// The same objects and data, read by a release that has these kinds. What is left here is nothing.
    #[must_use]
    pub fn handed_over(&self, kinds: &[&'static KindInfo]) -> Self {
        let is_same =
            |kind: Kind, other: &KindInfo| (kind.group, kind.kind) == (other.group, other.kind);
        let of_release = |kind: Kind| {
            let mut known = kinds.iter().copied();
            Kind(known.find(|other| is_same(kind, other)).unwrap_or(kind.0))
        };
        let key_of = |key: ObjectKey| ObjectKey {
            kind: of_release(key.kind),
            ..key
        };
        let mut state = std::mem::take(&mut *lock(&self.state));
        let objects = std::mem::take(&mut state.objects).into_iter();
        let objects: HashMap<_, _> = objects
            .map(|(key, mut object)| {
                object.kind = of_release(object.kind);
                (key_of(key), object)
            })
            .collect();
        let ids = std::mem::take(&mut state.ids).into_iter();
        let ids = ids.map(|(id, keys)| (id, keys.into_iter().map(key_of).collect()));
        let events = std::mem::take(&mut state.events).into_iter();
        let events = events.map(|(key, event)| (key_of(key), event)).collect();
        Self {
            journal: self.journal.clone(),
            digest_key: Mutex::new(lock(&self.digest_key).clone()),
            signing: Mutex::new(*lock(&self.signing)),
            kinds: kinds.to_vec(),
            breakpoint: Arc::clone(&self.breakpoint),
            state: Mutex::new(State {
                ids: ids.collect(),
                objects,
                events,
                ..state
            }),
        }
    }
}

//! Keys whose time has come and that may not have a worker now: their kind is at its limit, or their namespace has its share.
//!
//! A namespace in which every pass hangs would have all workers in the end. So it may take one only while it has fewer than so many
//! for each one that is free: alone it comes to four fifths of them, and however many such namespaces there are, the last one is
//! left for who has none (the dynamic thresholds of Choudhury and Hahne, for buffers that queues share).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use armature_shapes::resource::{Kind, ObjectKey};

use super::turns::Place;
use crate::urgency::Urgency;

/// A namespace may have fewer than so many workers for each one that is free. Somebody waits for its looks; those for which nobody
/// does have a share beyond, so that they come although the others hang.
fn share(urgency: Urgency) -> usize {
    match urgency {
        Urgency::Foreground => 4,
        Urgency::Background => 8,
    }
}

/// How many workers each namespace has.
#[derive(Default)]
pub(super) struct Share {
    running: HashMap<String, usize>,
}

impl Share {
    /// Takes a worker for a namespace, where it may have one of those that are free.
    pub fn take(&mut self, namespace: &str, urgency: Urgency, free: usize) -> bool {
        match self.running.get_mut(namespace) {
            Some(running) if free <= 1 || *running >= share(urgency) * free => false,
            Some(running) => {
                *running += 1;
                true
            }
            None => {
                self.running.insert(namespace.to_owned(), 1);
                true
            }
        }
    }

    /// Gives a worker back.
    pub fn give_back(&mut self, namespace: &str) {
        if let Some(running) = self.running.get_mut(namespace) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(namespace);
            }
        }
    }
}

type Line = BTreeMap<Place, Arc<ObjectKey>>;

/// The keys, by what keeps them from a worker.
#[derive(Default)]
pub(super) struct Parked {
    kinds: HashMap<Kind, Line>,
    /// Few: each has several workers.
    namespaces: HashMap<String, Line>,
}

impl Parked {
    /// Its kind is at its limit.
    pub fn by_kind(&mut self, place: Place, key: Arc<ObjectKey>) {
        self.kinds.entry(key.kind).or_default().insert(place, key);
    }

    /// Its namespace has its share.
    pub fn by_namespace(&mut self, place: Place, key: Arc<ObjectKey>) {
        let line = self.namespaces.entry(key.namespace.clone()).or_default();
        line.insert(place, key);
    }

    /// Whether any waits since its namespace has its share.
    pub fn has_namespaces(&self) -> bool {
        !self.namespaces.is_empty()
    }

    /// The line in which a key is parked at this place.
    pub fn where_is(&mut self, key: &ObjectKey, place: Place) -> Option<&mut Line> {
        let by_kind = self.kinds.get_mut(&key.kind);
        let by_namespace = self.namespaces.get_mut(&key.namespace);
        let mut lines = by_kind.into_iter().chain(by_namespace);
        lines.find(|line| line.contains_key(&place))
    }

    /// The first key that waits for its kind.
    pub fn next_of(&mut self, kind: Kind) -> Option<(Place, Arc<ObjectKey>)> {
        let line = self.kinds.get_mut(&kind)?;
        let first = line.pop_first();
        if line.is_empty() {
            self.kinds.remove(&kind);
        }
        first
    }

    /// The keys that may try again once a worker of the kind is free.
    pub fn let_go(&mut self, kind: Kind) -> Vec<(Place, Arc<ObjectKey>)> {
        let mut first = self.let_go_of_namespaces();
        first.extend(self.next_of(kind));
        first
    }

    /// The keys that may try again once a worker is free, of any kind.
    pub fn let_go_of_namespaces(&mut self) -> Vec<(Place, Arc<ObjectKey>)> {
        let lines = self.namespaces.values_mut();
        let first = lines.filter_map(BTreeMap::pop_first).collect();
        self.namespaces.retain(|_, line| !line.is_empty());
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URGENCIES: [Urgency; 2] = [Urgency::Foreground, Urgency::Background];

    /// How many workers of so many these namespaces have, each of which takes what it may with these looks, and how many are free.
    fn taken(workers: usize, namespaces: usize, urgencies: &[Urgency]) -> (Vec<usize>, usize) {
        let mut share = Share::default();
        let mut free = workers;
        for urgency in urgencies {
            loop {
                let before = free;
                for namespace in 0..namespaces {
                    if free > 0 && share.take(&namespace.to_string(), *urgency, free) {
                        free -= 1;
                    }
                }
                if free == before {
                    break;
                }
            }
        }
        let of = |namespace: usize| share.running.get(&namespace.to_string()).copied();
        let each = (0..namespaces).map(|namespace| of(namespace).unwrap_or_default());
        (each.collect(), free)
    }

    #[test]
    fn nobody_has_all_of_many_workers() {
        for (workers, namespaces, urgencies, each, free) in [
            (1, 1, &URGENCIES[..1], vec![1], 0),
            (2, 1, &URGENCIES[..], vec![1], 1),
            (4, 1, &URGENCIES[..], vec![3], 1),
            (4, 3, &URGENCIES[..], vec![1, 1, 1], 1),
            (4, 5, &URGENCIES[..], vec![0, 1, 1, 1, 1], 0),
            (5, 1, &URGENCIES[..1], vec![4], 1),
            (64, 1, &URGENCIES[..1], vec![52], 12),
            (64, 1, &URGENCIES[..], vec![57], 7),
            (64, 2, &URGENCIES[..], vec![30, 31], 3),
            (64, 3, &URGENCIES[..], vec![20, 21, 21], 2),
        ] {
            let (mut is_each, is_free) = taken(workers, namespaces, urgencies);
            is_each.sort_unstable();
            let name = format!("{workers} {namespaces} {urgencies:?}");
            assert_eq!((is_each, is_free), (each, free), "{name}");
        }
    }

    #[test]
    fn what_is_given_back_can_be_taken() {
        let mut share = Share::default();
        let [urgency, _] = URGENCIES;
        assert!((0..8).all(|_| share.take("web", urgency, 2)));
        assert!(!share.take("web", urgency, 2));
        assert!(share.take("other", urgency, 2));
        assert!(!share.take("other", urgency, 1), "the last one");
        share.give_back("web");
        assert!(share.take("web", urgency, 2));
        for _ in 0..8 {
            share.give_back("web");
        }
        share.give_back("other");
        assert!(share.running.is_empty());
    }
}

//! How many values of each object are left to Azure, and by which right, as the latest pass has seen it: for metrics.
//!
//! One entry for an object that has some; it goes with the object, or when the spec's values are Azure's again.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use armature_engine::owned::Moved;
use armature_shapes::resource::{Kind, ObjectKey};

/// How many values there are by the name of a right.
type Counts = BTreeMap<&'static str, usize>;

/// The values that are left alone, by object.
#[derive(Debug, Default)]
pub struct LeftAlone(Mutex<HashMap<ObjectKey, Counts>>);

impl LeftAlone {
    /// What a pass has seen.
    pub(crate) fn note(&self, key: &ObjectKey, moved: &[Moved]) {
        let mut counts = Counts::new();
        for moved in moved.iter().filter(|moved| moved.differs) {
            *counts.entry(moved.right).or_default() += 1;
        }
        let mut all = self.lock();
        match counts.is_empty() {
            true => all.remove(key),
            false => all.insert(key.clone(), counts),
        };
    }

    /// The object is gone.
    pub(crate) fn forget(&self, key: &ObjectKey) {
        self.lock().remove(key);
    }

    /// How many there are of all objects, by kind and right.
    pub fn counts(&self) -> Vec<(Kind, &'static str, usize)> {
        let mut sums: BTreeMap<(&str, &str, &'static str), (Kind, usize)> = BTreeMap::new();
        for (key, counts) in self.lock().iter() {
            let kind = key.kind.0;
            for (right, count) in counts {
                let sum = sums.entry((kind.group, kind.kind, *right));
                sum.or_insert((key.kind, 0)).1 += count;
            }
        }
        let sums = sums.into_iter();
        sums.map(|((_, _, right), (kind, count))| (kind, right, count))
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ObjectKey, Counts>> {
        // A panic while the map was held leaves a map that is still valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

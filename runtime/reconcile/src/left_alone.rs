//! How many values of each object are left to Azure, and by which right, and how many somebody else changes again and again, as the
//! latest pass has seen it: for metrics.
//!
//! One entry for an object that has some; it goes with the object, or when the spec's values are Azure's again.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use armature_engine::owned::Moved;
use armature_shapes::resource::{Kind, ObjectKey};

/// How many values there are by the name of a right.
type Counts = BTreeMap<&'static str, usize>;

/// How many values of one object there are.
#[derive(Debug, Default)]
struct Entry {
    /// Left to Azure, by the name of a right.
    left: Counts,
    /// Put right before, changed again since, and waiting.
    contested: usize,
}

/// The values that are left alone, by object.
#[derive(Debug, Default)]
pub struct LeftAlone(Mutex<HashMap<ObjectKey, Entry>>);

impl LeftAlone {
    /// What a pass has seen.
    pub(crate) fn note(&self, key: &ObjectKey, moved: &[Moved], contested: usize) {
        let mut left = Counts::new();
        for moved in moved.iter().filter(|moved| moved.differs) {
            *left.entry(moved.right).or_default() += 1;
        }
        let mut all = self.lock();
        match left.is_empty() && contested == 0 {
            true => all.remove(key),
            false => all.insert(key.clone(), Entry { left, contested }),
        };
    }

    /// The object is gone.
    pub(crate) fn forget(&self, key: &ObjectKey) {
        self.lock().remove(key);
    }

    /// How many are contested of all objects, by kind.
    pub fn contested(&self) -> Vec<(Kind, usize)> {
        let mut sums: BTreeMap<(&str, &str), (Kind, usize)> = BTreeMap::new();
        for (key, entry) in self.lock().iter().filter(|(_, entry)| entry.contested > 0) {
            let kind = key.kind.0;
            let sum = sums.entry((kind.group, kind.kind));
            sum.or_insert((key.kind, 0)).1 += entry.contested;
        }
        sums.into_values().collect()
    }

    /// How many are left to Azure of all objects, by kind and right.
    pub fn counts(&self) -> Vec<(Kind, &'static str, usize)> {
        let mut sums: BTreeMap<(&str, &str, &'static str), (Kind, usize)> = BTreeMap::new();
        for (key, entry) in self.lock().iter() {
            let kind = key.kind.0;
            for (right, count) in &entry.left {
                let sum = sums.entry((kind.group, kind.kind, *right));
                sum.or_insert((key.kind, 0)).1 += count;
            }
        }
        let sums = sums.into_iter();
        sums.map(|((_, _, right), (kind, count))| (kind, right, count))
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ObjectKey, Entry>> {
        // A panic while the map was held leaves a map that is still valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

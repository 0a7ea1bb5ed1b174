//! Since when resources that hold what other objects have made are missing in Azure, as this process has seen it.
//!
//! A service may say for a moment that a resource is not there. Creating it again would take out of it what others have made, so
//! it is looked for twice, some time apart ([`crate::decide`]). A process that has just started knows nothing of earlier looks and
//! looks twice again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use armature_shapes::resource::{Object, ObjectKey};
use jiff::{SignedDuration, Timestamp};

/// The first look of each that found nothing; one entry for an object at most, gone with the object or when it is found.
#[derive(Debug, Default)]
pub struct Absences(Mutex<HashMap<ObjectKey, Absence>>);

/// What a look did not find. Each has a time of its own: that Azure leaves out a list for a while says nothing of a 404 that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// The resource.
    Resource,
    /// A list of children, at this path of the answer.
    List(&'static [&'static str]),
}

#[derive(Debug)]
struct Absence {
    uid: Option<String>,
    missing: Missing,
    since: Timestamp,
}

impl Absences {
    /// A look has not found this.
    pub(super) fn note(&self, object: &Object, missing: Missing, now: Timestamp) {
        let uid = object.metadata.uid.clone();
        let mut all = self.lock();
        let known = all.get(&object.key());
        if known.is_none_or(|known| known.uid != uid || known.missing != missing) {
            let since = now;
            let absence = Absence {
                uid,
                missing,
                since,
            };
            all.insert(object.key(), absence);
        }
    }

    /// How long ago the first look did not find what the latest one did not, where none between found it or missed something else.
    pub(super) fn lasted(&self, object: &Object, now: Timestamp) -> Option<SignedDuration> {
        let all = self.lock();
        let known = all.get(&object.key());
        let known = known.filter(|known| known.uid == object.metadata.uid)?;
        Some(now.duration_since(known.since))
    }

    /// The resource is there, or its object is gone.
    pub(super) fn forget(&self, key: &ObjectKey) {
        self.lock().remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ObjectKey, Absence>> {
        // A panic while the map was held leaves a map that is still valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

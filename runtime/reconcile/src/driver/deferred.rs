//! What the process remembers of operations in place of the objects: most have ended before anybody would have missed it.
//!
//! Where Azure works on, the pass has to leave behind how to ask about it and what was sent. As long as the object may be silent
//! ([`crate::young`]) that stays here, and most often the next look finds the operation done. So does what the API server did not
//! take. The first pass that has anything
//! else to write, or to say, writes it along, and a process that is told to stop writes all of it. One that is killed before that
//! leaves behind what one does that is killed before Azure's answer arrives: the next one looks what Azure has, and sends a PUT or
//! DELETE once more where it has to.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use armature_shapes::resource::{Object, ObjectKey};

use crate::bookkeeping::Entries;

/// Annotations of all objects that are not written yet.
#[derive(Debug, Default)]
pub struct Deferred(Mutex<HashMap<ObjectKey, OfObject>>);

#[derive(Debug)]
struct OfObject {
    uid: Option<String>,
    entries: Entries,
}

impl Deferred {
    /// Those of an object; none of another object of this name.
    pub(super) fn of(&self, object: &Object) -> Entries {
        let all = self.lock();
        let found = all.get(&object.key());
        let found = found.filter(|found| found.uid == object.metadata.uid);
        found.map(|found| found.entries.clone()).unwrap_or_default()
    }

    pub(super) fn set(&self, object: &Object, entries: Entries) {
        let uid = object.metadata.uid.clone();
        self.lock().insert(object.key(), OfObject { uid, entries });
    }

    /// The objects that have some.
    pub fn keys(&self) -> Vec<ObjectKey> {
        self.lock().keys().cloned().collect()
    }

    /// They are written, or no longer so.
    pub(super) fn forget(&self, key: &ObjectKey) {
        self.lock().remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ObjectKey, OfObject>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

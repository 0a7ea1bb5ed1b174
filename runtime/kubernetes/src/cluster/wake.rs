//! Who is told that an object needs to be looked at.

use armature_shapes::resource::ObjectKey;

/// Who is told that an object needs to be reconciled now.
pub trait Wake: Send + Sync {
    /// The object changed, or something that it waits for did. Called often; must not block.
    fn wake(&self, key: ObjectKey);

    /// The object is new to us, and nobody waits for what comes of a look at it.
    fn wake_idle(&self, key: ObjectKey) {
        self.wake(key);
    }
}

impl<F: Fn(ObjectKey) + Send + Sync> Wake for F {
    fn wake(&self, key: ObjectKey) {
        self(key);
    }
}

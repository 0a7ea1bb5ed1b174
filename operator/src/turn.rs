//! Whose turn it is: what watches find is queued from the moment on which this replica manages objects.
//!
//! A replica that waits for another one to end knows all objects already, and queues none: objects come and go without
//! being looked at, and nobody counts them.

use std::sync::atomic::{AtomicBool, Ordering};

use armature_runtime::kubernetes::{ObjectCache, Wake};
use armature_runtime::reconcile::queue::Queue;
use armature_runtime::reconcile::urgency::Urgency;
use armature_runtime::resource::ObjectKey;

/// The way from the watches to a queue.
pub struct Turn {
    queue: Queue,
    has_come: AtomicBool,
}

impl Turn {
    /// Queues nothing yet.
    pub fn new(queue: Queue) -> Self {
        Self {
            queue,
            has_come: AtomicBool::new(false),
        }
    }

    /// Queues what is known, and from now on what watches find.
    pub fn begin(&self, known: &ObjectCache) {
        // In this order: what a watch finds between the two is queued twice, which counts once.
        self.has_come.store(true, Ordering::SeqCst);
        for (key, urgency) in known.by_urgency() {
            match urgency {
                Urgency::Foreground => self.queue.add(key),
                Urgency::Background => self.queue.add_idle(key),
            }
        }
    }

    /// Whether this replica manages objects.
    pub fn has_come(&self) -> bool {
        self.has_come.load(Ordering::SeqCst)
    }
}

impl Wake for Turn {
    fn wake(&self, key: ObjectKey) {
        if self.has_come() {
            self.queue.add(key);
        }
    }

    fn wake_idle(&self, key: ObjectKey) {
        if self.has_come() {
            self.queue.add_idle(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use armature_runtime::kubernetes::StoredObject;
    use armature_runtime::reconcile::backoff::SystemRandom;
    use armature_runtime::reconcile::queue::QueueSettings;
    use armature_runtime::resource::{Kind, Object};

    use super::*;

    fn object(name: &str) -> Object {
        let text = format!(r#"{{"metadata":{{"name":"{name}","namespace":"team"}},"spec":{{}}}}"#);
        let stored: StoredObject = serde_json::from_str(&text).unwrap();
        stored.into_object(Kind(armature_generated::KINDS[0]))
    }

    #[tokio::test]
    async fn a_standby_queues_what_is_there_when_its_turn_comes_and_nothing_before() {
        let queue = Queue::new(QueueSettings::default(), Arc::new(SystemRandom));
        let (turn, cache) = (Turn::new(queue.clone()), ObjectCache::default());
        for name in ["stays", "goes"] {
            for key in cache.apply(object(name)) {
                turn.wake(key);
            }
        }
        cache.remove(&object("goes").key());
        turn.wake(object("goes").key());
        assert_eq!(queue.depth().known, 0);
        turn.begin(&cache);
        assert_eq!(queue.depth().known, 1);
        turn.wake(object("stays").key());
        turn.wake_idle(object("comes").key());
        assert_eq!(queue.depth().known, 2);
    }
}

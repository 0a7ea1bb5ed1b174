//! What was written in Azure of late: what this process has sent, so that the news of it is no news to the lookout of
//! `armature_arm`, and who else wrote, as the Graph tells, for people; and which types refuse a PUT for another ETag.
//!
//! One entry of each for an object at most. Its latest PUT goes with the object, and a while after the read that followed it, when
//! the Graph has told of the change or is so late that a read is wanted anyway.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use armature_shapes::resource::{Kind, ObjectKey};
use jiff::{SignedDuration, Timestamp};

/// Time for which a PUT is remembered after it was read back. The Graph tells of changes within minutes.
const KEPT: SignedDuration = SignedDuration::from_hours(1);

/// Time for which one is remembered that was not read back: Azure may work on it for hours.
const KEPT_UNREAD: SignedDuration = SignedDuration::from_hours(24);

/// Time for which it is remembered who else wrote.
const KEPT_ANOTHER: SignedDuration = SignedDuration::from_hours(24);

/// Time between two looks for what is over.
const BETWEEN_SWEEPS: SignedDuration = SignedDuration::from_mins(10);

/// The latest PUT of each object.
#[derive(Debug, Default)]
pub struct Written(Mutex<All>);

#[derive(Debug)]
struct All {
    puts: HashMap<ObjectKey, Put>,
    others: HashMap<ObjectKey, (Box<str>, Timestamp)>,
    /// Of these types, in these versions, services look at `If-Match`.
    refusing: HashSet<(Kind, &'static str)>,
    next_sweep: Timestamp,
}

impl Default for All {
    fn default() -> Self {
        Self {
            puts: HashMap::new(),
            others: HashMap::new(),
            refusing: HashSet::new(),
            next_sweep: Timestamp::MIN,
        }
    }
}

/// A PUT that Azure has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Put {
    /// The id under which ARM has recorded it.
    pub correlation: Box<str>,
    /// Until when its effects were seen, by Azure's clock: when the latest read after it was asked for.
    pub read: Option<Timestamp>,
    /// When it was answered, by ours.
    answered: Timestamp,
}

impl Put {
    fn is_over(&self, now: Timestamp) -> bool {
        let (since, kept) = match self.read {
            Some(read) => (read, KEPT),
            None => (self.answered, KEPT_UNREAD),
        };
        now.duration_since(since) > kept
    }
}

impl Written {
    /// Azure has taken a PUT of this object's resource.
    pub fn sent(&self, key: &ObjectKey, correlation: String, now: Timestamp) {
        let put = Put {
            correlation: correlation.into_boxed_str(),
            read: None,
            answered: now,
        };
        let mut all = self.lock();
        all.sweep(now);
        all.puts.insert(key.clone(), put);
    }

    /// The resource was read, as it was at a moment of Azure's clock.
    pub fn read(&self, key: &ObjectKey, at: Timestamp, now: Timestamp) {
        let mut all = self.lock();
        all.sweep(now);
        if let Some(put) = all.puts.get_mut(key) {
            put.read = put.read.max(Some(at));
        }
    }

    /// Somebody else has changed the resource: who, in words.
    pub fn by_another(&self, key: &ObjectKey, who: String, now: Timestamp) {
        let mut all = self.lock();
        all.sweep(now);
        all.others.insert(key.clone(), (who.into_boxed_str(), now));
    }

    /// Who else has changed the resource last, while it is remembered.
    pub fn another(&self, key: &ObjectKey) -> Option<String> {
        let all = self.lock();
        all.others.get(key).map(|(who, _)| who.to_string())
    }

    /// Azure has refused a PUT of this type because the resource had another ETag.
    pub(crate) fn has_refused(&self, interface: (Kind, &'static str)) {
        self.lock().refusing.insert(interface);
    }

    /// Whether Azure is known to refuse such a PUT.
    pub(crate) fn refuses(&self, interface: (Kind, &'static str)) -> bool {
        self.lock().refusing.contains(&interface)
    }

    /// The object is gone.
    pub(crate) fn forget(&self, key: &ObjectKey) {
        let mut all = self.lock();
        all.puts.remove(key);
        all.others.remove(key);
    }

    /// The latest PUT of an object's resource, while it is remembered.
    pub fn of(&self, key: &ObjectKey) -> Option<Put> {
        self.lock().puts.get(key).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        // A panic while the map was held leaves a map that is still valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl All {
    fn sweep(&mut self, now: Timestamp) {
        if now < self.next_sweep {
            return;
        }
        self.next_sweep = now.saturating_add(BETWEEN_SWEEPS).unwrap_or(Timestamp::MAX);
        self.puts.retain(|_, put| !put.is_over(now));
        // What a burst took is given back.
        self.puts.shrink_to(2 * self.puts.len());
        self.others
            .retain(|_, (_, told)| now.duration_since(*told) <= KEPT_ANOTHER);
        self.others.shrink_to(2 * self.others.len());
    }
}

#[cfg(test)]
mod tests {
    use armature_shapes::testing::kinds;

    use super::*;

    fn key(name: &str) -> ObjectKey {
        ObjectKey {
            kind: Kind(&kinds::GROUP),
            namespace: "default".to_owned(),
            name: name.to_owned(),
        }
    }

    fn at(minutes: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes)
    }

    #[test]
    fn of_each_object_the_latest_put_is_remembered_and_until_when_it_was_seen() {
        let written = Written::default();
        let known = || {
            let put = written.of(&key("a"))?;
            Some((put.correlation.to_string(), put.read))
        };
        written.read(&key("a"), at(0), at(0));
        assert_eq!(known(), None, "nothing was sent");
        written.sent(&key("a"), "c-1".to_owned(), at(1));
        assert_eq!(known(), Some(("c-1".to_owned(), None)));
        written.read(&key("a"), at(3), at(3));
        written.read(&key("a"), at(2), at(3));
        assert_eq!(known(), Some(("c-1".to_owned(), Some(at(3)))));
        written.sent(&key("a"), "c-2".to_owned(), at(4));
        assert_eq!(known(), Some(("c-2".to_owned(), None)), "not read since");
        written.forget(&key("a"));
        assert_eq!(known(), None);
    }

    #[test]
    fn of_each_object_it_is_remembered_for_a_day_who_else_wrote_last() {
        let written = Written::default();
        for (who, now) in [("alice", 0), ("bob", 1)] {
            written.by_another(&key("a"), who.to_owned(), at(now));
        }
        assert_eq!(written.another(&key("a")).as_deref(), Some("bob"));
        assert_eq!(written.another(&key("b")), None);
        written.read(&key("b"), at(24 * 60 + 12), at(24 * 60 + 12));
        assert_eq!(written.another(&key("a")), None);
        written.by_another(&key("a"), "alice".to_owned(), at(24 * 60 + 12));
        written.forget(&key("a"));
        assert_eq!(written.another(&key("a")), None);
    }

    #[test]
    fn what_was_seen_is_forgotten_after_an_hour_and_all_else_after_a_day() {
        let written = Written::default();
        for name in ["seen", "unseen"] {
            written.sent(&key(name), "c".to_owned(), at(0));
        }
        written.read(&key("seen"), at(1), at(1));
        let left = |now| {
            written.read(&key("other"), now, now);
            ["seen", "unseen"].map(|name| written.of(&key(name)).is_some())
        };
        assert_eq!(left(at(60)), [true, true]);
        assert_eq!(left(at(71)), [false, true]);
        assert_eq!(left(at(24 * 60)), [false, true]);
        assert_eq!(left(at(25 * 60)), [false, false]);
    }
}

//! What an object need not say yet: what it waits for is most often there before anybody has read that it waits, so words are
//! spared for as long as nobody misses them.

use std::time::Duration;

use armature_shapes::resource::Object;
use jiff::Timestamp;

use super::action::Finish;
use super::backoff::{Requeue, RetryClass};
use super::claim::is_claimed;
use super::condition::reason;

/// How soon an operation is looked at again of which Azure does not say how long it takes.
pub const SOON: Duration = Duration::from_secs(1);

/// For how long it is looked at that often.
const OFTEN: Duration = Duration::from_secs(5);

/// How long objects may be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// This long after it was created, an object that is not ready says why. Until then its CRD says for it that nobody has
    /// looked, which kstatus takes for work in progress.
    pub created: Duration,
    /// This long an object that is being deleted does not say that Azure is at work: kstatus sees that it is deleted.
    pub deleted: Duration,
    /// This long an object that says already that it is not ready does not say that Azure began to work.
    pub begun: Duration,
    /// This long an object that is not claimed does not say which operator it belongs to: the claim does.
    pub unowned: Duration,
}

impl Silence {
    /// As long as nobody misses anything.
    pub const LONGEST: Self = Self {
        created: Duration::from_secs(5),
        deleted: Duration::from_secs(30),
        begun: Duration::from_secs(5),
        unowned: Duration::from_secs(30),
    };
    /// Whatever a pass finds out is said at its end.
    pub const NONE: Self = Self {
        created: Duration::ZERO,
        deleted: Duration::ZERO,
        begun: Duration::ZERO,
        unowned: Duration::ZERO,
    };

    /// How young the object is, while it may be silent; nothing when it is too old, or its time of creation is not known. A
    /// deletion counts from the first look, too: under load it waits for its turn.
    pub fn youth(
        &self,
        object: &Object,
        first_look: Option<Timestamp>,
        now: Timestamp,
    ) -> Option<Youth> {
        let metadata = &object.metadata;
        let (since, longest) = match &metadata.deletion_timestamp {
            Some(deleted) => (
                first_look.map_or(deleted.0, |first| first.max(deleted.0)),
                self.deleted,
            ),
            None => (metadata.creation_timestamp.as_ref()?.0, self.created),
        };
        let age = age(since, now)?;
        let left = longest.checked_sub(age).filter(|left| !left.is_zero())?;
        Some(Youth { age, left })
    }

    /// Where an object says already that it is not ready, and Azure has just begun to work.
    pub fn of_begun(&self) -> Youth {
        Youth {
            age: Duration::ZERO,
            left: self.begun,
        }
    }

    /// Whether the object need not say yet which operator it belongs to. Who is not looked at again soon says it at once.
    pub fn of_owner(&self, object: &Object, now: Timestamp, requeue: Requeue) -> bool {
        let created = object.metadata.creation_timestamp.as_ref();
        let age = created.and_then(|created| age(created.0, now));
        let comes_back = match requeue {
            Requeue::Backoff(class) => matches!(class, RetryClass::Fast | RetryClass::Poll),
            Requeue::After(wait) => wait <= self.unowned,
            _ => false,
        };
        comes_back && !is_claimed(object) && age.is_some_and(|age| age < self.unowned)
    }
}

/// The API server's clock may be ahead: then nothing is known.
fn age(since: Timestamp, now: Timestamp) -> Option<Duration> {
    Duration::try_from(now.duration_since(since)).ok()
}

/// An object that may be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Youth {
    age: Duration,
    left: Duration,
}

impl Youth {
    /// An object of this age that may be silent for so long.
    #[cfg(test)]
    pub(crate) fn of(age: Duration, longest: Duration) -> Self {
        let left = longest.saturating_sub(age);
        Self { age, left }
    }

    /// Whether it is looked at often.
    pub fn is_looked_at_often(self) -> bool {
        self.age < OFTEN
    }

    /// When to look again at an object that goes on to say nothing. Nothing where it has to speak: it waits for something
    /// else than its owner or a running operation, or for longer.
    pub fn keep_silent(self, finish: &Finish) -> Option<Requeue> {
        let verdict = finish.verdict.as_ref()?;
        let is_over = self.left.is_zero();
        if is_over || verdict.ready || finish.event.is_some() || finish.paused.is_some() {
            return None;
        }
        match (verdict.reason.as_str(), finish.requeue) {
            // It is woken when the owner is ready.
            (reason::WAITING_FOR_OWNER, Requeue::Backoff(_)) => Some(Requeue::After(self.left)),
            (reason::RECONCILING | reason::DELETING, Requeue::After(wait)) if wait <= self.left => {
                Some(finish.requeue)
            }
            (reason::RECONCILING | reason::DELETING, Requeue::Backoff(RetryClass::Poll)) => {
                let soon = Requeue::After(self.left.min(SOON));
                Some(if self.is_looked_at_often() {
                    soon
                } else {
                    finish.requeue
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use armature_shapes::names::FINALIZER;
    use armature_shapes::resource::Kind;
    use armature_shapes::testing::kinds::GROUP;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};

    use super::super::action::normal;
    use super::super::condition::Verdict;
    use super::super::outcome::Failure;
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// An object that was created and deleted at these seconds.
    fn object(created: Option<i64>, deleted: Option<i64>) -> Object {
        let time = |second| Time(Timestamp::from_second(second).expect("a time"));
        Object {
            kind: Kind(&GROUP),
            metadata: ObjectMeta {
                creation_timestamp: created.map(time),
                deletion_timestamp: deleted.map(time),
                ..ObjectMeta::default()
            },
            spec: None,
            status: None,
        }
    }

    /// Seconds that are left at second 100.
    fn left(object: &Object, first_look: Option<i64>) -> Option<u64> {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let youth = Silence::LONGEST.youth(object, first_look.map(at), at(100));
        youth.map(|youth| youth.left.as_secs())
    }

    #[test]
    fn a_created_object_is_silent_for_five_seconds_whenever_it_is_looked_at() {
        for (created, first_look, expected) in [
            (Some(100), None, Some(5)),
            (Some(96), None, Some(1)),
            (Some(95), None, None),
            (Some(0), None, None),
            (Some(101), None, None),
            (None, None, None),
            (Some(60), Some(100), None),
            (Some(98), Some(100), Some(3)),
        ] {
            let found = left(&object(created, None), first_look);
            assert_eq!(found, expected, "{created:?}, looked at {first_look:?}");
        }
    }

    #[test]
    fn a_deletion_is_silent_for_thirty_seconds_from_its_turn() {
        for (deleted, first_look, expected) in [
            (100, None, Some(30)),
            (71, None, Some(1)),
            (70, None, None),
            (40, Some(97), Some(27)),
            (98, Some(40), Some(28)),
        ] {
            let found = left(&object(Some(0), Some(deleted)), first_look);
            assert_eq!(found, expected, "{deleted}, looked at {first_look:?}");
        }
    }

    #[test]
    fn only_what_is_looked_at_again_soon_owes_the_name_of_its_operator() {
        let fast = Requeue::Backoff(RetryClass::Fast);
        let now = Timestamp::from_second(100).expect("a time");
        for (created, requeue, expected) in [
            (71, fast, true),
            (70, fast, false),
            (71, Requeue::After(seconds(5)), true),
            (71, Requeue::After(seconds(3600)), false),
            (71, Requeue::Never, false),
            (71, Requeue::Sync, false),
            (71, Requeue::Backoff(RetryClass::VerySlow), false),
        ] {
            let object = object(Some(created), None);
            let found = Silence::LONGEST.of_owner(&object, now, requeue);
            assert_eq!(found, expected, "{created} {requeue:?}");
        }
        let mut claimed = object(Some(100), None);
        claimed.metadata.finalizers = Some(vec![FINALIZER.to_owned()]);
        assert!(!Silence::LONGEST.of_owner(&claimed, now, fast));
    }

    #[test]
    fn only_what_passes_soon_is_not_told() {
        let failure =
            |reason, class| Finish::failed(&Failure::warning(reason, class, "not there yet"));
        let progress =
            |requeue| Finish::with(Verdict::progress(reason::RECONCILING, "waiting"), requeue);
        let owner = failure(reason::WAITING_FOR_OWNER, RetryClass::Fast);
        for (finish, expected) in [
            (owner.clone(), Some(Requeue::After(seconds(3)))),
            (owner.and(normal("Claimed", "")), None),
            (failure(reason::SECRET_NOT_FOUND, RetryClass::Fast), None),
            (failure("SkuNotAvailable", RetryClass::Slow), None),
            (
                progress(Requeue::After(seconds(2))),
                Some(Requeue::After(seconds(2))),
            ),
            (progress(Requeue::After(seconds(10))), None),
            (progress(Requeue::PutOff(seconds(1))), None),
            (
                progress(Requeue::Backoff(RetryClass::Poll)),
                Some(Requeue::After(seconds(1))),
            ),
            (Finish::with(Verdict::succeeded(), Requeue::Sync), None),
            (Finish::silent(), None),
        ] {
            let youth = Youth {
                age: seconds(2),
                left: seconds(3),
            };
            assert_eq!(youth.keep_silent(&finish), expected, "{finish:?}");
        }
        // A deletion that takes longer is looked at less and less often.
        let poll = Requeue::Backoff(RetryClass::Poll);
        let later = Youth {
            age: seconds(5),
            left: seconds(25),
        };
        assert_eq!(later.keep_silent(&progress(poll)), Some(poll));
    }
}

//! Objects that were created or deleted a moment ago: what they wait for is most often there before anybody has read that
//! they wait, so their first words are spared for as long as nobody misses them.

use std::time::Duration;

use armature_shapes::resource::Object;
use jiff::Timestamp;

use super::action::Finish;
use super::backoff::{Requeue, RetryClass};
use super::condition::reason;

/// This long after it was created, or else after its turn came for the first time, an object that is not ready says so:
/// kstatus takes an object without conditions for one that is.
pub const LONGEST_SILENCE: Duration = Duration::from_secs(5);

/// How soon an operation is looked at again of which Azure does not say how long it takes.
const SOON: Duration = Duration::from_secs(1);

/// How long the object may still be silent, of the `longest` time that any may; nothing when it is too old, or its time of
/// creation is not known. Of an object that is being deleted, the time since then counts. Where the operator has more to do
/// than the API server takes, an object waited for its turn before the first look; then it is done soon, too, and a word
/// in between would cost the API server one more write when it has most to do.
pub fn silence(
    object: &Object,
    first_look: Option<Timestamp>,
    now: Timestamp,
    longest: Duration,
) -> Option<Duration> {
    let metadata = &object.metadata;
    let since = metadata.deletion_timestamp.as_ref();
    let since = since.or(metadata.creation_timestamp.as_ref())?.0;
    let since = first_look.map_or(since, |first| first.max(since));
    // The API server's clock may be ahead.
    let age = Duration::try_from(now.duration_since(since)).ok()?;
    longest.checked_sub(age).filter(|left| !left.is_zero())
}

/// When to look again at an object that goes on to say nothing for at most `left`. Nothing where it has to speak: it waits
/// for something else than its owner or a running operation, or for longer.
pub fn keep_silent(finish: &Finish, left: Duration) -> Option<Requeue> {
    let verdict = finish.verdict.as_ref()?;
    if verdict.ready || finish.event.is_some() || finish.paused.is_some() {
        return None;
    }
    match (verdict.reason.as_str(), finish.requeue) {
        // It is woken when the owner is ready.
        (reason::WAITING_FOR_OWNER, Requeue::Backoff(_)) => Some(Requeue::After(left)),
        (reason::RECONCILING | reason::DELETING, Requeue::After(wait)) if wait <= left => {
            Some(finish.requeue)
        }
        (reason::RECONCILING | reason::DELETING, Requeue::Backoff(RetryClass::Poll)) => {
            Some(Requeue::After(left.min(SOON)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn silence_lasts_five_seconds() {
        let created = |created: Option<i64>| Object {
            kind: Kind(&GROUP),
            metadata: ObjectMeta {
                creation_timestamp: created
                    .map(|at| Time(Timestamp::from_second(at).expect("a time"))),
                ..ObjectMeta::default()
            },
            spec: None,
            status: None,
        };
        let now = Timestamp::from_second(100).expect("a time");
        for (at, expected) in [
            (Some(100), Some(5)),
            (Some(96), Some(1)),
            (Some(95), None),
            (Some(0), None),
            (Some(101), None),
            (None, None),
        ] {
            assert_eq!(
                silence(&created(at), None, now, LONGEST_SILENCE),
                expected.map(seconds),
                "{at:?}"
            );
        }
        for (created_at, looked, expected) in [
            (0, 97, Some(2)),
            (0, 95, None),
            (0, 100, Some(5)),
            (98, 96, Some(3)),
        ] {
            let first_look = Timestamp::from_second(looked).expect("a time");
            assert_eq!(
                silence(
                    &created(Some(created_at)),
                    Some(first_look),
                    now,
                    LONGEST_SILENCE
                ),
                expected.map(seconds),
                "created at {created_at}, looked at {looked}"
            );
        }
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
            assert_eq!(keep_silent(&finish, seconds(3)), expected, "{finish:?}");
        }
    }
}

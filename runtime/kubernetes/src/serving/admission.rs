//! How many conversion reviews are in memory at the same time, counted in bytes.
//!
//! A list of many objects is one review, and many clients may list at once. A review takes memory by what of it has arrived,
//! never by what its client claims. Lists arrive one after the other: whoever came first has the turn, loses it by saying
//! nothing, and goes on later. Reviews of single objects, which every write needs, have parts of their own and never wait
//! behind lists: one for most objects, and one for those that are large, which arrive one after the other like lists.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// Reviews of this size, in bytes, are those of single objects.
pub(super) const SINGLE: u64 = 64 << 10;

/// So are most reviews of this size: the API server takes no object beyond 1.5 MiB (etcd's limit of a request), and a list that is
/// as short is soon done.
const LARGE: u64 = 2 << 20;

/// What a list takes beside its body once it has arrived: a piece of the answer, the object that is being converted, buffers.
pub(super) const LIST_EXTRA: u64 = 1 << 20;

/// By how much more memory a single object takes than its review has bytes: as text, as a tree and as the answer.
const SINGLE_FACTOR: u64 = 8;

/// One part in so many of all memory is for most single objects, and one for the large ones.
const SINGLE_SHARE: u64 = 16;

/// Permits stand for so many bytes, because there are 2^32 at most.
const UNIT: u64 = 1 << 10;

/// Why a review is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// The others took too long.
    #[error("other conversions take all memory there is for them; try again")]
    Busy,
    /// There is no room for it ever.
    #[error(
        "a review of {bytes} bytes is too large; list in pages (limit=500), or raise --conversion-memory above {needed} bytes"
    )]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// Memory with which it would be taken.
        needed: u64,
    },
}

/// A place in memory, for as long as this lives.
#[derive(Debug)]
pub(super) struct Place {
    permit: OwnedSemaphorePermit,
    /// Bytes that it is for.
    bytes: u64,
}

/// The turn to arrive, for as long as this lives.
#[derive(Debug)]
pub(super) struct Turn(#[allow(dead_code, reason = "held, not used")] OwnedMutexGuard<()>);

/// Memory for reviews.
#[derive(Debug)]
pub(super) struct Admission {
    singles: Pool,
    large: Lane,
    lists: Lane,
}

/// Memory for reviews that arrive one after the other.
#[derive(Debug)]
pub(super) struct Lane {
    pool: Pool,
    turn: Arc<Mutex<()>>,
}

#[derive(Debug)]
struct Pool {
    free: Arc<Semaphore>,
    /// All of it, in bytes.
    size: u64,
}

impl Pool {
    fn new(bytes: u64) -> Self {
        let units = usize::try_from(bytes / UNIT).unwrap_or(usize::MAX);
        let units = units.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        Self {
            free: Arc::new(Semaphore::new(units)),
            size: units as u64 * UNIT,
        }
    }

    async fn take(&self, bytes: u64, deadline: Instant) -> Result<Place, Refusal> {
        let taken = Arc::clone(&self.free).acquire_many_owned(units(bytes));
        match timeout_at(deadline, taken).await {
            Ok(Ok(permit)) => Ok(Place { permit, bytes }),
            // It is never closed.
            Ok(Err(_)) | Err(_) => Err(Refusal::Busy),
        }
    }
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

impl Admission {
    /// Room for reviews that take so many bytes of memory together.
    pub fn new(memory: u64) -> Self {
        let (singles, large) = shares(memory);
        let rest = memory.saturating_sub(singles).saturating_sub(large);
        Self {
            singles: Pool::new(singles),
            large: Lane::new(large),
            lists: Lane::new(rest),
        }
    }

    /// Where a review arrives that is longer than most single objects, by the size that its client claims.
    pub fn lane(&self, claimed: Option<u64>) -> &Lane {
        match claimed {
            Some(bytes) if bytes <= LARGE => &self.large,
            _ => &self.lists,
        }
    }

    /// Refuses a size that never fits.
    pub fn check(&self, bytes: u64) -> Result<(), Refusal> {
        if bytes <= SINGLE || bytes <= self.lane(Some(bytes)).longest() {
            return Ok(());
        }
        let needed = bytes.saturating_add(LIST_EXTRA);
        // Lists have the rest of what single objects have, whose two shares are fixed where there is little.
        let (singles, large) = shares(0);
        let part = |rest: u64, parts: u64| {
            rest.saturating_add(rest / (SINGLE_SHARE - parts) * parts + UNIT)
        };
        let both_fixed = needed.saturating_add(singles + large + UNIT);
        let one_fixed = part(needed.saturating_add(large), 1);
        let needed = both_fixed
            .max(one_fixed)
            .max(part(needed, 2))
            .saturating_add(UNIT);
        Err(Refusal::TooLarge { bytes, needed })
    }

    /// A place for the review of a single object, which is there.
    pub async fn single(&self, bytes: u64, deadline: Instant) -> Result<Place, Refusal> {
        let needed = (bytes * SINGLE_FACTOR).max(UNIT);
        self.singles.take(needed, deadline).await
    }
}

/// What single objects have of all memory: most of them, and the large ones. A review of the largest must fit.
fn shares(memory: u64) -> (u64, u64) {
    let share = memory / SINGLE_SHARE;
    (
        share.max(SINGLE * SINGLE_FACTOR),
        share.max(LARGE + LIST_EXTRA),
    )
}

impl Lane {
    fn new(bytes: u64) -> Self {
        Self {
            pool: Pool::new(bytes),
            turn: Arc::default(),
        }
    }

    /// Bytes of the longest review that fits.
    pub fn longest(&self) -> u64 {
        self.pool.size.saturating_sub(LIST_EXTRA)
    }

    /// Waits for the turn of a review to arrive.
    pub async fn turn(&self, deadline: Instant) -> Result<Turn, Refusal> {
        let turn = timeout_at(deadline, Arc::clone(&self.turn).lock_owned()).await;
        turn.map(Turn).map_err(|_| Refusal::Busy)
    }

    /// The turn of a review that has lost it. Where another one has it and waits for memory, what this one holds may be what
    /// is missing: then it gives up.
    pub async fn turn_again(&self, more: u64, deadline: Instant) -> Result<Turn, Refusal> {
        if let Ok(turn) = Arc::clone(&self.turn).try_lock_owned() {
            return Ok(Turn(turn));
        }
        let free = self.pool.free.available_permits() as u64 * UNIT;
        match free < more + UNIT {
            true => Err(Refusal::Busy),
            false => self.turn(deadline).await,
        }
    }

    /// A place for a review of which so many bytes have arrived.
    pub async fn place(&self, bytes: u64, deadline: Instant) -> Result<Place, Refusal> {
        self.pool.take(bytes, deadline).await
    }

    /// Makes the place of a review larger.
    pub async fn grow(
        &self,
        place: &mut Place,
        more: u64,
        deadline: Instant,
    ) -> Result<(), Refusal> {
        let bytes = place.bytes + more;
        let missing = units(bytes).saturating_sub(units(place.bytes));
        if missing > 0 {
            let added = self.pool.take(u64::from(missing) * UNIT, deadline).await?;
            place.permit.merge(added.permit);
        }
        place.bytes = bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    #[tokio::test(start_paused = true)]
    async fn lists_wait_for_lists_and_single_objects_for_neither() {
        let admission = Admission::new(64 * MIB);
        let lists = admission.lane(None);
        let _first = lists.place(30 * MIB, soon()).await.unwrap();
        let second = lists.place(20 * MIB, soon()).await.unwrap();
        let third = lists.place(10 * MIB, soon()).await;
        assert_eq!(third.unwrap_err(), Refusal::Busy);
        // A cluster with what all its managers own.
        let large = admission.lane(Some(200 << 10));
        let _turn = lists.turn(soon()).await.unwrap();
        let _its = large.turn(soon()).await.unwrap();
        assert!(large.place(200 << 10, soon()).await.is_ok());
        let singles = (0..8).map(|_| admission.single(SINGLE, soon()));
        let singles = futures::future::try_join_all(singles).await.unwrap();
        let another = admission.single(SINGLE, soon()).await;
        assert_eq!(another.unwrap_err(), Refusal::Busy);
        drop(singles);
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(5)).await;
            drop(second);
        });
        assert!(lists.place(10 * MIB, soon()).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_grows_with_what_arrives_in_pieces_of_any_size() {
        let admission = Admission::new(64 * MIB);
        let lists = admission.lane(None);
        let mut place = lists.place(0, soon()).await.unwrap();
        for _ in 0..10_000 {
            lists.grow(&mut place, 100, soon()).await.unwrap();
        }
        let rest = lists.longest() + LIST_EXTRA - MIB - UNIT;
        assert!(lists.place(rest, soon()).await.is_ok(), "a megabyte");
        let too_much = lists.longest() + LIST_EXTRA;
        let refused = lists.grow(&mut place, too_much, soon()).await;
        assert_eq!(refused, Err(Refusal::Busy));
    }

    #[tokio::test(start_paused = true)]
    async fn who_lost_the_turn_gives_up_what_another_one_waits_for() {
        let admission = Admission::new(64 * MIB);
        let lists = admission.lane(None);
        let turn = lists.turn(soon()).await.unwrap();
        let held = lists.place(50 * MIB, soon()).await.unwrap();
        let waits = lists.turn(soon()).await;
        assert_eq!(waits.unwrap_err(), Refusal::Busy, "somebody has it");
        let again = lists.turn_again(10 * MIB, soon()).await;
        assert_eq!(again.unwrap_err(), Refusal::Busy);
        drop((turn, held));
        assert!(lists.turn_again(10 * MIB, soon()).await.is_ok());
    }

    #[test]
    fn a_review_that_never_fits_is_refused_with_what_would_do() {
        for (memory, bytes) in [(64, 200 * MIB), (8, 10 * MIB), (4, 3 * MIB)] {
            let refused = Admission::new(memory * MIB).check(bytes).unwrap_err();
            let Refusal::TooLarge { needed, .. } = refused else {
                panic!("{refused}");
            };
            assert_eq!(Admission::new(needed).check(bytes), Ok(()));
            assert!(Admission::new(needed - MIB).check(bytes).is_err());
        }
        assert_eq!(Admission::new(0).check(LARGE), Ok(()), "one object");
    }
}

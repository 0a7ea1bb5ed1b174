//! How many conversion reviews are in memory at the same time, counted in bytes.
//!
//! A list of many objects is one review, and many clients may list at once: each review is admitted before its body is
//! read, and waits while those that are being answered take all the memory there is. Reviews of single objects, which
//! every write needs, have a part of their own and never wait behind lists.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Reviews of this size, in bytes, are those of single objects.
pub(super) const SINGLE: u64 = 64 << 10;

/// What a list takes beside its body: a piece of the answer, the object that is being converted, buffers.
const LIST_EXTRA: u64 = 1 << 20;

/// By how much more memory a single object takes than its review has bytes: as text, as a tree and as the answer.
const SINGLE_FACTOR: u64 = 8;

/// One part in so many of all memory is for single objects.
const SINGLE_SHARE: u64 = 8;

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
    _permit: OwnedSemaphorePermit,
    /// Bytes of the body that may be read.
    pub bytes: u64,
}

/// Memory for reviews.
#[derive(Debug)]
pub(super) struct Admission {
    lists: Pool,
    singles: Pool,
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
}

impl Admission {
    /// Room for reviews that take so many bytes of memory together.
    pub fn new(memory: u64) -> Self {
        // A review of the largest single object must fit.
        let singles = (memory / SINGLE_SHARE).max(SINGLE * SINGLE_FACTOR);
        Self {
            lists: Pool::new(memory.saturating_sub(singles)),
            singles: Pool::new(singles),
        }
    }

    /// Waits until there is room for a review of this size, or of any when it is not known. Who came first is admitted
    /// first.
    pub async fn admit(&self, bytes: Option<u64>, patience: Duration) -> Result<Place, Refusal> {
        let (pool, needed, bytes) = match bytes {
            Some(bytes) if bytes <= SINGLE => {
                (&self.singles, (bytes * SINGLE_FACTOR).max(UNIT), bytes)
            }
            Some(bytes) => (&self.lists, bytes.saturating_add(LIST_EXTRA), bytes),
            None => {
                let size = self.lists.size;
                (&self.lists, size, size.saturating_sub(LIST_EXTRA))
            }
        };
        if needed > pool.size {
            // Lists have the rest of what single objects have.
            let needed = needed + needed / (SINGLE_SHARE - 1) + UNIT;
            return Err(Refusal::TooLarge { bytes, needed });
        }
        let units = u32::try_from(needed.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let waited = Arc::clone(&pool.free).acquire_many_owned(units);
        match tokio::time::timeout(patience, waited).await {
            Ok(Ok(permit)) => Ok(Place {
                _permit: permit,
                bytes,
            }),
            // It is never closed.
            Ok(Err(_)) | Err(_) => Err(Refusal::Busy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const PATIENCE: Duration = Duration::from_secs(10);

    async fn is_admitted(admission: &Admission, bytes: u64) -> Result<Place, Refusal> {
        admission.admit(Some(bytes), PATIENCE).await
    }

    #[tokio::test(start_paused = true)]
    async fn lists_wait_for_lists_and_single_objects_for_neither() {
        let admission = Admission::new(64 * MIB);
        let first = is_admitted(&admission, 30 * MIB).await.unwrap();
        let second = is_admitted(&admission, 20 * MIB).await.unwrap();
        assert_eq!(
            is_admitted(&admission, 10 * MIB).await.unwrap_err(),
            Refusal::Busy
        );
        let singles: Vec<Place> =
            futures::future::try_join_all((0..16).map(|_| is_admitted(&admission, SINGLE)))
                .await
                .unwrap();
        assert_eq!(
            is_admitted(&admission, SINGLE).await.unwrap_err(),
            Refusal::Busy
        );
        drop(singles);
        let ends = tokio::spawn(async move {
            tokio::time::sleep(PATIENCE / 2).await;
            drop(second);
        });
        assert_eq!(
            is_admitted(&admission, 10 * MIB).await.unwrap().bytes,
            10 * MIB
        );
        ends.await.unwrap();
        drop(first);
    }

    #[tokio::test(start_paused = true)]
    async fn who_came_first_is_admitted_first() {
        let admission = Arc::new(Admission::new(64 * MIB));
        let running = is_admitted(&admission, 40 * MIB).await.unwrap();
        let waits = |bytes| {
            let admission = Arc::clone(&admission);
            tokio::spawn(async move { is_admitted(&admission, bytes).await.map(drop) })
        };
        let large = waits(50 * MIB);
        tokio::time::sleep(PATIENCE / 4).await;
        let small = waits(MIB);
        tokio::time::sleep(PATIENCE / 4).await;
        assert!(
            !small.is_finished(),
            "it would keep the large one waiting for ever"
        );
        drop(running);
        assert_eq!(
            (large.await.unwrap(), small.await.unwrap()),
            (Ok(()), Ok(()))
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_review_that_never_fits_is_refused_with_what_would_do() {
        let admission = Admission::new(64 * MIB);
        let refused = is_admitted(&admission, 200 * MIB).await.unwrap_err();
        let Refusal::TooLarge { needed, .. } = refused else {
            panic!("{refused}");
        };
        assert!(
            is_admitted(&Admission::new(needed), 200 * MIB)
                .await
                .is_ok()
        );
        let almost = Admission::new(needed - MIB);
        assert!(is_admitted(&almost, 200 * MIB).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_review_of_unknown_size_has_all_memory_for_itself() {
        let admission = Admission::new(64 * MIB);
        let place = admission.admit(None, PATIENCE).await.unwrap();
        assert_eq!(place.bytes, 55 * MIB);
        assert!(is_admitted(&admission, MIB).await.is_err());
    }
}

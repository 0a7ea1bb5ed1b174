//! Paths as digests.

use super::keyed::{Keyed, take};

/// Bytes kept of the digest of a path: among hundreds of paths, chance has one in millions.
const LENGTH: usize = 4;

/// A path as its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name([u8; LENGTH]);

impl Name {
    pub fn of(path: &str, keyed: Keyed<'_>) -> Self {
        Self(keyed.of("named", &path.to_lowercase()))
    }

    pub fn read(rest: &mut &[u8]) -> Option<Self> {
        Some(Self(take(rest)?))
    }

    pub fn bytes(&self) -> [u8; LENGTH] {
        self.0
    }
}

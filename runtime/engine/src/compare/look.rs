//! What Azure returned on the paths that desired names, as digests.

use super::Comparison;
use super::keyed::{Digest, Keyed, LENGTH};
use super::leaf::{Leaf, normal_observed};

/// Bytes kept of the digests of one path and one value: chance has 2^-48.
pub(super) const SHORT: usize = 6;

/// Most paths that are remembered one by one, so that the annotation stays small. Beyond them the digest of all
/// that Azure returned decides.
pub(super) const REWRITTEN: usize = 16;

/// A path in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// In ARM's JSON, for people.
    pub path: String,
    /// The same in the schema, for figures.
    pub schema_path: String,
}

/// A path on which Azure has something else than what was sent, and what it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rewritten {
    pub path: [u8; SHORT],
    pub value: [u8; SHORT],
}

impl Rewritten {
    pub fn of(leaf: &Leaf<'_>, keyed: Keyed<'_>) -> Self {
        let mut value = keyed.digest("value");
        match normal_observed(leaf) {
            Some(text) => value.add(&[&text]),
            None => value.add(&[]),
        }
        Self {
            path: keyed.of("path", &leaf.path),
            value: value.finish(),
        }
    }
}

/// One answer of Azure, compared with what is desired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// All that it says on desired's paths.
    pub observed: [u8; LENGTH],
    /// Where that is something else.
    pub rewritten: Vec<(Rewritten, Place)>,
}

/// Adds what Azure has at a leaf to the digest of all of it.
pub(super) fn add(observed: &mut Digest, leaf: &Leaf<'_>) {
    match normal_observed(leaf) {
        Some(text) => observed.add(&[&leaf.path, &text]),
        None => observed.add(&[&leaf.path]),
    }
}

impl Look {
    pub fn at(comparison: &Comparison<'_>, keyed: Keyed<'_>) -> Self {
        let mut observed = keyed.digest("observed");
        let mut rewritten = Vec::new();
        comparison.leaves(&mut |leaf| {
            if !leaf.is_same() {
                let place = Place {
                    path: leaf.path.clone(),
                    schema_path: leaf.schema_path.clone(),
                };
                rewritten.push((Rewritten::of(&leaf, keyed), place));
            }
            add(&mut observed, &leaf);
        });
        Self {
            observed: observed.finish(),
            rewritten,
        }
    }
}

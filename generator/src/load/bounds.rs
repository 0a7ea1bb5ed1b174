//! How far a set may lead.

/// Most references and `allOf`s that lead on, one after the other. Azure's longest have 10.
pub(super) const LONGEST_CHAIN: usize = 64;

/// Most schemas that one may be made of, each counted as often as references and `allOf`s lead to it.
pub(super) const MOST_PARTS: usize = 1024;

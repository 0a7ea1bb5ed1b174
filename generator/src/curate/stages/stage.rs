//! What a stage is, and what it knows of the place of a property.

use std::collections::BTreeSet;

use super::outcome::Outcome;
use crate::curation::{Aspect, PropertyRule, Side};
use crate::model::{TypeId, TypeTable};

/// One step on the way of a property.
pub(super) struct Stage {
    /// Statements of a rule that belong to it.
    pub heeds: &'static [Aspect],
    /// Does its part. The rule holds nothing but those statements.
    pub run: fn(Site<'_>, &PropertyRule, &mut Outcome),
}

/// Where a property stands.
#[derive(Clone, Copy)]
pub(in crate::curate) struct Site<'a> {
    /// Types before curation.
    pub types: &'a TypeTable,
    /// Words that the specs have for types.
    pub words: &'a BTreeSet<String>,
    /// Type that has the property.
    pub owner: &'a TypeId,
    /// Side of that type.
    pub side: Side,
    /// Whether that type is the root of a kind.
    pub is_root: bool,
    /// Whether absent lists and maps are sent.
    pub explicit_collections: bool,
}

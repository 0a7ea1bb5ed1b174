//! What a type depends on beside its schema: schemas being built around it.
//!
//! A schema gives the same type wherever it stands, but where recursion ends in it, or where a resource-like schema in it
//! stands otherwise than it usually does. Such a type cannot go by the schema's name alone.

use std::collections::BTreeSet;

use crate::load::Source;

/// What is around a type and in it. A place is an index in the list of open schemas; the first is the resource.
#[derive(Clone, Default)]
pub(super) struct Around<'a> {
    /// Schemas around the type that made it what it is.
    pub depends: BTreeSet<(usize, &'a Source)>,
    /// Schemas in it, its own included.
    pub within: BTreeSet<&'a Source>,
    /// Whether the resource, or what was built of it before, made the type what it is.
    pub resource: bool,
}

impl<'a> Around<'a> {
    /// Adds what a part depends on.
    pub fn add(&mut self, part: &Self) {
        self.depends.extend(&part.depends);
        self.within.extend(&part.within);
        self.resource |= part.resource;
    }

    /// Forgets what is no longer open: places from `open` on.
    pub fn leave(&mut self, open: usize) {
        self.depends.retain(|(place, _)| *place < open);
    }

    /// Whether the type is what its schema gives anywhere; within itself, whose first place is `itself`, what it gives
    /// there.
    pub fn is_of_schema(&self, itself: Option<usize>) -> bool {
        let mut places = self.depends.iter().map(|(place, _)| Some(*place));
        !self.resource && places.all(|place| place == itself)
    }

    /// Adds what a part that was built before depends on. It may be another one than would be built here.
    pub fn take_over(&mut self, part: &Self, open: &[&'a Source]) {
        self.add(part);
        let is_there = |(place, source): &(usize, &'a Source)| open.get(*place) == Some(source);
        let mut around = open.iter().copied().enumerate();
        let is_same = part.depends.iter().all(is_there)
            && around.all(|it| !part.within.contains(it.1) || part.depends.contains(&it));
        self.resource |= !is_same;
    }
}

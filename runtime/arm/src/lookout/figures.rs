//! What became of the lookout's questions, in figures.

use std::collections::BTreeMap;

use super::hint::Verdict;

/// Where a principal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It has not asked yet.
    New,
    /// It asks.
    Asks,
    /// It has so few objects that reading costs less.
    TooFew,
    /// It may not ask.
    Refused,
    /// It gets no answer, or has to wait.
    Waits,
}

impl Standing {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::New,
        Self::Asks,
        Self::TooFew,
        Self::Refused,
        Self::Waits,
    ];

    /// In one word, for metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Asks => "asks",
            Self::TooFew => "too-few-objects",
            Self::Refused => "refused",
            Self::Waits => "waits",
        }
    }
}

/// What became of it all so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Requests that were answered, and those that were not or were refused.
    pub requests: [u64; 2],
    /// Questions what changed that were answered in full.
    pub looks: u64,
    /// Changes that were told of later than Azure says.
    pub late: u64,
    /// Hints, by what became of them.
    pub hints: BTreeMap<Verdict, u64>,
    /// Objects that the Graph shows.
    pub covered: usize,
    /// Principals, by where they stand.
    pub principals: BTreeMap<Standing, usize>,
}

impl Figures {
    /// Adds what a round has come to.
    pub(super) fn add(&mut self, round: &Figures) {
        for (all, more) in self.requests.iter_mut().zip(round.requests) {
            *all += more;
        }
        self.looks += round.looks;
        self.late += round.late;
        for (verdict, count) in &round.hints {
            *self.hints.entry(*verdict).or_default() += count;
        }
    }

    /// Takes in where the principals stand now.
    pub(super) fn stand(&mut self, standings: impl Iterator<Item = Standing>) {
        self.principals.clear();
        for standing in standings {
            *self.principals.entry(standing).or_default() += 1;
        }
    }
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Read,
        Self::Ours,
        Self::ReadSince,
        Self::ReadSoon,
        Self::TooMany,
        Self::Unwanted,
    ];

    /// In one word, for metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Ours => "ours",
            Self::ReadSince => "read-since",
            Self::ReadSoon => "read-soon",
            Self::TooMany => "too-many",
            Self::Unwanted => "unwanted",
        }
    }
}

//! Sums over versions, and what is asked of them.

use serde::Serialize;

use super::compare::{Compared, Counts, Presence};

/// Least share of spec paths of the versions that are there that must match, in percent.
const SPEC_BAR: f64 = 99.5;
/// Least share of status paths of these that must match, in percent.
const STATUS_BAR: f64 = 99.0;

/// Sums over versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Versions that the target has.
    pub versions: usize,
    /// Of these, those that we have.
    pub present: usize,
    /// Spec paths of these.
    pub spec: Counts,
    /// Status paths of these.
    pub status: Counts,
}

impl Totals {
    /// The sums. Versions that only one side has count no paths: a whole version is lacking for want of specs, and needs a
    /// reason of its own.
    pub fn of(compared: &[Compared]) -> Self {
        let mut totals = Self::default();
        for version in compared {
            totals.versions += usize::from(version.presence != Presence::OnlyOurs);
            if version.presence == Presence::Both {
                totals.present += 1;
                totals.spec += version.spec;
                totals.status += version.status;
            }
        }
        totals
    }

    /// Both sides in one.
    pub fn both(&self) -> Counts {
        let mut both = self.spec;
        both += self.status;
        both
    }

    /// Each side with its bar in percent.
    pub fn bars(&self) -> [(&'static str, Counts, f64); 2] {
        [
            ("spec", self.spec, SPEC_BAR),
            ("status", self.status, STATUS_BAR),
        ]
    }
}

/// Share of paths that match, in percent.
pub fn percent(counts: &Counts) -> f64 {
    100.0 * counts.matched as f64 / counts.total.max(1) as f64
}

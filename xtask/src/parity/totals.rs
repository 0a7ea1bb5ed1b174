//! Sums over versions, and what is asked of them.

use serde::Serialize;

use super::compare::{Compared, Counts, Presence};
use super::lacking::{Cause, Lacking};

/// Least share of spec paths that must match, in percent; what is lacking for a cause does not count.
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
    /// The sums of the versions that are there. Those that only one side has count no paths; [`Self::counting`] does.
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

    /// These and what is lacking, of which nothing matches.
    pub fn counting<'l>(
        compared: &[Compared],
        lacking: impl IntoIterator<Item = &'l Lacking>,
    ) -> Self {
        let mut totals = Self::of(compared);
        totals.versions = totals.present;
        for it in lacking {
            totals.versions += 1;
            totals.spec.total += it.spec;
            totals.status.total += it.status;
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

/// Sums that leave more and more out of what is lacking.
pub struct Step<'l> {
    /// What is left out, in words.
    pub words: &'static str,
    /// Key in data.
    pub key: &'static str,
    /// The sums.
    pub totals: Totals,
    /// What this step leaves out, and the one before it does not.
    pub left_out: Vec<&'l Lacking>,
}

/// The causes in the order in which they leave something out.
const STEPS: [(Cause, &str, &str); 3] = [
    (
        Cause::Fork,
        "without what only a fork of it has",
        "without-fork",
    ),
    (
        Cause::NotArm,
        "without what Azure Resource Manager does not make",
        "without-not-arm",
    ),
    (
        Cause::NoData,
        "without what there are no data for either",
        "without-no-data",
    ),
];

/// The sums with all that is lacking, and with less and less of it.
pub fn steps<'l>(compared: &[Compared], lacking: &'l [Lacking]) -> Vec<Step<'l>> {
    let mut counted = lacking.iter().collect::<Vec<_>>();
    let sum = |counted: &[&Lacking]| Totals::counting(compared, counted.iter().copied());
    let mut steps = vec![Step {
        words: "all",
        key: "all",
        totals: sum(&counted),
        left_out: Vec::new(),
    }];
    for (cause, words, key) in STEPS {
        let left_out = counted
            .extract_if(.., |it| it.cause == Some(cause))
            .collect();
        steps.push(Step {
            words,
            key,
            totals: sum(&counted),
            left_out,
        });
    }
    steps
}

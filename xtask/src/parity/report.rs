//! The comparison as text for people and as data for programs.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use super::compare::{Compared, Counts, Presence};
use super::lacking::{self, Lacking};
use super::reasons::{self, Explanation};
use super::totals::{self, Step, Totals, percent};

/// Differences shown of each version, unless all are asked for.
const SHOWN: usize = 10;

/// Text that ends with the line `parity: N of M paths`.
pub fn text(compared: &[Compared], lacking: &[Lacking], all: bool) -> String {
    let mut out = String::new();
    for version in compared {
        let absent = match version.presence {
            Presence::Both => "",
            Presence::OnlyTarget => " (not ours)",
            Presence::OnlyOurs => " (only ours)",
        };
        let Compared {
            group,
            kind,
            version: name,
            ..
        } = version;
        let _ = writeln!(out, "{group}/{name} {kind}{absent}");
        side(&mut out, "spec", &version.spec);
        side(&mut out, "status", &version.status);
        let total = version.findings.len();
        let shown = if all { total } else { SHOWN };
        for finding in version.findings.iter().take(shown) {
            let _ = writeln!(out, "    {} {}", finding.path, finding.what);
        }
        if total > shown {
            let _ = writeln!(out, "    and {} more (--all)", total - shown);
        }
    }
    for (group, kinds) in lacking::by_group(lacking) {
        let _ = writeln!(out, "{group} lacks {}", lacking::names(&kinds));
    }
    sums(&mut out, compared, lacking);
    let both = Totals::of(compared).both();
    let _ = writeln!(out, "parity: {} of {} paths", both.matched, both.total);
    out
}

/// The sums, from all that the target has to what we could have.
fn sums(out: &mut String, compared: &[Compared], lacking: &[Lacking]) {
    for Step { words, totals, .. } in totals::steps(compared, lacking) {
        let _ = write!(
            out,
            "{words}: {} of {} versions",
            totals.present, totals.versions
        );
        for (name, counts, bar) in totals.bars() {
            let (matched, total, share) = (counts.matched, counts.total, percent(&counts));
            let _ = write!(
                out,
                "; {name} {matched} of {total} paths, {share:.2} % (bar {bar} %)"
            );
        }
        out.push('\n');
    }
}

fn side(out: &mut String, name: &str, counts: &Counts) {
    let _ = writeln!(
        out,
        "  {name:<7} {} of {} matched, {} missing, {} different, {} extra",
        counts.matched,
        counts.total,
        counts.total - counts.present,
        counts.present - counts.matched,
        counts.extra
    );
}

/// Everything, with totals.
pub fn document(compared: &[Compared], lacking: &[Lacking]) -> Value {
    let steps = totals::steps(compared, lacking).into_iter();
    let counting: BTreeMap<_, _> = steps.map(|step| (step.key, step.totals)).collect();
    let totals = Totals::of(compared);
    json!({"versions": compared, "totals": totals, "counting-lacking": counting, "lacking": lacking})
}

/// What keeps the comparison from being accepted, one line each. `is_whole`: all groups were compared, so that a reason
/// for all of them must explain something.
pub fn faults(
    compared: &[Compared],
    lacking: &[Lacking],
    explanation: &Explanation<'_>,
    is_whole: bool,
) -> Vec<String> {
    let mut faults = Vec::new();
    let without_cause = lacking.iter().filter(|it| it.cause.is_none());
    for (name, counts, bar) in Totals::counting(compared, without_cause).bars() {
        let share = percent(&counts);
        if share < bar && counts.total > 0 {
            faults.push(format!(
                "{share:.2} % of the {name} paths match, expected {bar} %"
            ));
        }
    }
    for (version, finding) in &explanation.unexplained {
        // All of a version, which nobody need have.
        let cure = match finding.path.is_empty() {
            true => "leave it out with `versions` of the kind in group.toml",
            false => "fix it",
        };
        faults.push(format!(
            "no reason for {}/{} {} {} {}: {cure}, or say why in {}",
            version.group,
            version.kind,
            version.version,
            finding.path,
            finding.what,
            reasons::file_of(&version.group)
        ));
    }
    let unused = explanation.unused(compared, is_whole).into_iter();
    faults.extend(unused.map(|reason| {
        let file = &reason.file;
        format!("a reason explains nothing, remove it from {file}: {reason}")
    }));
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::compare::{Aspect, Finding};

    fn compared() -> Vec<Compared> {
        let finding = |i| Finding {
            aspect: Aspect::Missing,
            path: format!("spec.p{i}"),
            what: "missing".into(),
        };
        let spec = Counts {
            total: 16,
            present: 4,
            matched: 3,
            ..Counts::default()
        };
        let status = Counts {
            total: 4,
            present: 4,
            matched: 4,
            ..Counts::default()
        };
        vec![Compared {
            group: "a.azure.com".into(),
            kind: "Thing".into(),
            version: "v1".into(),
            presence: Presence::Both,
            spec,
            status,
            findings: (0..12).map(finding).collect(),
        }]
    }

    #[test]
    fn text_shortens_lists_and_ends_with_the_total() {
        let short = text(&compared(), &[], false);
        let head =
            "a.azure.com/v1 Thing\n  spec    3 of 16 matched, 12 missing, 1 different, 0 extra";
        assert!(short.contains(head), "{short}");
        assert!(short.contains("and 2 more"), "{short}");
        assert!(short.contains("all: 1 of 1 versions"), "{short}");
        assert!(short.ends_with("parity: 7 of 20 paths\n"), "{short}");
        assert!(!text(&compared(), &[], true).contains("more"));
    }

    #[test]
    fn the_document_has_totals_and_findings() {
        let document = document(&compared(), &[]);
        assert_eq!(document["totals"]["spec"]["matched"], 3);
        assert_eq!(document["versions"][0]["findings"][0]["aspect"], "missing");
    }

    #[test]
    fn a_low_share_a_difference_without_reason_and_a_reason_without_difference_are_faults() {
        let compared = compared();
        let toml = "[[parity]]\naspect = \"missing\"\npath = \"spec.p*\"\nbecause = \"x\"\n";
        let low = "18.75 % of the spec paths match, expected 99.5 %";
        let found = |toml: &str, is_whole| {
            let reasons = reasons::parse(toml, "specs/exceptions.toml", None).unwrap();
            let explanation = reasons::explain(&reasons, &compared);
            faults(&compared, &[], &explanation, is_whole)
        };
        assert_eq!(found(toml, true), [low]);
        let without = found("", true);
        assert_eq!(without.len(), 13);
        assert!(
            without[1].starts_with("no reason for a.azure.com/Thing v1 spec.p0 missing"),
            "{without:?}"
        );
        let unused = format!("{toml}[[parity]]\naspect = \"extra\"\nbecause = \"y\"\n");
        assert!(found(&unused, true)[1].contains("explains nothing"));
        assert_eq!(found(&unused, false), [low]);
    }
}

//! The comparison as a page of the book: `docs/parity.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::compare::{Compared, Counts, Presence};
use super::reasons::{Explanation, Place};
use super::totals::{Totals, percent};

const HEAD: &str = "\
# Parity with Azure Service Operator

How far the CRDs agree with those of Azure Service Operator v2, path by path: `spec.subnets[].name` is one path. Written
by `cargo xtask parity --write`. `cargo xtask parity --check` fails when this page is stale, when a difference has no
reason, and when a reason has no difference. The reasons are in `xtask/src/parity/reasons.toml`.

A path *matches* when both have it with the same type, the same enum values and the same required flag. *Limits* are
patterns, formats, bounds and lengths; they are compared, too, but a path with another limit still matches. A version
that only Azure Service Operator has counts with all of its paths as missing. Names, categories and printer columns are
compared for every version. Storage versions are not: they are for the operators alone and have no field schema here.
";

/// The page.
pub fn page(compared: &[Compared], explanation: &Explanation<'_>) -> String {
    let mut page = HEAD.to_owned();
    let totals = Totals::of(compared);
    let _ = write!(
        page,
        "\n{} of {} versions are there.\n\n| | paths | match | share | at least |\n|---|--:|--:|--:|--:|\n",
        totals.present, totals.versions
    );
    for (name, counts, bar) in totals.bars() {
        let _ = writeln!(
            page,
            "| {name} | {} | {} | {:.2} % | {bar} % |",
            counts.total,
            counts.matched,
            percent(&counts)
        );
    }
    differences(&mut page, compared, explanation);
    let groups: BTreeSet<&str> = compared.iter().map(|one| one.group.as_str()).collect();
    for group in groups {
        let _ = write!(
            page,
            "\n## {group}\n\n\
             Paths of the target, how many of them are here, how many of these agree in each fact, and paths beyond.\n\n\
             | kind | version | side | paths | here | type | enum | required | match | limits | beyond |\n\
             |---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
        );
        for version in compared.iter().filter(|one| one.group == group) {
            row(&mut page, version, "spec", &version.spec);
            row(&mut page, version, "status", &version.status);
        }
    }
    page
}

fn row(page: &mut String, version: &Compared, side: &str, counts: &Counts) {
    let absent = match version.presence {
        Presence::Both => "",
        Presence::OnlyTarget => " (not here)",
        Presence::OnlyOurs => " (only here)",
    };
    let _ = writeln!(
        page,
        "| {} | {}{absent} | {side} | {} | {} | {} | {} | {} | {} | {} | {} |",
        version.kind,
        version.version,
        counts.total,
        counts.present,
        counts.same_type,
        counts.same_enum,
        counts.same_required,
        counts.matched,
        counts.same_limits,
        counts.extra
    );
}

/// Every difference, below its reason.
fn differences(page: &mut String, compared: &[Compared], explanation: &Explanation<'_>) {
    page.push_str("\n## Differences\n\nIn brackets: how many, over all versions.\n");
    for (reason, places) in &explanation.reasons {
        let because: Vec<&str> = reason.because.split_whitespace().collect();
        let _ = write!(
            page,
            "\n**{:?} ({}).** {}\n\n",
            reason.aspect,
            places.len(),
            because.join(" ")
        );
        list(page, compared, places);
    }
    if !explanation.unexplained.is_empty() {
        let count = explanation.unexplained.len();
        let _ = write!(page, "\n**Without a reason ({count}).**\n\n");
        list(page, compared, &explanation.unexplained);
    }
}

/// One line for each difference, with all the places that have it.
fn list(page: &mut String, compared: &[Compared], places: &[Place<'_>]) {
    let mut lines: BTreeMap<(&str, &str), BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for (version, finding) in places {
        let line = lines.entry((&finding.path, &finding.what)).or_default();
        line.entry(&version.kind)
            .or_default()
            .push(&version.version);
    }
    for ((path, what), kinds) in lines {
        let versions: usize = kinds.values().map(Vec::len).sum();
        let path = match path {
            "" => String::new(),
            path => format!("`{path}` "),
        };
        let whose = if versions == Totals::of(compared).present {
            "every version of every kind".to_owned()
        } else {
            let kind =
                |(kind, versions): (&&str, &Vec<&str>)| format!("{kind} {}", versions.join(", "));
            kinds.iter().map(kind).collect::<Vec<_>>().join("; ")
        };
        let _ = writeln!(page, "- {path}{}: {whose}", what.replace('|', "\\|"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::compare::{Aspect, Finding};
    use crate::parity::reasons;

    fn version(kind: &str, presence: Presence, findings: Vec<Finding>) -> Compared {
        let spec = Counts {
            total: 4,
            present: 3,
            same_type: 3,
            same_enum: 3,
            same_required: 2,
            matched: 2,
            same_limits: 1,
            extra: 5,
        };
        Compared {
            group: "a.azure.com".into(),
            kind: kind.into(),
            version: "v1".into(),
            presence,
            spec,
            status: Counts::default(),
            findings,
        }
    }

    #[test]
    fn the_page_has_totals_a_row_for_each_side_and_every_difference_below_its_reason() {
        let finding = |path: &str| Finding {
            aspect: Aspect::Extra,
            path: path.into(),
            what: "only ours".into(),
        };
        let compared = [
            version(
                "One",
                Presence::Both,
                vec![finding("status.x"), finding("spec.y")],
            ),
            version("Two", Presence::Both, vec![finding("status.x")]),
            version("Two", Presence::OnlyTarget, Vec::new()),
        ];
        let reasons = "[[reason]]\naspect = \"extra\"\npath = \"status.*\"\nbecause = \"Wanted.\"";
        let reasons = reasons::parse(reasons).unwrap();
        let page = page(&compared, &reasons::explain(&reasons, &compared));
        for line in [
            "2 of 3 versions are there.",
            "| spec | 12 | 6 | 50.00 % | 99 % |",
            "| One | v1 | spec | 4 | 3 | 3 | 3 | 2 | 2 | 1 | 5 |",
            "| Two | v1 (not here) | spec | 4 | 3 | 3 | 3 | 2 | 2 | 1 | 5 |",
            "**Extra (2).** Wanted.",
            "- `status.x` only ours: every version of every kind",
            "**Without a reason (1).**",
            "- `spec.y` only ours: One v1",
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
    }
}

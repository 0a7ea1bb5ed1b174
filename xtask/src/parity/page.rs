//! The comparison as pages of the book: `docs/parity.md` with the totals, `docs/parity/<group>.md` with the rest.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::compare::{Compared, Counts, Presence};
use super::lacking::{self, Lacking};
use super::reasons::{self, Explanation, Place, Reason};
use super::totals::{self, Totals, percent};

const HEAD: &str = "\
# Parity with Azure Service Operator

For those who ask whether a manifest of Azure Service Operator (ASO) works here: all CRDs compared, path by path.

`spec.subnets[].name` is one path. Written by `cargo xtask parity --write`. `cargo xtask parity --check` fails when a page is stale, when a difference has no reason,
and when a reason has no difference. The reasons are in `specs/<group>/exceptions.toml`, those for all groups in
`specs/exceptions.toml`.

A path *matches* when both have it with the same type, the same enum values and the same required flag. *Limits* are
patterns, formats, bounds and lengths; they are compared, too, but a path with another limit still matches. A version
that only Azure Service Operator has needs a cause in `specs/lacking.toml`. Names, categories and printer
columns are compared for every version. Storage versions are not: they are for the operators alone and have no field
schema here.

`cargo xtask parity --curated --group GROUP` compares what a curation file comes to, without a build.
";

/// Folder of the pages of groups, beside the page of totals.
pub const FOLDER: &str = "parity";

/// The page of totals and one for each group, by name relative to the book. `later`: the section about later releases.
pub fn pages(
    compared: &[Compared],
    explanation: &Explanation<'_>,
    lacking: &[Lacking],
    later: &str,
) -> BTreeMap<String, String> {
    let mut groups = BTreeMap::<&str, Vec<Compared>>::new();
    for version in compared {
        let of_group = groups.entry(reasons::short(&version.group)).or_default();
        of_group.push(version.clone());
    }
    let totals = page(compared, explanation, &groups, lacking, later);
    let mut pages = BTreeMap::from([("parity.md".to_owned(), totals)]);
    for (group, compared) in &groups {
        let page = group_page(group, compared, explanation);
        pages.insert(format!("{FOLDER}/{group}.md"), page);
    }
    pages
}

/// The page of totals.
fn page(
    compared: &[Compared],
    explanation: &Explanation<'_>,
    groups: &BTreeMap<&str, Vec<Compared>>,
    lacking: &[Lacking],
    later: &str,
) -> String {
    let mut page = HEAD.to_owned();
    sums(&mut page, compared, lacking);
    page.push_str(later);
    page.push_str(
        "\n## Groups\n\n\
         | group | versions | here | spec paths | match | status paths | match | differences of its own |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (group, compared) in groups {
        let totals = Totals::of(compared);
        let own = explanation.of_group(group);
        let _ = writeln!(
            page,
            "| [{group}]({FOLDER}/{group}.md) | {} | {} | {} | {:.2} % | {} | {:.2} % | {} |",
            totals.versions,
            totals.present,
            totals.spec.total,
            percent(&totals.spec),
            totals.status.total,
            percent(&totals.status),
            own.iter().map(|(_, places)| places.len()).sum::<usize>()
        );
    }
    page.push_str(&lacking_section(lacking));
    page.push_str("\n## Differences of all groups\n\nIn brackets: how many, over all versions.\n");
    for (reason, places) in explanation.for_all() {
        difference(&mut page, compared, reason, places);
    }
    if !explanation.unexplained.is_empty() {
        let count = explanation.unexplained.len();
        let _ = write!(page, "\n**Without a reason ({count}).**\n\n");
        list(&mut page, compared, &explanation.unexplained);
    }
    page
}

/// The sums, from all that the target has to what we could have.
fn sums(page: &mut String, compared: &[Compared], lacking: &[Lacking]) {
    page.push_str(
        "\nEverything that is lacking counts as a path that does not match, but for what a row leaves out. The last row is \
         what `--check` holds to the bars.\n\n\
         | counted | versions | here | spec paths | match | share | status paths | match | share |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let steps = totals::steps(compared, lacking);
    for step in &steps {
        let groups = lacking::by_group(step.left_out.iter().copied());
        let names = groups
            .iter()
            .map(|(group, kinds)| format!("{group} {}", lacking::names(kinds)));
        let mut names = names.collect::<Vec<_>>().join("; ");
        if !names.is_empty() {
            names.insert_str(0, ": ");
        }
        let (words, totals) = (step.words, &step.totals);
        let _ = write!(
            page,
            "| {words}{names} | {} | {} |",
            totals.versions, totals.present
        );
        for (_, counts, _) in totals.bars() {
            let (total, matched, share) = (counts.total, counts.matched, percent(&counts));
            let _ = write!(page, " {total} | {matched} | {share:.2} % |");
        }
        page.push('\n');
    }
    let bars = Totals::of(compared).bars();
    let bars = bars.map(|(name, _, bar)| format!("{bar} % of {name} paths"));
    let _ = writeln!(page, "\nAt least {} must match.", bars.join(" and "));
}

/// What is lacking, by group; empty where nothing is.
fn lacking_section(lacking: &[Lacking]) -> String {
    if lacking.is_empty() {
        return String::new();
    }
    let mut page = "\n## What is lacking\n\n[What is not here](gaps.md) says what would add it.\n\n\
                    | group | versions | spec paths | status paths | which |\n|---|--:|--:|--:|---|\n"
        .to_owned();
    for (group, kinds) in lacking::by_group(lacking) {
        let sum = |side: fn(&Lacking) -> usize| kinds.iter().map(|it| side(it)).sum::<usize>();
        let _ = writeln!(
            page,
            "| {group} | {} | {} | {} | {} |",
            kinds.len(),
            sum(|it| it.spec),
            sum(|it| it.status),
            lacking::names(&kinds)
        );
    }
    page
}

/// The page of a group.
fn group_page(group: &str, compared: &[Compared], explanation: &Explanation<'_>) -> String {
    let mut page = format!(
        "# Parity of {group}\n\n\
         Part of [Parity with Azure Service Operator](../parity.md), which says what is compared and what all groups differ in.\n"
    );
    page.push_str("\n## Differences\n\n");
    let own = explanation.of_group(group);
    if own.is_empty() {
        page.push_str("None of its own.\n");
    } else {
        let _ = writeln!(
            page,
            "In brackets: how many, over all versions. The reasons are in `{}`.",
            reasons::file_of(group)
        );
    }
    for (reason, places) in own {
        difference(&mut page, compared, reason, places);
    }
    page.push_str(
        "\n## Paths\n\n\
         Paths of the target, how many of them are here, how many of these agree in each fact, and paths beyond.\n\n\
         | kind | version | side | paths | here | type | enum | required | match | limits | beyond |\n\
         |---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for version in compared {
        row(&mut page, version, "spec", &version.spec);
        row(&mut page, version, "status", &version.status);
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

/// Differences, below their reason.
fn difference(page: &mut String, compared: &[Compared], reason: &Reason, places: &[Place<'_>]) {
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
    use crate::parity::lacking::Cause;

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

    fn reason(path: &str, because: &str, group: Option<&str>) -> Vec<Reason> {
        let toml =
            format!("[[parity]]\naspect = \"extra\"\npath = \"{path}\"\nbecause = \"{because}\"");
        reasons::parse(&toml, "specs/exceptions.toml", group).unwrap()
    }

    #[test]
    fn the_pages_have_totals_a_row_for_each_side_and_every_difference_below_its_reason() {
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
            version(
                "Two",
                Presence::Both,
                vec![finding("status.x"), finding("status.w")],
            ),
            version("Two", Presence::OnlyTarget, Vec::new()),
        ];
        let mut reasons = reason("status.w", "Ours.", Some("a"));
        reasons.extend(reason("status.x", "Wanted.", None));
        let lacking = |kind: &str, cause| Lacking {
            group: "a.azure.com".to_owned(),
            kind: kind.to_owned(),
            version: "v1".to_owned(),
            is_whole_kind: kind != "Two",
            spec: 2,
            status: 0,
            cause,
        };
        let lacking = [
            lacking("Fork", Some(Cause::Fork)),
            lacking("Two", Some(Cause::NoData)),
            lacking("User", Some(Cause::NotArm)),
        ];
        let pages = pages(
            &compared,
            &reasons::explain(&reasons, &compared),
            &lacking,
            "",
        );
        for (page, line) in [
            (
                "parity.md",
                "| all | 5 | 2 | 14 | 4 | 28.57 % | 0 | 0 | 0.00 % |",
            ),
            (
                "parity.md",
                "| without what only a fork of it has: a Fork | 4 | 2 | 12 | 4 | 33.33 % | 0 | 0 | 0.00 % |",
            ),
            (
                "parity.md",
                "| without what Azure Resource Manager does not make: a User | 3 | 2 | 10 | 4 | 40.00 % | 0 | 0 | 0.00 % |",
            ),
            (
                "parity.md",
                "| without what there are no data for either: a Two v1 | 2 | 2 | 8 | 4 | 50.00 % | 0 | 0 | 0.00 % |",
            ),
            (
                "parity.md",
                "At least 99.5 % of spec paths and 99 % of status paths must match.",
            ),
            ("parity.md", "| a | 3 | 6 | 0 | Fork, Two v1, User |"),
            (
                "parity.md",
                "| [a](parity/a.md) | 3 | 2 | 8 | 50.00 % | 0 | 0.00 % | 1 |",
            ),
            ("parity.md", "**Extra (2).** Wanted."),
            (
                "parity.md",
                "- `status.x` only ours: every version of every kind",
            ),
            ("parity.md", "**Without a reason (1).**"),
            ("parity.md", "- `spec.y` only ours: One v1"),
            ("parity/a.md", "**Extra (1).** Ours."),
            ("parity/a.md", "- `status.w` only ours: Two v1"),
            (
                "parity/a.md",
                "| One | v1 | spec | 4 | 3 | 3 | 3 | 2 | 2 | 1 | 5 |",
            ),
            (
                "parity/a.md",
                "| Two | v1 (not here) | spec | 4 | 3 | 3 | 3 | 2 | 2 | 1 | 5 |",
            ),
        ] {
            let page = &pages[page];
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
    }
}

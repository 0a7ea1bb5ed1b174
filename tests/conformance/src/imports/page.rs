//! The result as a page of the book.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::exceptions::Imported;

use super::Outcome;

const HEAD: &str = "\
# Import changes nothing

For those who want to know whether `armature import` is exact: every recorded answer of Azure, imported and planned.

Every answer that the real Azure gave to a GET of a resource, in recorded traffic of Azure Service Operator v2, imported as
[`armature import`](import.md) does it: of each resource of a kind that Armature has the last good answer of a recording, in the
api-version that it was asked for in. Written by `ARMATURE_WRITE_DOCS=1 cargo test -p armature-conformance --test import`;
without the variable, that test fails when this page is stale.

A resource *passes* when all of these hold:

- Its answer becomes a manifest, and the text of that is read as what was written.
- `armature plan` over the manifests of the recording, with the recorded answers for Azure, says that nothing would change. Secrets
  that manifests name are taken for there.
- A real API server takes the manifest with strict validation.
- The body of its PUT holds every value of the answer that a PUT can have: a walk over the answer that shares nothing with the
  import but the schemas looks for each. Lists of children that a PUT carries along by itself are left out. A value may be missing
  where Azure's spec files state it to be the default, which a walk over these files finds out that shares nothing with the
  generator.
";

/// Problems by group and kind, with how many resources have each.
pub type Problems = BTreeMap<(String, String, String), usize>;

/// All problems.
pub fn problems<'o>(outcomes: impl IntoIterator<Item = &'o Outcome>) -> Problems {
    let mut problems = Problems::new();
    for outcome in outcomes {
        for problem in &outcome.problems {
            let key = (
                outcome.group.clone(),
                outcome.kind.to_owned(),
                problem.clone(),
            );
            *problems.entry(key).or_default() += 1;
        }
    }
    problems
}

/// Share of the resources that pass, in percent.
pub fn percent(outcomes: &[Outcome]) -> f64 {
    let passed = outcomes
        .iter()
        .filter(|one| one.problems.is_empty())
        .count();
    100.0 * passed as f64 / outcomes.len().max(1) as f64
}

/// The page.
pub fn page(outcomes: &[Outcome], known: &[Imported]) -> String {
    let mut page = HEAD.to_owned();
    let passed = outcomes
        .iter()
        .filter(|one| one.problems.is_empty())
        .count();
    let _ = writeln!(
        page,
        "\n**{passed} of {} resources pass, {:.1} %.**\n\n## Not passed",
        outcomes.len(),
        percent(outcomes)
    );
    let problems = problems(outcomes);
    if problems.is_empty() {
        page.push_str("\nNothing.\n");
    } else {
        page.push_str("\nThe reasons are in `specs/<group>/exceptions.toml`.\n\n");
        page.push_str("| kind | resources | what | why |\n|---|--:|---|---|\n");
    }
    for ((group, kind, problem), count) in &problems {
        let reason = known
            .iter()
            .find(|one| one.kind == *kind && one.problem == *problem);
        let reason = reason.map_or("not known", |one| one.because.as_str());
        let _ = writeln!(page, "| {group} {kind} | {count} | {problem} | {reason} |");
    }
    page.push_str(&defaults(outcomes));
    page.push_str(
        "\n## Groups\n\n| group | kinds | resources | passed | share |\n|---|--:|--:|--:|--:|\n",
    );
    let mut groups: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        groups.entry(&outcome.group).or_default().push(outcome);
    }
    for (group, outcomes) in groups {
        let kinds: BTreeSet<_> = outcomes.iter().map(|one| one.kind).collect();
        let passed = outcomes
            .iter()
            .filter(|one| one.problems.is_empty())
            .count();
        let _ = writeln!(
            page,
            "| {group} | {} | {} | {passed} | {:.1} % |",
            kinds.len(),
            outcomes.len(),
            100.0 * passed as f64 / outcomes.len() as f64
        );
    }
    page
}

/// What manifests leave out.
fn defaults(outcomes: &[Outcome]) -> String {
    let mut counts: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for outcome in outcomes {
        for place in &outcome.defaults {
            let key = (outcome.group.as_str(), outcome.kind, place.as_str());
            *counts.entry(key).or_default() += 1;
        }
    }
    let mut text = "\n## Left out as defaults\n".to_owned();
    if counts.is_empty() {
        text.push_str("\nNothing.\n");
        return text;
    }
    text.push_str("\n| kind | resources | value |\n|---|--:|---|\n");
    for ((group, kind, place), count) in counts {
        let _ = writeln!(text, "| {group} {kind} | {count} | `{place}` |");
    }
    text
}

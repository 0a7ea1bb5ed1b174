//! What of the target we do not have at all: kinds of groups that we have, and whole groups.

use std::fmt::Write;

use serde::Serialize;

use super::schema::{Crds, Group};
use super::totals::{Totals, percent};

/// Numbers of what the target has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Extent {
    /// Kinds.
    pub kinds: usize,
    /// Versions of kinds.
    pub versions: usize,
    /// Paths below `spec`.
    pub spec: usize,
    /// Paths below `status`.
    pub status: usize,
}

/// Kinds of one group that we do not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lacking {
    /// API group.
    pub group: String,
    /// How many kinds of it the target has.
    pub of: usize,
    /// What is lacking.
    #[serde(flatten)]
    pub extent: Extent,
    /// The kinds.
    pub names: Vec<String>,
}

/// What is lacking of each group of the target; groups without a gap are left out.
pub fn lacking(ours: &Crds, target: &Crds) -> Vec<Lacking> {
    let none = Group::new();
    let of_group = |(name, target): (&String, &Group)| {
        let ours = ours.get(name).unwrap_or(&none);
        let kinds = target.iter().filter(|(kind, _)| !ours.contains_key(*kind));
        let mut lacking = Lacking {
            group: name.clone(),
            of: target.len(),
            extent: Extent::default(),
            names: Vec::new(),
        };
        for (kind, versions) in kinds {
            lacking.names.push(kind.clone());
            lacking.extent.kinds += 1;
            lacking.extent.versions += versions.len();
            for path in versions.values().flat_map(|version| version.paths.keys()) {
                match path.starts_with("spec") {
                    true => lacking.extent.spec += 1,
                    false => lacking.extent.status += 1,
                }
            }
        }
        (!lacking.names.is_empty()).then_some(lacking)
    };
    target.iter().filter_map(of_group).collect()
}

/// All of it.
pub fn sum(lacking: &[Lacking]) -> Extent {
    let mut sum = Extent::default();
    for Lacking { extent, .. } in lacking {
        sum.kinds += extent.kinds;
        sum.versions += extent.versions;
        sum.spec += extent.spec;
        sum.status += extent.status;
    }
    sum
}

/// One line for each group that lacks something.
pub fn text(lacking: &[Lacking]) -> String {
    let mut out = String::new();
    for Lacking {
        group,
        of,
        extent,
        names,
    } in lacking
    {
        let _ = writeln!(
            out,
            "{group} lacks {} of {of} kinds, {} versions, {} paths: {}",
            extent.kinds,
            extent.versions,
            extent.spec + extent.status,
            names.join(", ")
        );
    }
    out
}

/// The section of the page of totals; empty when nothing is lacking. `totals` are those of the kinds that are there.
pub fn section(lacking: &[Lacking], totals: &Totals) -> String {
    if lacking.is_empty() {
        return String::new();
    }
    let sum = sum(lacking);
    let mut page = format!(
        "\n## Lacking altogether\n\n\
         {} kinds with {} versions are not here. With all of their paths counted as missing, {} of {} versions are there.\n\n\
         | | paths | match | share |\n|---|--:|--:|--:|\n",
        sum.kinds,
        sum.versions,
        totals.present,
        totals.versions + sum.versions
    );
    for ((name, mut counts, _), more) in totals.bars().into_iter().zip([sum.spec, sum.status]) {
        counts.total += more;
        let (total, matched, share) = (counts.total, counts.matched, percent(&counts));
        let _ = writeln!(page, "| {name} | {total} | {matched} | {share:.2} % |");
    }
    page.push_str(
        "\n| group | kinds | lacking | versions | spec paths | status paths | which |\n|---|--:|--:|--:|--:|--:|---|\n",
    );
    for Lacking {
        group,
        of,
        extent,
        names,
    } in lacking
    {
        let _ = writeln!(
            page,
            "| {} | {of} | {} | {} | {} | {} | {} |",
            super::reasons::short(group),
            extent.kinds,
            extent.versions,
            extent.spec,
            extent.status,
            names.join(", ")
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::parity::schema::{Version, Versions};

    fn group(kinds: &[(&str, &[&str])]) -> Group {
        let kind = |(kind, paths): &(&str, &[&str])| {
            let paths = paths
                .iter()
                .map(|path| ((*path).to_owned(), Default::default()));
            let version = Version {
                paths: paths.collect(),
                ..Version::default()
            };
            (
                (*kind).to_owned(),
                Versions::from([("v1".to_owned(), version)]),
            )
        };
        kinds.iter().map(kind).collect()
    }

    fn crds(groups: &[(&str, Group)]) -> Crds {
        let named = groups
            .iter()
            .map(|(name, group)| ((*name).to_owned(), group.clone()));
        BTreeMap::from_iter(named)
    }

    #[test]
    fn kinds_and_groups_that_are_not_there_count() {
        let a = group(&[
            ("One", &["spec", "status"]),
            ("Two", &["spec", "spec.x", "status"]),
        ]);
        let b = group(&[("Three", &["spec"])]);
        let ours = crds(&[("a.azure.com", group(&[("One", &["spec"])]))]);
        let target = crds(&[("a.azure.com", a), ("b.azure.com", b)]);
        let found = lacking(&ours, &target);
        let expected = Extent {
            kinds: 2,
            versions: 2,
            spec: 3,
            status: 1,
        };
        assert_eq!(sum(&found), expected);
        let line = "a.azure.com lacks 1 of 2 kinds, 1 versions, 3 paths: Two\n";
        assert!(text(&found).starts_with(line), "{}", text(&found));
        let page = section(&found, &Totals::default());
        for line in [
            "| spec | 3 | 0 | 0.00 % |",
            "| b | 1 | 1 | 1 | 1 | 0 | Three |",
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
        assert_eq!(section(&lacking(&target, &target), &Totals::default()), "");
    }
}

//! docs/ahead.md: the api-versions that Azure Service Operator does not have.

use std::fmt::Write as _;

use armature_generator::pipeline::{GroupSummary, KindAhead};

/// The page, relative to the workspace.
pub const PAGE: &str = "docs/ahead.md";

/// What stands before the list.
const BEFORE: &str = include_str!("ahead_before.md");

/// The text of the page: a row for each version of each group.
pub fn page(groups: &[GroupSummary]) -> String {
    let rows = || {
        groups
            .iter()
            .flat_map(|group| group.on_request.iter().map(move |row| (group, row)))
    };
    let pairs: usize = rows().map(|(_, (_, kinds))| kinds.len()).sum();
    let mut text = BEFORE.to_owned();
    let _ = writeln!(
        text,
        "{pairs} pairs of kind and version in {} groups:\n",
        groups
            .iter()
            .filter(|group| !group.on_request.is_empty())
            .count()
    );
    text.push_str(
        "| group | version | kinds, each with its newest version beside |\n|---|---|---|\n",
    );
    for (group, (version, kinds)) in rows() {
        let _ = writeln!(
            text,
            "| [{0}](reference/{0}.md) | `{version}` | {1} |",
            group.group,
            kinds_of(group, kinds)
        );
    }
    text
}

/// The kinds of a row, by the version that they have beside.
fn kinds_of(group: &GroupSummary, kinds: &[KindAhead]) -> String {
    let mut versions: Vec<&str> = kinds.iter().map(|it| it.newest_else.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    let of_version = |version: &&str| {
        let of_it = kinds.iter().filter(|it| it.newest_else == *version);
        let names: Vec<String> = of_it.map(|it| format!("`{}`", it.kind)).collect();
        match names.len() == group.kinds && group.kinds > 1 {
            true => format!("all {} (`{version}`)", group.kinds),
            false => format!("{} (`{version}`)", names.join(", ")),
        }
    };
    let parts: Vec<String> = versions.iter().map(of_version).collect();
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn ahead(kind: &str, newest_else: &str) -> KindAhead {
        KindAhead {
            kind: kind.to_owned(),
            newest_else: newest_else.to_owned(),
        }
    }

    #[test]
    fn kinds_stand_with_the_version_that_they_have_beside() {
        let kinds = vec![
            ahead("Cart", "v20230101"),
            ahead("Till", "v20230101"),
            ahead("Zone", "v1api20180501"),
        ];
        let mut group = GroupSummary {
            group: "shop".to_owned(),
            kinds: 4,
            on_request: BTreeMap::from([("v20260101".to_owned(), kinds)]),
            ..GroupSummary::default()
        };
        let row = |group: &GroupSummary| {
            let page = page(std::slice::from_ref(group));
            page.lines().last().unwrap().to_owned()
        };
        assert_eq!(
            row(&group),
            "| [shop](reference/shop.md) | `v20260101` | `Zone` (`v1api20180501`); `Cart`, `Till` (`v20230101`) |"
        );
        group.kinds = 2;
        let both = group.on_request.get_mut("v20260101").unwrap();
        both.truncate(2);
        assert_eq!(
            row(&group),
            "| [shop](reference/shop.md) | `v20260101` | all 2 (`v20230101`) |"
        );
    }
}

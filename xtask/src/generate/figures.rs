//! What a run came to, in figures: the table that `gen` prints, docs/generated.md and the list of reference pages in
//! docs/SUMMARY.md.

use std::{collections::BTreeMap, fmt::Write as _};

use armature_generator::pipeline::GroupSummary;
use camino::Utf8PathBuf;

/// The page with the figures, relative to the workspace.
pub const PAGE: &str = "docs/generated.md";
/// The book's list of pages, relative to the workspace.
pub const SUMMARY: &str = "docs/SUMMARY.md";

/// What stands before and after the figures on the page.
const BEFORE: &str = include_str!("generated_before.md");
const AFTER: &str = include_str!("generated_after.md");

const COLUMNS: [&str; 8] = [
    "kinds", "versions", "types", "shared", "hub", "files", "lines", "bytes",
];

type Row = [usize; COLUMNS.len()];

fn row(group: &GroupSummary) -> Row {
    [
        group.kinds,
        group.kind_versions,
        group.types,
        group.shared_types,
        group.hub_types,
        group.files,
        group.lines,
        group.bytes,
    ]
}

/// A row for each group and one for all of them.
fn rows(groups: &[GroupSummary]) -> Vec<(&str, Row)> {
    let mut rows = groups
        .iter()
        .map(|group| (group.group.as_str(), row(group)))
        .collect::<Vec<_>>();
    let total = std::array::from_fn(|at| rows.iter().map(|(_, row)| row[at]).sum());
    rows.push(("total", total));
    rows
}

/// The table for a terminal.
pub fn table(groups: &[GroupSummary]) -> String {
    let mut text = format!("{:<20}", "group");
    for column in COLUMNS {
        let _ = write!(text, " {column:>9}");
    }
    text.push('\n');
    for (name, row) in rows(groups) {
        let _ = write!(text, "{name:<20}");
        for figure in row {
            let _ = write!(text, " {figure:>9}");
        }
        text.push('\n');
    }
    text
}

/// The text of docs/generated.md.
pub fn page(groups: &[GroupSummary]) -> String {
    let mut text = BEFORE.to_owned();
    let _ = writeln!(text, "| group | {} |", COLUMNS.join(" | "));
    let _ = writeln!(text, "|---|{}", "--:|".repeat(COLUMNS.len()));
    for (name, row) in rows(groups) {
        let row = row.map(|figure| figure.to_string());
        let _ = writeln!(text, "| {name} | {} |", row.join(" | "));
    }
    text + AFTER
}

/// Pages that have a page for each group below them, with the folder of these.
const PARENTS: [(&str, &str); 3] = [
    ("reference/index.md", "reference"),
    ("parity.md", "parity"),
    ("conformance.md", "conformance"),
];

/// `summary` with the pages of `groups` below those that have one for each, and the pages of kinds, which are among the
/// generated `files`, below those of their groups.
///
/// # Errors
/// When the book has no page of all kinds.
pub fn summary(
    summary: &str,
    groups: &[GroupSummary],
    files: &BTreeMap<Utf8PathBuf, String>,
) -> anyhow::Result<String> {
    let (index, _) = PARENTS[0];
    anyhow::ensure!(
        summary.lines().any(|line| links_to(line, index)),
        "{SUMMARY} has no page of all kinds; add the line `- [Reference of kinds]({index})`"
    );
    let pages = files.iter().filter(|(path, _)| path.starts_with("docs"));
    let pages: Vec<_> = pages.collect();
    let mut text = String::new();
    for line in summary.lines() {
        let is_parent = |(page, _): &&(&str, &str)| links_to(line, page);
        let parent = PARENTS.iter().find(is_parent);
        let is_below = |(_, folder): &(&str, &str)| line.contains(&format!("]({folder}/"));
        if parent.is_none() && PARENTS.iter().any(is_below) {
            continue;
        }
        let _ = writeln!(text, "{line}");
        for group in groups.iter().map(|group| &group.group) {
            let Some((_, folder)) = parent else {
                continue;
            };
            let _ = writeln!(text, "  - [{group}]({folder}/{group}.md)");
            let below = format!("docs/{folder}/{group}");
            for (path, page) in pages.iter().filter(|(path, _)| path.starts_with(&below)) {
                let title = page.lines().find_map(|line| line.strip_prefix("# "));
                let path = path.strip_prefix("docs")?;
                let _ = writeln!(text, "    - [{}]({path})", title.unwrap_or_default());
            }
        }
    }
    Ok(text)
}

/// Whether a line of the book's list is that of a page.
fn links_to(line: &str, page: &str) -> bool {
    line.ends_with(&format!("]({page})"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn group(name: &str, lines: usize) -> GroupSummary {
        GroupSummary {
            group: name.to_owned(),
            kinds: 1,
            kind_versions: 2,
            types: 30,
            shared_types: 20,
            hub_types: 4,
            files: 5,
            lines,
            bytes: lines * 40,
            on_request: BTreeMap::new(),
            elapsed: Duration::ZERO,
        }
    }

    #[test]
    fn figures_add_up_on_the_terminal_and_on_the_page() {
        let groups = [group("kusto", 100), group("storage", 250)];
        let table = table(&groups);
        let total = table.lines().last().unwrap();
        let words = total.split_whitespace().collect::<Vec<_>>();
        let expected = ["total", "2", "4", "60", "40", "8", "10", "350", "14000"];
        assert_eq!(words, expected);
        let page = page(&groups);
        for line in [
            "| kusto | 1 | 2 | 30 | 20 | 4 | 5 | 100 | 4000 |",
            "| total | 2 | 4 | 60 | 40 | 8 | 10 | 350 | 14000 |",
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
    }

    #[test]
    fn the_book_lists_the_groups_that_there_are() {
        let book = "# Summary\n\n- [Parity](parity.md)\n- [Reference](reference/index.md)\n  - [old](reference/old.md)\n\
                    - [More](more.md)\n";
        let page = (
            Utf8PathBuf::from("docs/reference/a/cart.md"),
            "<!-- -->\n# Cart\n".to_owned(),
        );
        let files = BTreeMap::from([page]);
        let next = summary(book, &[group("a", 1), group("b", 1)], &files).unwrap();
        assert_eq!(
            next,
            "# Summary\n\n- [Parity](parity.md)\n  - [a](parity/a.md)\n  - [b](parity/b.md)\n\
             - [Reference](reference/index.md)\n  - [a](reference/a.md)\n    - [Cart](reference/a/cart.md)\n  - [b](reference/b.md)\n- [More](more.md)\n"
        );
        assert_eq!(
            summary(&next, &[group("a", 1), group("b", 1)], &files).unwrap(),
            next
        );
        assert!(summary("# Summary\n", &[], &files).is_err());
    }
}

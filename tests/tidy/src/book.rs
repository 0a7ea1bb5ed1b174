//! The pages below `docs/` are one book: each is in its list, leads to others of them alone, and is of a size that can be
//! read.

use std::collections::BTreeSet;

use crate::links;
use crate::tree::Tree;

/// Folder of the book.
const FOLDER: &str = "docs/";

/// The list of its pages.
const LIST: &str = "docs/SUMMARY.md";

/// Pages that are generated for each kind, and the most bytes that one has.
const REFERENCE: &str = "docs/reference/";
const LARGEST: usize = 60_000;

/// Pages of which there is one for each group: they say what they are part of.
const OF_GROUPS: [&str; 3] = [REFERENCE, "docs/parity/", "docs/conformance/"];

/// Everything that is wrong with the book.
pub fn check(tree: &Tree) -> Vec<String> {
    let list = tree.text(LIST).unwrap_or_default();
    let listed = links::links(list).into_iter();
    let listed: BTreeSet<String> = listed
        .map(|(_, target)| links::join(FOLDER, target))
        .collect();
    let mut found = Vec::new();
    for (path, text) in tree.files(FOLDER, ".md") {
        if path != LIST && !listed.contains(path) {
            found.push(format!(
                "{path} is not in {LIST}, so it is no page of the book. Add it there."
            ));
        }
        if path.starts_with(REFERENCE) && text.len() > LARGEST {
            found.push(format!(
                "{path} has {} bytes, and {LARGEST} are allowed. Let the generator fold more of it.",
                text.len()
            ));
        }
        let is_of_group = OF_GROUPS.iter().any(|folder| path.starts_with(folder));
        if path != LIST && !is_of_group && !says_for_whom(text) {
            found.push(format!(
                "{path} does not say what it is for and for whom. Begin it with a title, and then a line such as \
                 `For people who …: what they find here.`"
            ));
        }
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, target) in links::links(text) {
            let file = target.split('#').next().unwrap_or_default();
            if file.is_empty() || target.contains(':') {
                continue;
            }
            if !links::join(folder, file).starts_with(FOLDER) {
                found.push(format!(
                    "{path}:{line}: the link `{target}` leads out of the book, where its readers find nothing. Name the \
                     file as code."
                ));
            }
        }
    }
    found
}

/// Whether the first line below the title names the readers and what they find.
fn says_for_whom(text: &str) -> bool {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("# "));
    let first = lines.nth(2).unwrap_or_default();
    first.starts_with("For ") && (first.contains(": ") || first.contains(" who "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_book_whose_pages_are_listed_and_lead_to_each_other_is_let_through() {
        let tree = Tree::of(&[
            ("docs/SUMMARY.md", "- [a](a.md)\n  - [b](sub/b.md)\n"),
            (
                "docs/a.md",
                "# A\n\nFor everybody: [b](sub/b.md#x) [here](#y) [there](https://e.f)",
            ),
            ("docs/sub/b.md", "# B\n\nFor those who read: [a](../a.md)"),
            ("README.md", "[specs](specs)"),
        ]);
        assert_eq!(check(&tree), Vec::<String>::new());
    }

    #[test]
    fn pages_that_nobody_finds_or_reads_are_told() {
        let large = "x".repeat(LARGEST + 1);
        let tree = Tree::of(&[
            ("docs/SUMMARY.md", "- [a](reference/a.md)\n"),
            ("docs/reference/a.md", &large),
            ("docs/b.md", "[code](../specs/one.toml)"),
        ]);
        let told = check(&tree);
        assert_eq!(told.len(), 4, "{told:?}");
        assert!(told[0].starts_with("docs/b.md is not in docs/SUMMARY.md"));
        assert!(told[1].starts_with("docs/b.md does not say what it is for and for whom"));
        assert!(
            told[2].starts_with("docs/b.md:1: the link `../specs/one.toml` leads out of the book")
        );
        assert!(told[3].starts_with("docs/reference/a.md has 60001 bytes"));
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_book_whose_pages_are_listed_and_lead_to_each_other_is_let_through() {
        let tree = Tree::of(&[
            ("docs/SUMMARY.md", "- [a](a.md)\n  - [b](sub/b.md)\n"),
            (
                "docs/a.md",
                "[b](sub/b.md#x) [here](#y) [there](https://e.f)",
            ),
            ("docs/sub/b.md", "[a](../a.md)"),
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
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].starts_with("docs/b.md is not in docs/SUMMARY.md"));
        assert!(
            told[1].starts_with("docs/b.md:1: the link `../specs/one.toml` leads out of the book")
        );
        assert!(told[2].starts_with("docs/reference/a.md has 60001 bytes"));
    }
}

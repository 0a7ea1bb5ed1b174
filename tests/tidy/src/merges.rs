//! What a merge leaves behind that was not finished.

use crate::tree::Tree;

/// How the lines begin that git puts around what it could not merge.
const MARKS: [&str; 2] = ["<<<<<<< ", ">>>>>>> "];

/// Marks of conflicts.
pub fn check(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in tree.files("", "") {
        for (number, line) in text.lines().enumerate() {
            if MARKS.iter().any(|mark| line.starts_with(mark)) {
                let number = number + 1;
                found.push(format!("{path}:{number}: a merge was not finished here"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_in_any_file() {
        let tree = Tree::of(&[
            (
                "CHANGELOG.md",
                "- a\n<<<<<<< HEAD\n- b\n=======\n>>>>>>> c\n",
            ),
            ("a/b.rs", "// of <<<<<<< and\nfn f() {}\n"),
        ]);
        let found = check(&tree);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("CHANGELOG.md:2:"), "{found:?}");
    }
}

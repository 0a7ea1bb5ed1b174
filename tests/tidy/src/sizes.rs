//! Files and functions are short enough to be read at once.

use crate::known::{self, Known};
use crate::modules::Sources;
use crate::tree::Tree;

/// Most lines of a file.
pub const FILE: usize = 600;

/// Most lines of a function, from `fn` to its closing brace.
pub const FUNCTION: usize = 60;

/// Rust files that are too long.
pub fn files(tree: &Tree, known: &Known) -> Vec<String> {
    let lengths = tree
        .handwritten()
        .map(|(path, text)| (path, text.lines().count()));
    let found: Vec<(String, String)> = lengths
        .filter(|(_, lines)| *lines > FILE)
        .map(|(path, lines)| {
            let message = format!(
                "{path} has {lines} lines, and {FILE} are the most: split it where it speaks of two things, or move its \
                 tests to a file beside it."
            );
            (path.to_owned(), message)
        })
        .collect();
    known::compare(&found, &known.files, "long file")
}

/// Functions that are too long, as `path: name`, with a message. Tests are left out: a table of cases is long. So are files
/// that are only for tests, which the caller knows.
pub fn long_functions(sources: &Sources, runs: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (path, source) in sources.iter().filter(|(path, _)| runs(path)) {
        let own = source.functions.iter().filter(|function| !function.test);
        for function in own.filter(|function| function.length > FUNCTION) {
            let message = format!(
                "{path}:{}: `{}` has {} lines, and {FUNCTION} are the most: give a part of it a name of its own.",
                function.line, function.name, function.length
            );
            found.push((format!("{path}: {}", function.name), message));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    #[test]
    fn a_long_file_is_told() {
        let long = "//\n".repeat(FILE + 1);
        let tree = Tree::of(&[
            ("a/long.rs", &long),
            ("a/short.rs", "//\n"),
            ("generated/g.rs", &long),
        ]);
        let told = files(&tree, &Known::default());
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("a/long.rs has 601 lines"));
    }

    #[test]
    fn a_long_function_is_told() {
        let body = "g();\n".repeat(FUNCTION);
        let text = format!(
            "fn short() {{}}\nfn long() {{\n{body}}}\n#[test]\nfn of_a_test() {{\n{body}}}\n"
        );
        let sources = [("a/b.rs".to_owned(), Source::read(&text).unwrap())].into();
        let told = long_functions(&sources, |_| true);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].0, "a/b.rs: long");
        assert!(
            told[0].1.starts_with("a/b.rs:2: `long` has 62 lines"),
            "{told:?}"
        );
        assert_eq!(long_functions(&sources, |_| false), []);
    }
}

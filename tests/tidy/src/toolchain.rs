//! Every page and file that names a version of Rust or Go names the same one.

use crate::tree::Tree;

/// A file, and what stands before the version in it.
type Place = (&'static str, &'static str);

/// Places that name the oldest Rust; the first one counts.
const RUST: [Place; 4] = [
    ("Cargo.toml", "rust-version = \""),
    ("README.md", "with Rust "),
    ("docs/try.md", " Rust "),
    ("CONTRIBUTING.md", "need Rust "),
];

/// The same for Go.
const GO: [Place; 5] = [
    (".ci/run", "-ge "),
    ("README.md", "Go 1."),
    ("docs/try.md", "Go 1."),
    ("CONTRIBUTING.md", "Go 1."),
    (".devcontainer/devcontainer.json", "\"version\": \"1."),
];

/// Places that name another version than the first one does, or none.
pub fn check(tree: &Tree) -> Vec<String> {
    [("Rust", &RUST[..]), ("Go", &GO[..])]
        .into_iter()
        .flat_map(|(language, places)| differing(tree, language, places))
        .collect()
}

fn differing(tree: &Tree, language: &str, places: &[Place]) -> Vec<String> {
    let named = |(path, before): &Place| version(tree.text(path).unwrap_or_default(), before);
    let counts = named(&places[0]);
    let others = places
        .iter()
        .filter(|place| counts.is_empty() || named(place) != counts);
    others
        .map(|place| {
            let (path, before) = place;
            let (found, first) = (named(place), places[0].0);
            format!(
                "{path}: `{before}{found}` is not the version of {language} that {first} has: `{}{counts}`",
                places[0].1
            )
        })
        .collect()
}

/// The digits and dots behind a text.
fn version(text: &str, before: &str) -> String {
    let rest = text.split_once(before).map_or("", |(_, rest)| rest);
    let version = rest
        .chars()
        .take_while(|letter| letter.is_ascii_digit() || *letter == '.');
    version.collect::<String>().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(go: &str) -> Tree {
        let readme = "with Rust 1.95, Go 1.26 and a C compiler";
        let container = format!("{{\"version\": \"1.{go}\"}}");
        Tree::of(&[
            ("Cargo.toml", "rust-version = \"1.95\"\n"),
            ("README.md", readme),
            ("docs/try.md", "You need Rust 1.95, Go 1.26."),
            ("CONTRIBUTING.md", "You need Rust 1.95, Go 1.26"),
            (".ci/run", "[ \"${minor:-0}\" -ge 26 ]"),
            (".devcontainer/devcontainer.json", &container),
        ])
    }

    #[test]
    fn a_place_that_lags_behind_is_named() {
        assert_eq!(check(&files("26")), Vec::<String>::new());
        let found = check(&files("25"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("devcontainer.json: `\"version\": \"1.25`"),
            "{found:?}"
        );
        assert!(check(&Tree::of(&[])).len() > 8, "no place is no version");
    }
}

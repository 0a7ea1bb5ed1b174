//! Files and modules that pages and comments cite exist.
//!
//! A path counts where its first part is a folder of the workspace; it may be in one that the citing file is in. A module
//! path (`driver::scopes`) begins with a crate, with or without `armature_`, or with any module; each further part is a module
//! below it, with folders `tests` left out as people do, or a name that is defined there. An end in `…` stands for the rest.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::Tree;

/// Pages that tell of the past, and what is generated.
const LEFT_OUT: [&str; 4] = [
    "CHANGELOG.md",
    "generated/",
    "docs/reference/",
    "docs/samples.md",
];

/// First parts of module paths that are nobody's here.
const OTHERS: [&str; 3] = ["serde_json", "std", "module"];

/// What is before the name of something that a file defines.
const DEFINING: [&str; 8] = [
    "fn ", "mod ", "struct ", "enum ", "trait ", "const ", "static ", "type ",
];

/// What is cited and does not exist.
pub fn check(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    let names = Names::of(tree);
    for (path, text) in tree.files("", ".md").filter(|(path, _)| counts(path)) {
        for (index, line) in text.lines().enumerate() {
            let at = format!("{path}:{}", index + 1);
            for cited in quoted(line) {
                found.extend(lost_path(tree, path, cited).map(|why| format!("{at}: {why}")));
                if path.starts_with("docs/") {
                    found.extend(names.lost(cited).map(|why| format!("{at}: {why}")));
                }
            }
        }
    }
    for (path, text) in tree.handwritten().filter(|(path, _)| counts(path)) {
        for (index, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("//") {
                let lost = quoted(line).filter_map(|cited| lost_path(tree, path, cited));
                found.extend(lost.map(|why| format!("{path}:{}: {why}", index + 1)));
            }
        }
    }
    found
}

fn counts(path: &str) -> bool {
    !LEFT_OUT.iter().any(|left_out| path.starts_with(left_out)) && !path.contains("/templates/")
}

/// What stands between backticks.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn is_plain(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_.-/".contains(letter);
    text.chars().all(plain) && !text.starts_with('/')
}

fn lost_path(tree: &Tree, citing: &str, cited: &str) -> Option<String> {
    let cited = cited.trim_end_matches('/');
    let (first, _) = cited.split_once('/').filter(|_| is_plain(cited))?;
    let is_file =
        tree.has(cited) || folders_of(citing).any(|folder| tree.has(&format!("{folder}/{cited}")));
    let is_ours = tree.has(first) && !first.is_empty() && !tree.has(&format!("{first}.md"));
    (is_ours && !is_file).then(|| format!("`{cited}` does not exist. Correct it, or take it out."))
}

/// The folders that a file is in.
fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

/// Crates, modules, and what files define.
struct Names<'t> {
    /// Folders of crates by their names.
    crates: Vec<(&'t str, &'t str)>,
    /// Names that each file defines, by its path without `.rs`.
    files: BTreeMap<&'t str, BTreeSet<&'t str>>,
}

impl<'t> Names<'t> {
    fn of(tree: &'t Tree) -> Self {
        let crates = tree.files("", "Cargo.toml").filter_map(|(path, text)| {
            let mut lines = text.lines();
            let name = lines.find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))?;
            let name = name.strip_prefix("armature-").unwrap_or(name);
            Some((name, path.strip_suffix("/Cargo.toml")?))
        });
        let files = tree.handwritten().filter_map(|(path, text)| {
            let path = path.strip_suffix(".rs")?;
            Some((path, defined(text).collect()))
        });
        Self {
            crates: crates.collect(),
            files: files.collect(),
        }
    }

    /// Why a text that looks like the path of a module is none.
    fn lost(&self, cited: &str) -> Option<String> {
        let letters = |letter: char| letter.is_ascii_alphanumeric() || "_:…".contains(letter);
        let is_lower = cited.starts_with(|letter: char| letter.is_ascii_lowercase());
        let (first, rest) = cited.split_once("::").filter(|_| is_lower)?;
        // Generated modules are not among what people wrote.
        let is_version = first.starts_with("v20");
        if !cited.chars().all(letters) || is_version || OTHERS.contains(&first) {
            return None;
        }
        let mut places = self.beginnings(first);
        for part in rest.split("::") {
            places = places
                .iter()
                .flat_map(|place| self.below(place, part))
                .collect();
            if places.is_empty() {
                return Some(format!(
                    "there is no `{part}` of `{cited}`. Correct it, or take it out."
                ));
            }
        }
        None
    }

    /// Where a path may begin: folders of crates, and modules.
    fn beginnings(&self, name: &str) -> BTreeSet<&'t str> {
        let wanted = name
            .strip_prefix("armature_")
            .unwrap_or(name)
            .replace('_', "-");
        let crates = self.crates.iter().filter(|(known, _)| *known == wanted);
        let modules = self.files.keys().flat_map(|path| {
            let places = folders_of(path).chain([*path]);
            places.filter(|place| place.rsplit('/').next() == Some(name))
        });
        crates.map(|(_, folder)| *folder).chain(modules).collect()
    }

    /// Modules of this name below a place, and the place itself where it defines something of this name.
    fn below(&self, place: &'t str, part: &str) -> BTreeSet<&'t str> {
        let (name, is_whole) = match part.strip_suffix('…') {
            Some(start) => (start, false),
            None => (part, true),
        };
        let fits = |found: &str| found == name || !is_whole && found.starts_with(name);
        let inside = self
            .files
            .range(place..)
            .take_while(|(path, _)| path.starts_with(place));
        let mut found = BTreeSet::new();
        for (path, defined) in inside {
            let rest = &path[place.len()..];
            if !rest.is_empty() && !rest.starts_with('/') {
                continue;
            }
            let mut end = place.len();
            for folder in rest.split('/').skip(1) {
                end += 1 + folder.len();
                if !matches!(folder, "src" | "tests" | "mod") {
                    found.extend(fits(folder).then_some(&path[..end]));
                    break;
                }
            }
            if defined.iter().any(|known| fits(known)) {
                found.insert(path);
                found.extend(path.get(..place.len()));
            }
        }
        found
    }
}

/// Names that a file defines.
fn defined(text: &str) -> impl Iterator<Item = &str> {
    DEFINING.iter().flat_map(|word| {
        text.split(word).skip(1).map(|rest| {
            let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
            &rest[..end.unwrap_or(rest.len())]
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(page: &str) -> Vec<String> {
        check(&Tree::of(&[
            ("docs/page.md", page),
            (
                "runtime/kubernetes/Cargo.toml",
                "name = \"armature-kubernetes\"\n",
            ),
            (
                "runtime/kubernetes/src/cache/filter.rs",
                "#[test]\nfn who_follows_a_change() {}\n",
            ),
            (
                "runtime/kubernetes/src/driver/tests/scopes.rs",
                "/// See `runtime/lost.rs` and `driver/tests`.\nfn a() {}\n",
            ),
        ]))
    }

    #[test]
    fn what_is_there_may_be_cited() {
        let comment = "runtime/kubernetes/src/driver/tests/scopes.rs:1: `runtime/lost.rs`";
        for page in [
            "`runtime/kubernetes` `kubernetes::cache` `cache::filter` `armature_kubernetes::cache`",
            "`kubernetes::cache::filter::who_follows_a_change` `driver::scopes::a` `filter::who_…`",
            "`a/b` `text/plain` `serde_json::Value` `Kind::Arm` `runtime/*/src`",
        ] {
            let found = faults(page);
            assert!(
                found.iter().all(|fault| fault.starts_with(comment)),
                "{page}: {found:?}"
            );
        }
    }

    #[test]
    fn what_is_not_there_is_told() {
        for page in [
            "`runtime/lost`",
            "`kubernetes::lost`",
            "`kubernetes::cache::filter::who_follows`",
            "`filter::nobody_…`",
            "`lost::filter`",
        ] {
            let found = faults(page);
            let of_page = found
                .iter()
                .filter(|fault| fault.starts_with("docs/page.md:1:"));
            assert_eq!(of_page.count(), 1, "{page}: {found:?}");
        }
    }
}

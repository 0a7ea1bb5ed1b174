//! No file imports another in a circle, and no folder either.
//!
//! Within a folder each file and each folder below is one node. `mod.rs`, `lib.rs`, `main.rs`, and a file `x.rs` beside
//! a folder `x/`, stand for their folder: what they declare or pass on with `pub use` is no import, and a name that
//! others take through them leads to the file that defines it.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::{self, Edges};
use crate::known::{Members, PATH};
use crate::modules::{Imports, Use};

/// A circle of a crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circle {
    /// Its files and folders; folders end with `/`.
    pub members: BTreeSet<String>,
    /// What it is and what closes it, in sentences.
    pub message: String,
}

impl Circle {
    /// Whether one of its members is a folder.
    pub fn has_folder(&self) -> bool {
        self.members.iter().any(|member| member.ends_with('/'))
    }
}

/// Most names that a message tells of one edge.
const NAMES: usize = 6;

/// All circles of a crate: among files, and among siblings of which one at least is a folder.
pub fn of(imports: &Imports) -> Vec<Circle> {
    let files = imports
        .edges
        .iter()
        .map(|((from, to), uses)| ((from.as_str(), to.as_str()), uses));
    let mut found = among(
        &files
            .map(|(edge, uses)| (edge, vec![(edge, uses)]))
            .collect(),
    );
    for siblings in folders(imports).values() {
        let circles = among(
            &siblings
                .iter()
                .map(|((from, to), uses)| ((from.as_str(), to.as_str()), uses.clone()))
                .collect(),
        );
        found.extend(circles.into_iter().filter(Circle::has_folder));
    }
    found
}

/// Compares what is found with what is known. A circle is known only with exactly its members.
pub fn compare(found: &[Circle], known: &[Members]) -> Vec<String> {
    let is_known = |circle: &Circle| known.iter().any(|one| one.members == circle.members);
    let is_found = |one: &Members| found.iter().any(|circle| circle.members == one.members);
    let new = found.iter().filter(|circle| !is_known(circle));
    let gone = known.iter().filter(|one| !is_found(one)).map(|one| {
        let members: Vec<&str> = one.members.iter().map(String::as_str).collect();
        format!(
            "{PATH} lists this circle, which is no longer there as it is written. Take it out of the list; if a smaller \
             one of them is left, write its members instead:\n  {}",
            members.join("\n  ")
        )
    });
    new.map(|circle| circle.message.clone())
        .chain(gone)
        .collect()
}

/// Which files' uses an edge stands for.
type Reasons<'a> = Vec<((&'a str, &'a str), &'a BTreeSet<Use>)>;

/// Edges among siblings, by the folder that they are in.
fn folders(imports: &Imports) -> BTreeMap<Vec<String>, BTreeMap<(String, String), Reasons<'_>>> {
    let names = nodes(imports);
    let mut found: BTreeMap<Vec<String>, BTreeMap<(String, String), Reasons<'_>>> = BTreeMap::new();
    for ((from, to), uses) in &imports.edges {
        let (source, target) = (&imports.paths[from], &imports.paths[to]);
        let shared = source
            .iter()
            .zip(target)
            .take_while(|(one, other)| one == other)
            .count();
        let node = |path: &[String]| names.get(&path[..=shared]).cloned().unwrap_or_default();
        found
            .entry(source[..shared].to_vec())
            .or_default()
            .entry((node(source), node(target)))
            .or_default()
            .push(((from, to), uses));
    }
    found
}

/// How each module is called: its folder if it has one, else its file.
fn nodes(imports: &Imports) -> BTreeMap<Vec<String>, String> {
    let mut names = BTreeMap::new();
    for (file, path) in &imports.paths {
        let is_folder = imports
            .paths
            .values()
            .any(|other| other.len() > path.len() && other.starts_with(path));
        let folder = file.trim_end_matches(".rs").trim_end_matches("/mod");
        let name = if is_folder {
            format!("{folder}/")
        } else {
            file.clone()
        };
        names.insert(path.clone(), name);
    }
    names
}

fn among(edges: &BTreeMap<(&str, &str), Reasons<'_>>) -> Vec<Circle> {
    let weight = |reasons: &Reasons<'_>| reasons.iter().map(|(_, uses)| uses.len()).sum();
    let weighted: Edges = edges
        .iter()
        .map(|((from, to), reasons)| (((*from).to_owned(), (*to).to_owned()), weight(reasons)))
        .collect();
    let circles = graph::circles(&weighted);
    circles
        .into_iter()
        .map(|circle| {
            let closing: Vec<String> = circle
                .closing
                .iter()
                .filter_map(|(from, to)| edges.get(&(from.as_str(), to.as_str())).map(|reasons| told(from, to, reasons)))
                .collect();
            let message = format!(
                "These import each other in a circle:\n  {}\nIt is closed by\n{}\nMove what is named there to a file that \
                 both may import, or hand it over as an argument, so that one side no longer knows the other.",
                circle.members.join("\n  "),
                closing.join("\n")
            );
            Circle { members: circle.members.into_iter().collect(), message }
        })
        .collect()
}

fn told(from: &str, to: &str, reasons: &Reasons<'_>) -> String {
    let uses = reasons.iter().flat_map(|((file, target), uses)| {
        let of = if *target == to {
            String::new()
        } else {
            format!(" of {target}")
        };
        uses.iter()
            .map(move |of_use| format!("{} at {file}:{}{of}", of_use.name, of_use.line))
    });
    let all: Vec<String> = uses.collect();
    let more = match all.len().saturating_sub(NAMES) {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    format!(
        "  {from} -> {to}: {}{more}",
        all[..all.len().min(NAMES)].join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::Modules;
    use crate::source::Source;
    use crate::tree::Tree;

    fn circles(files: &[(&str, &str)]) -> Vec<Circle> {
        let tree = Tree::of(files);
        let sources = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), Source::read(text).unwrap()))
            .collect();
        of(&Modules::of(&tree, &sources, "c/lib.rs").imports())
    }

    fn members(circle: &Circle) -> Vec<&str> {
        circle.members.iter().map(String::as_str).collect()
    }

    #[test]
    fn two_files_that_import_each_other_are_a_circle() {
        let found = circles(&[
            ("c/lib.rs", "mod a; mod b;"),
            ("c/a.rs", "use crate::b::{B, C};\npub struct A;"),
            (
                "c/b.rs",
                "pub struct B; pub struct C;\nfn f() -> super::a::A {}",
            ),
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!(members(&found[0]), ["c/a.rs", "c/b.rs"]);
        assert!(
            found[0]
                .message
                .contains("\n  c/b.rs -> c/a.rs: A at c/b.rs:2\n"),
            "{}",
            found[0].message
        );
    }

    #[test]
    fn two_folders_that_import_each_other_are_a_circle_though_no_files_are() {
        let found = circles(&[
            ("c/lib.rs", "mod x; mod y;"),
            ("c/x/mod.rs", "mod one; mod two;"),
            ("c/x/one.rs", "use crate::y::three::Three;"),
            ("c/x/two.rs", "pub struct Two;"),
            ("c/y.rs", "pub mod three; mod four;"),
            ("c/y/three.rs", "pub struct Three;"),
            (
                "c/y/four.rs",
                "fn f() { crate::x::two::Two; crate::x::two::g(); }",
            ),
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!(members(&found[0]), ["c/x/", "c/y/"]);
        assert!(
            found[0]
                .message
                .contains("\n  c/x/ -> c/y/: Three at c/x/one.rs:1 of c/y/three.rs\n"),
            "{}",
            found[0].message
        );
    }

    #[test]
    fn a_known_circle_is_told_once_it_is_another_one() {
        let found = circles(&[
            ("c/lib.rs", "mod a; mod b;"),
            ("c/a.rs", "use crate::b::B; pub struct A;"),
            ("c/b.rs", "use crate::a::A; pub struct B;"),
        ]);
        let known = |members: &[&str]| Members {
            members: members.iter().map(|member| (*member).to_owned()).collect(),
        };
        assert_eq!(
            compare(&found, &[known(&["c/a.rs", "c/b.rs"])]),
            Vec::<String>::new()
        );
        assert_eq!(compare(&found, &[]).len(), 1);
        let told = compare(&found, &[known(&["c/a.rs", "c/b.rs", "c/d.rs"])]);
        assert_eq!(told.len(), 2);
        assert!(told[1].contains("which is no longer there as it is written"));
    }

    #[test]
    fn what_goes_one_way_is_no_circle() {
        let found = circles(&[
            ("c/lib.rs", "mod x; mod y; pub use x::One;"),
            (
                "c/x/mod.rs",
                "mod one; pub use one::One; pub use crate::y::Y;",
            ),
            (
                "c/x/one.rs",
                "use crate::y::Y; use super::Y as Again; pub struct One;",
            ),
            ("c/y.rs", "pub struct Y;"),
        ]);
        assert_eq!(found, []);
    }
}

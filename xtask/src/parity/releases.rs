//! What releases of Azure Service Operator after the one that is compared have added and removed: `specs/releases.toml`.
//!
//! There are no shapes of these, so nothing is compared path by path; the page says what of it is here.

use std::fmt::Write;

use anyhow::Context;
use camino::Utf8Path;
use serde::Deserialize;

use super::schema::Crds;
use crate::sources::RELEASES_FILE as FILE;
use crate::workspace;

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Releases {
    /// The release whose CRDs are compared.
    compared: String,
    /// What later ones have changed.
    #[serde(default)]
    change: Vec<Change>,
}

/// Versions of a kind that a release has added or removed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    release: String,
    what: What,
    group: String,
    kind: String,
    versions: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum What {
    Added,
    Removed,
}

/// Reads what is known of releases in the workspace at `root`.
pub fn read(root: &Utf8Path) -> anyhow::Result<Releases> {
    parse(&workspace::read(&root.join(FILE))?).context(FILE)
}

fn parse(toml: &str) -> anyhow::Result<Releases> {
    toml::from_str(toml).context("what later releases have changed")
}

/// Whether CRDs have a version.
fn has(crds: &Crds, change: &Change, version: &str) -> bool {
    let group = crds.get(&format!("{}.azure.com", change.group));
    let versions = group.and_then(|kinds| kinds.get(&change.kind));
    versions.is_some_and(|versions| versions.contains_key(version))
}

impl Releases {
    /// Rows that do not go with what is compared, in sentences: the shapes are of another release than the file says.
    /// `is_whole`: all groups were compared; else there is nothing to say of the others.
    pub fn faults(&self, ours: &Crds, target: &Crds, is_whole: bool) -> Vec<String> {
        let mut faults = Vec::new();
        for change in self.change.iter().filter(|_| is_whole) {
            for version in &change.versions {
                let of = format!("{} {} {version}", change.group, change.kind);
                let is_there = has(target, change, version);
                if is_there == (change.what == What::Added) {
                    let state = if is_there { "has" } else { "does not have" };
                    faults.push(format!(
                        "{FILE} says that {} {} {of}, and what is compared {state} it: remove the row, or correct `compared`",
                        change.release,
                        change.what.verb(),
                    ));
                }
                if change.what == What::Added && !has(ours, change, version) {
                    faults.push(format!(
                        "{} has {of}, and it is not here: add it to specs/{}/group.toml",
                        change.release, change.group
                    ));
                }
            }
        }
        faults
    }

    /// The part of the page about them; empty where there is nothing to tell.
    pub fn section(&self, ours: &Crds) -> String {
        if self.change.is_empty() {
            return String::new();
        }
        let mut page = format!(
            "\n## Later releases\n\nThe CRDs that are compared are those of {}. What `{FILE}` knows of later releases, beside the \
             sums above:\n\n| release | group | kind | versions | here |\n|---|---|---|---|---|\n",
            self.compared
        );
        for change in &self.change {
            let is_here = change.versions.iter().map(|it| has(ours, change, it));
            let (here, all) = (is_here.filter(|it| *it).count(), change.versions.len());
            let here = match (change.what, here) {
                (What::Added, here) if here == all => "yes".to_owned(),
                (What::Removed, here) if here == all => "kept".to_owned(),
                (What::Removed, 0) => "gone, too".to_owned(),
                (_, here) => format!("{here} of {all}"),
            };
            let _ = writeln!(
                page,
                "| {} | {} | `{}` | {} {} | {here} |",
                change.release,
                change.group,
                change.kind,
                change.what.verb(),
                change.versions.join(", "),
            );
        }
        page
    }
}

impl What {
    fn verb(self) -> &'static str {
        match self {
            Self::Added => "adds",
            Self::Removed => "removes",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::schema::{Group, Version, Versions};

    const FILE: &str = r#"
compared = "v2.20"

[[change]]
release = "v2.21"
what = "added"
group = "shop"
kind = "Cart"
versions = ["v2"]

[[change]]
release = "v2.21"
what = "removed"
group = "shop"
kind = "Till"
versions = ["v1", "v2"]
"#;

    fn crds(kinds: &[(&str, &[&str])]) -> Crds {
        let kinds = kinds.iter().map(|(kind, versions)| {
            let versions = versions.iter();
            let versions = versions.map(|name| ((*name).to_owned(), Version::default()));
            ((*kind).to_owned(), versions.collect::<Versions>())
        });
        Crds::from([("shop.azure.com".to_owned(), kinds.collect::<Group>())])
    }

    #[test]
    fn what_a_later_release_adds_is_here_and_what_it_removes_may_stay() {
        let releases = parse(FILE).unwrap();
        let target = crds(&[("Cart", &["v1"]), ("Till", &["v1", "v2", "v3"])]);
        let ours = crds(&[("Cart", &["v1", "v2"]), ("Till", &["v1", "v2", "v3"])]);
        assert_eq!(releases.faults(&ours, &target, true), Vec::<String>::new());
        let section = releases.section(&ours);
        assert!(section.contains("| v2.21 | shop | `Cart` | adds v2 | yes |"));
        assert!(section.contains("| v2.21 | shop | `Till` | removes v1, v2 | kept |"));
        let fewer = crds(&[("Cart", &["v1", "v2"]), ("Till", &["v2", "v3"])]);
        assert_eq!(releases.faults(&fewer, &target, true), Vec::<String>::new());
        assert!(
            releases
                .section(&fewer)
                .contains("removes v1, v2 | 1 of 2 |")
        );
        let none = crds(&[("Cart", &["v1", "v2"])]);
        assert!(
            releases
                .section(&none)
                .contains("removes v1, v2 | gone, too |")
        );
    }

    #[test]
    fn rows_that_do_not_go_with_what_is_compared_are_told() {
        let releases = parse(FILE).unwrap();
        let target = crds(&[("Cart", &["v1"]), ("Till", &["v1", "v2"])]);
        let lacking = crds(&[("Cart", &["v1"]), ("Till", &["v1", "v2"])]);
        let [fault] = &releases.faults(&lacking, &target, true)[..] else {
            panic!("one fault");
        };
        assert!(
            fault.starts_with("v2.21 has shop Cart v2, and it is not here"),
            "{fault}"
        );
        let newer = crds(&[("Cart", &["v1", "v2"]), ("Till", &["v2"])]);
        let ours = crds(&[("Cart", &["v1", "v2"])]);
        let faults = releases.faults(&ours, &newer, true);
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].contains("adds shop Cart v2, and what is compared has it"));
        assert!(faults[1].contains("removes shop Till v1, and what is compared does not have it"));
    }
}

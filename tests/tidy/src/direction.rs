//! Crates depend on each other in one direction, that of `direction.toml`.

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::members::Member;
use crate::tree::Tree;

/// Where the table is.
pub const PATH: &str = "tests/tidy/direction.toml";

/// `direction.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Direction {
    /// What the tests of every crate may depend on, beside what the crate itself may.
    pub tests_may: Vec<String>,
    /// A row per crate, or per folder of crates.
    pub crates: Vec<Row>,
}

/// What one crate may depend on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Row {
    /// The folder of the crate; `folder/*` is every crate in the folder that has no row of its own.
    pub folder: String,
    /// Folders of crates, in the same form. `*` is every crate.
    pub may: Vec<String>,
    /// What its tests may depend on beside that, in the same form.
    #[serde(default)]
    pub tests_may: Vec<String>,
    /// Why.
    pub because: String,
}

/// Reads the table of this workspace.
pub fn read(tree: &Tree) -> Result<Direction> {
    let text = tree
        .text(PATH)
        .with_context(|| format!("there is no {PATH}"))?;
    toml::from_str(text).with_context(|| format!("{PATH} cannot be read"))
}

/// Dependencies against the direction.
pub fn check(members: &[Member], direction: &Direction) -> Vec<String> {
    let mut found = Vec::new();
    for member in members {
        let Some(row) = row(direction, &member.folder) else {
            found.push(format!(
                "{} has no row in {PATH}: say there which of our crates it may depend on, and why.",
                member.folder
            ));
            continue;
        };
        for on in &member.dependencies {
            let Some(target) = members.iter().find(|other| other.name == on.name) else {
                continue;
            };
            let allowed =
                |list: &[String]| list.iter().any(|pattern| fits(pattern, &target.folder));
            let in_tests = on.only_tests
                && (allowed(&direction.tests_may)
                    || allowed(&row.tests_may)
                    || target.folder == member.folder);
            if !allowed(&row.may) && !in_tests {
                found.push(format!(
                    "{}:{}: `{}` must not depend on `{}`. {} It may depend on: {}. Move what is needed to one of these, \
                     or hand it over as an argument.",
                    member.manifest(),
                    on.line,
                    member.name,
                    on.name,
                    row.because,
                    if row.may.is_empty() { "none of ours".to_owned() } else { row.may.join(", ") }
                ));
            }
        }
    }
    found
}

fn row<'d>(direction: &'d Direction, folder: &str) -> Option<&'d Row> {
    let exact = direction.crates.iter().find(|row| row.folder == folder);
    exact.or_else(|| {
        direction
            .crates
            .iter()
            .find(|row| fits(&row.folder, folder))
    })
}

fn fits(pattern: &str, folder: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => folder.starts_with(start),
        None => pattern == folder,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::members;

    const TABLE: &str = "tests-may = [\"tests/*\"]\n\
        [[crates]]\nfolder = \"top\"\nmay = [\"many/*\"]\nbecause = \"It is the top.\"\n\
        [[crates]]\nfolder = \"many/*\"\nmay = [\"low\"]\nbecause = \"They are data.\"\n\
        [[crates]]\nfolder = \"low\"\nmay = []\ntests-may = [\"top\"]\nbecause = \"All build on it.\"\n";

    fn found(low: &str, one: &str) -> Vec<String> {
        let tree = Tree::of(&[
            (
                "Cargo.toml",
                "[workspace]\nmembers = [\"low\", \"many/*\", \"tests/t\", \"top\"]\n",
            ),
            (
                "low/Cargo.toml",
                &format!("[package]\nname = \"a-low\"\n{low}"),
            ),
            (
                "many/one/Cargo.toml",
                &format!("[package]\nname = \"a-one\"\n{one}"),
            ),
            ("tests/t/Cargo.toml", "[package]\nname = \"a-t\"\n"),
            ("top/Cargo.toml", "[package]\nname = \"a-top\"\n"),
        ]);
        check(&members(&tree).unwrap(), &toml::from_str(TABLE).unwrap())
    }

    #[test]
    fn a_dependency_upwards_is_told_with_its_line() {
        let told = found("[dependencies]\na-one.workspace = true\n", "");
        assert!(
            told[0].starts_with("low/Cargo.toml:4: `a-low` must not depend on `a-one`. All build on it. It may depend on: none of ours."),
            "{told:?}"
        );
    }

    #[test]
    fn a_crate_without_a_row_is_told() {
        let told = found("", "[dependencies]\na-low.workspace = true\n");
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("tests/t has no row in"));
    }

    #[test]
    fn tests_may_see_more() {
        let line = "a-t.workspace = true\n";
        assert_eq!(found("", &format!("[dev-dependencies]\n{line}")).len(), 1);
        assert_eq!(found("", &format!("[dependencies]\n{line}")).len(), 2);
    }

    #[test]
    fn tests_of_one_crate_may_see_what_its_row_says() {
        let line = "a-top.workspace = true\n";
        let dev = format!("[dev-dependencies]\n{line}");
        assert_eq!(found(&dev, "").len(), 1);
        assert_eq!(found(&dev, &dev).len(), 2);
        assert_eq!(found(&format!("[dependencies]\n{line}"), "").len(), 2);
    }
}

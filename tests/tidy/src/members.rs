//! The crates of a workspace, from its manifests.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow};
use toml::de::{DeTable, DeValue};

use crate::tree::Tree;

/// One crate of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The folder of its manifest, from the root of the workspace.
    pub folder: String,
    /// Name of its package.
    pub name: String,
    /// Crates of the workspace that its manifest names.
    pub dependencies: Vec<Dependency>,
    /// Whether it takes its lints from the workspace.
    pub workspace_lints: bool,
}

/// A dependency on another crate of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// Name of the package.
    pub name: String,
    /// Line of the manifest.
    pub line: usize,
    /// Whether only tests and benches see it.
    pub only_tests: bool,
}

impl Member {
    /// Path of its manifest.
    pub fn manifest(&self) -> String {
        format!("{}/Cargo.toml", self.folder)
    }

    /// Files that a module tree begins with.
    pub fn roots(&self, tree: &Tree) -> Vec<String> {
        let source = format!("{}/src", self.folder);
        let fixed = ["lib.rs", "main.rs"].map(|file| format!("{source}/{file}"));
        let binaries = format!("{source}/bin/");
        let mut roots: Vec<String> = fixed.into_iter().filter(|path| tree.has(path)).collect();
        let inside = tree.files(&binaries, ".rs").map(|(path, _)| path);
        roots.extend(
            inside
                .filter(|path| {
                    let rest = &path[binaries.len()..];
                    !rest.contains('/')
                        || (rest.matches('/').count() == 1 && rest.ends_with("/main.rs"))
                })
                .map(str::to_owned),
        );
        roots
    }
}

/// All crates that the manifest at the root lists.
pub fn members(tree: &Tree) -> Result<Vec<Member>> {
    let root = parse(tree, "Cargo.toml")?;
    let listed = strings(&root, &["workspace", "members"])?;
    let excluded = strings(&root, &["workspace", "exclude"]).unwrap_or_default();
    let mut folders = Vec::new();
    for pattern in listed {
        match pattern.strip_suffix("/*") {
            Some(parent) => folders.extend(children(tree, parent)),
            None => folders.push(pattern),
        }
    }
    folders.retain(|folder| !excluded.contains(folder));
    folders.dedup();
    let mut names = BTreeMap::new();
    for folder in &folders {
        let path = format!("{folder}/Cargo.toml");
        let manifest = parse(tree, &path)?;
        let name = find(&manifest, &["package", "name"])
            .and_then(|value| value.as_str().map(str::to_owned))
            .ok_or_else(|| anyhow!("{path} has no [package] name: say what the crate is called"))?;
        names.insert(name, folder.clone());
    }
    names
        .iter()
        .map(|(name, folder)| member(tree, folder, name, &names))
        .collect()
}

fn member(
    tree: &Tree,
    folder: &str,
    name: &str,
    names: &BTreeMap<String, String>,
) -> Result<Member> {
    let path = format!("{folder}/Cargo.toml");
    let text = tree.text(&path).unwrap_or_default();
    let manifest = parse(tree, &path)?;
    let mut dependencies = Vec::new();
    for (table, only_tests) in [
        ("dependencies", false),
        ("build-dependencies", false),
        ("dev-dependencies", true),
    ] {
        let Some(DeValue::Table(entries)) = find(&manifest, &[table]) else {
            continue;
        };
        for (key, value) in entries {
            let renamed = value
                .get_ref()
                .get("package")
                .and_then(|package| package.get_ref().as_str());
            let package = renamed.unwrap_or(key.get_ref().as_ref());
            if names.contains_key(package) {
                let line = text[..key.span().start].matches('\n').count() + 1;
                dependencies.push(Dependency {
                    name: package.to_owned(),
                    line,
                    only_tests,
                });
            }
        }
    }
    dependencies.sort_by_key(|dependency| dependency.line);
    let workspace_lints =
        find(&manifest, &["lints", "workspace"]).and_then(DeValue::as_bool) == Some(true);
    Ok(Member {
        folder: folder.to_owned(),
        name: name.to_owned(),
        dependencies,
        workspace_lints,
    })
}

fn parse<'a>(tree: &'a Tree, path: &str) -> Result<DeTable<'a>> {
    let text = tree.text(path).with_context(|| {
        format!("there is no {path}: the workspace lists the folder, so give it a manifest")
    })?;
    let parsed = DeTable::parse(text).with_context(|| format!("{path} cannot be read as TOML"))?;
    Ok(parsed.into_inner())
}

fn find<'t, 'a>(table: &'t DeTable<'a>, keys: &[&str]) -> Option<&'t DeValue<'a>> {
    let (first, rest) = keys.split_first()?;
    let value = table.get(*first)?.get_ref();
    if rest.is_empty() {
        Some(value)
    } else {
        find(value.as_table()?, rest)
    }
}

fn strings(table: &DeTable<'_>, keys: &[&str]) -> Result<Vec<String>> {
    let missing = || {
        anyhow!(
            "the manifest of the workspace has no list {}",
            keys.join(".")
        )
    };
    let list = find(table, keys)
        .and_then(DeValue::as_array)
        .ok_or_else(missing)?;
    list.iter()
        .map(|item| {
            item.get_ref()
                .as_str()
                .map(str::to_owned)
                .ok_or_else(missing)
        })
        .collect()
}

/// Folders right below this one that have a manifest.
fn children(tree: &Tree, parent: &str) -> Vec<String> {
    let start = format!("{parent}/");
    tree.files(&start, "/Cargo.toml")
        .filter_map(|(path, _)| path.strip_suffix("/Cargo.toml"))
        .filter(|folder| !folder[start.len()..].contains('/'))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_by_pattern_with_their_dependencies() {
        let tree = Tree::of(&[
            (
                "Cargo.toml",
                "[workspace]\nmembers = [\"low\", \"many/*\"]\nexclude = [\"many/out\"]\n",
            ),
            (
                "low/Cargo.toml",
                "[package]\nname = \"a-low\"\n[lints]\nworkspace = true\n",
            ),
            (
                "many/one/Cargo.toml",
                "[package]\nname = \"a-one\"\n\n[dependencies]\nserde = \"1\"\nl = { package = \"a-low\", path = \"\" }\n\
                 [dev-dependencies]\na-low.workspace = true\n",
            ),
            (
                "many/one/deep/Cargo.toml",
                "[package]\nname = \"not-listed\"\n",
            ),
            ("many/out/Cargo.toml", "[package]\nname = \"a-out\"\n"),
        ]);
        let members = members(&tree).unwrap();
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        assert_eq!(names, ["a-low", "a-one"]);
        assert!(members[0].workspace_lints && !members[1].workspace_lints);
        let lines: Vec<(usize, bool)> = members[1]
            .dependencies
            .iter()
            .map(|on| (on.line, on.only_tests))
            .collect();
        assert_eq!(lines, [(6, false), (8, true)]);
    }

    #[test]
    fn a_member_without_a_manifest_is_an_error() {
        let tree = Tree::of(&[("Cargo.toml", "[workspace]\nmembers = [\"low\"]\n")]);
        assert!(
            members(&tree)
                .unwrap_err()
                .to_string()
                .contains("there is no low/Cargo.toml")
        );
    }
}

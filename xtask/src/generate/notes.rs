//! What the pages of kinds tell beside the specs: their samples, and their handwritten extensions.
//!
//! Samples are read from the files that are applied, and extensions from the page that maps each to its file and test.

use std::collections::BTreeMap;

use armature_generator::emit::{Example, Extension, Notes};
use camino::{Utf8Path, Utf8PathBuf};

use crate::workspace;

/// Folder of samples, of which [`QUICK_START`] is for all groups.
const SAMPLES: &str = "samples";
const QUICK_START: &str = "quick-start";

/// The page about extensions, by kind.
const CUSTOMIZATIONS: &str = "docs/customizations.md";

/// Reads both.
pub fn read(root: &Utf8Path) -> anyhow::Result<Notes> {
    let mut notes = Notes::default();
    for (path, text) in files(root, SAMPLES, "yaml")? {
        examples(&path, &text, &mut notes);
    }
    for (group, kind, extension) in extensions(&workspace::read(&root.join(CUSTOMIZATIONS))?) {
        notes.of_mut(&group, &kind).extensions.push(extension);
    }
    Ok(notes)
}

/// Files below a folder with this suffix, relative to the workspace, with their text.
fn files(
    root: &Utf8Path,
    folder: &str,
    suffix: &str,
) -> anyhow::Result<BTreeMap<Utf8PathBuf, String>> {
    let mut found = BTreeMap::new();
    for file in workspace::files_below(&root.join(folder))? {
        if file.extension() == Some(suffix) {
            let path = Utf8Path::new(folder).join(file);
            let text = workspace::read(&root.join(&path))?;
            found.insert(path, text);
        }
    }
    Ok(found)
}

/// Notes the first manifest of each kind, one in the folder of its group before all others, and the quick start last.
fn examples(path: &Utf8Path, text: &str, notes: &mut Notes) {
    for document in text.split("\n---") {
        let value = |name: &str| {
            let mut lines = document.lines();
            lines.find_map(|line| line.strip_prefix(name).map(str::trim))
        };
        let (Some(api_version), Some(kind)) = (value("apiVersion:"), value("kind:")) else {
            continue;
        };
        let Some((group, _)) = api_version.split_once(".azure.com/") else {
            continue;
        };
        let rank = |path: &str| {
            let folder = path.split('/').nth(1).unwrap_or_default();
            match folder {
                folder if folder == group => 0,
                QUICK_START => 2,
                _ => 1,
            }
        };
        let example = &mut notes.of_mut(group, kind).example;
        let is_better = |known: &Example| rank(path.as_str()) < rank(&known.file);
        if example.as_ref().is_none_or(is_better) {
            *example = Some(Example {
                file: path.to_string(),
                text: document.trim_matches(['\n', '-']).trim_end().to_owned(),
            });
        }
    }
}

/// Kinds, each with its group, and the extensions that the tables of a page of customizations tell of. What is data alone,
/// in a curation file, is left out: pages tell that from the curation itself.
fn extensions(page: &str) -> Vec<(String, String, Extension)> {
    let mut found = Vec::new();
    let (mut about, mut before) = ("", String::new());
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            (about, before) = (title, String::new());
            continue;
        }
        let Some(cells) = line.strip_prefix("| ").map(|row| row.split(" | ")) else {
            continue;
        };
        let cells = cells.collect::<Vec<_>>();
        let [kinds, what, here, _test] = cells[..] else {
            continue;
        };
        // "the same" is what the row before says.
        let what = what.replacen("the same", &before, 1);
        before.clone_from(&what);
        if !here.starts_with("`customizations/") {
            continue;
        }
        for (group, kind) in kinds_of(kinds) {
            let extension = Extension {
                about: about.to_owned(),
                what: what.clone(),
                files: here.to_owned(),
            };
            found.push((group, kind, extension));
        }
    }
    found
}

/// Groups and kinds of a cell: `sql Server, Database; cache Redis`.
fn kinds_of(cell: &str) -> Vec<(String, String)> {
    let mut kinds = Vec::new();
    for part in cell.split("; ") {
        let (group, names) = part.split_once(' ').unwrap_or((part, ""));
        let names = names.split(", ");
        let names = names.map(|name| name.split(" (").next().unwrap_or(name));
        kinds.extend(names.map(|name| (group.to_owned(), name.to_owned())));
    }
    kinds
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_best_manifest_of_a_kind_is_its_example() {
        let mut notes = Notes::default();
        let manifest = |kind: &str, name: &str| {
            format!("apiVersion: shop.azure.com/v1\nkind: {kind}\nmetadata:\n  name: {name}\n")
        };
        let all = format!("{}---\n{}", manifest("Cart", "a"), manifest("Till", "b"));
        for (path, text) in [
            ("samples/quick-start/1.yaml", &all),
            ("samples/shop/2.yaml", &manifest("Cart", "c")),
            ("samples/tax/3.yaml", &manifest("Till", "d")),
            (
                "samples/tax/4.yaml",
                &"apiVersion: v1\nkind: Secret\n".to_owned(),
            ),
        ] {
            examples(Utf8Path::new(path), text, &mut notes);
        }
        let example = |kind: &str| notes.of("shop", kind).example.expect(kind);
        assert_eq!(example("Cart").file, "samples/shop/2.yaml");
        assert_eq!(example("Cart").text, manifest("Cart", "c").trim_end());
        assert_eq!(example("Till").file, "samples/tax/3.yaml");
    }

    #[test]
    fn rows_of_customizations_are_told_by_kind() {
        let page = "# Page\n\n## Before a PUT\n\n| kind | what it needs | here | test |\n|---|---|---|---|\n\
                    | shop Till | takes changes when it is shut | `customizations/src/shop/mod.rs` | `a` `b` |\n\
                    | shop Cart, Bag (`size`); tax Form | the same, and waits | `customizations/src/shop/cart.rs` | `c` |\n\n\
                    ## Errors\n\n| kind | here |\n|---|---|\n| shop Till | `specs/shop/group.toml` |\n";
        let found = extensions(page);
        let told = found.iter().map(|(group, kind, extension)| {
            format!(
                "{group} {kind}: {}: {} ({})",
                extension.about, extension.what, extension.files
            )
        });
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                "shop Till: Before a PUT: takes changes when it is shut (`customizations/src/shop/mod.rs`)",
                "shop Cart: Before a PUT: takes changes when it is shut, and waits (`customizations/src/shop/cart.rs`)",
                "shop Bag: Before a PUT: takes changes when it is shut, and waits (`customizations/src/shop/cart.rs`)",
                "tax Form: Before a PUT: takes changes when it is shut, and waits (`customizations/src/shop/cart.rs`)",
            ]
        );
    }

    /// Each kind that an extension is typed on has a row, so no page keeps quiet about it.
    #[test]
    fn every_kind_that_has_an_extension_is_told_of() {
        let root = workspace::root().unwrap();
        let page = workspace::read(&root.join(CUSTOMIZATIONS)).unwrap();
        let told = extensions(&page).into_iter();
        let told = told
            .map(|(group, kind, _)| (group, kind))
            .collect::<BTreeSet<_>>();
        for (path, text) in files(&root, "customizations/src", "rs").unwrap() {
            // What follows is tests.
            let code = text.split("#[cfg(").next().unwrap_or_default();
            for import in code.split("use armature_generated::").skip(1) {
                let (group, rest) = import.split_once("::").unwrap();
                let names = rest.split(';').next().unwrap_or_default();
                let names = names.split(|letter: char| !letter.is_alphanumeric());
                for kind in names.filter_map(|name| name.strip_suffix("Kind")) {
                    // Its own changes are never held back: what it owns waits for it.
                    if (group, kind) == ("documentdb", "CassandraCluster") {
                        continue;
                    }
                    let key = (group.to_owned(), kind.to_owned());
                    assert!(
                        told.contains(&key),
                        "{CUSTOMIZATIONS} has no row of {group} {kind}, which {path} is for"
                    );
                }
            }
        }
    }
}

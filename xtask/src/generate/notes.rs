//! What the pages of kinds tell beside the specs: their samples, and their handwritten extensions.
//!
//! Both are read from the files that are applied and compiled, so no list has to follow them.

use std::collections::BTreeMap;

use armature_generator::emit::{Example, Extension, Notes};
use camino::{Utf8Path, Utf8PathBuf};

use crate::workspace;

/// Folder of samples, of which [`QUICK_START`] is for all groups.
const SAMPLES: &str = "samples";
const QUICK_START: &str = "quick-start";

/// Folder of extensions.
const EXTENSIONS: &str = "customizations/src";

/// Reads both.
pub fn read(root: &Utf8Path) -> anyhow::Result<Notes> {
    let mut notes = Notes::default();
    for (path, text) in files(root, SAMPLES, "yaml")? {
        examples(&path, &text, &mut notes);
    }
    for (path, text) in files(root, EXTENSIONS, "rs")? {
        let group = path.strip_prefix(EXTENSIONS)?.iter().next();
        for (kind, extension) in extensions(&path, &text) {
            let group = group.unwrap_or_default();
            notes.of_mut(group, &kind).extensions.push(extension);
        }
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

/// Kinds with the extensions that a file implements for them: each has the kind's type as its `Hub`.
fn extensions(path: &Utf8Path, text: &str) -> Vec<(String, Extension)> {
    let mut found = Vec::new();
    let mut implemented = None;
    // What follows is tests, with extensions of their own.
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("impl ")
            && let Some((point, name)) = rest.trim_end_matches('{').split_once(" for ")
        {
            implemented = Some((point.trim(), name.trim()));
        }
        let hub = line.strip_prefix("type Hub = ");
        let kind = hub.and_then(|hub| hub.strip_suffix("Kind;"));
        if let (Some(kind), Some((point, name))) = (kind, implemented) {
            let kind = kind.rsplit(':').next().unwrap_or(kind);
            let extension = Extension {
                file: path.to_string(),
                name: name.to_owned(),
                point: point.to_owned(),
                purpose: purpose(text),
            };
            found.push((kind.to_owned(), extension));
        }
    }
    found
}

/// The first sentence of what a file says of itself, which begins with the kind.
fn purpose(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let paragraph = lines.map(str::trim).take_while(|line| !line.is_empty());
    let paragraph = paragraph.collect::<Vec<_>>().join(" ");
    let sentence = match paragraph.split_once(". ") {
        Some((first, _)) => first.to_owned(),
        None => paragraph.trim_end_matches('.').to_owned(),
    };
    let sentence = sentence.replace('|', "\\|");
    match sentence.split_once(": ") {
        Some((kind, rest)) if !kind.contains(' ') => rest.to_owned(),
        _ => sentence,
    }
}

#[cfg(test)]
mod tests {
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
    fn an_extension_is_found_by_its_hub() {
        let text = "//! Till: nothing is sold while it is open. More of it.\n\nuse a::TillKind;\n\n\
                    impl PreReconciliationChecker for TillState {\n    type Hub = TillKind;\n}\n\
                    #[cfg(test)]\nmod tests {\n    impl PostChecker for X {\n        type Hub = CartKind;\n";
        let found = extensions(Utf8Path::new("customizations/src/shop/till.rs"), text);
        let [(kind, extension)] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(kind, "Till");
        assert_eq!(extension.name, "TillState");
        assert_eq!(extension.point, "PreReconciliationChecker");
        assert_eq!(extension.purpose, "nothing is sold while it is open");
    }
}

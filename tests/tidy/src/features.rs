//! Every generated group is in the operator: a group whose feature is missing there would be left out without a word.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::tree::Tree;

const GROUPS: &str = "generated/all/Cargo.toml";
const EXTENSIONS: &str = "customizations/Cargo.toml";
const OPERATOR: &str = "operator/Cargo.toml";

#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    features: BTreeMap<String, BTreeSet<String>>,
}

fn features(tree: &Tree, path: &str) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let text = tree
        .text(path)
        .with_context(|| format!("there is no {path}"))?;
    let manifest: Manifest = toml::from_str(text).with_context(|| path.to_owned())?;
    Ok(manifest.features)
}

/// Groups that the operator's features leave out, in part or as a whole.
///
/// # Errors
/// When one of the three manifests is missing or cannot be read.
pub fn check(tree: &Tree) -> Result<Vec<String>> {
    let (groups, extensions) = (features(tree, GROUPS)?, features(tree, EXTENSIONS)?);
    let operator = features(tree, OPERATOR)?;
    let none = BTreeSet::new();
    let default = operator.get("default").unwrap_or(&none);
    let mut found = Vec::new();
    for group in groups.keys().filter(|name| *name != "default") {
        let mut needed = BTreeSet::from([format!("armature-generated/{group}")]);
        if extensions.contains_key(group) {
            needed.insert(format!("armature-customizations/{group}"));
        }
        let has = operator.get(group).unwrap_or(&none);
        if !needed.is_subset(has) || !default.contains(group) {
            found.push(format!(
                "{OPERATOR} leaves out the group {group}, or part of it. Add `{group} = {needed:?}` to its features, and \
                 \"{group}\" to `default`."
            ));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(operator: &str) -> Vec<String> {
        let groups = "[features]\ndefault = [\"a\", \"b\"]\na = []\nb = []\n";
        let tree = Tree::of(&[
            (GROUPS, groups),
            (EXTENSIONS, "[features]\ndefault = [\"b\"]\nb = []\n"),
            (OPERATOR, operator),
        ]);
        check(&tree).unwrap()
    }

    #[test]
    fn a_group_without_its_feature_its_extensions_or_the_default_is_told() {
        let a = "a = [\"armature-generated/a\"]";
        let b = "b = [\"armature-generated/b\", \"armature-customizations/b\"]";
        let whole = format!("[features]\ndefault = [\"a\", \"b\"]\n{a}\n{b}\n");
        assert_eq!(found(&whole), [""; 0]);
        assert_eq!(found("").len(), 2);
        let without_extension = whole.replace(", \"armature-customizations/b\"", "");
        assert!(found(&without_extension)[0].contains("the group b"));
        let not_default = whole.replace("[\"a\", \"b\"]", "[\"b\"]");
        assert!(found(&not_default)[0].contains("the group a"));
    }
}

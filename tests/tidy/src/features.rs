//! Every generated group is in the operator: a group whose feature is missing there would be left out without a word. And
//! the image has each of them built for size.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::tree::Tree;

const GROUPS: &str = "generated/all/Cargo.toml";
const EXTENSIONS: &str = "customizations/Cargo.toml";
const OPERATOR: &str = "operator/Cargo.toml";
const WORKSPACE: &str = "Cargo.toml";

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

/// The part of the workspace's manifest about the image.
#[derive(Deserialize)]
struct Profiles {
    #[serde(default)]
    profile: BTreeMap<String, Profile>,
}

#[derive(Default, Deserialize)]
struct Profile {
    #[serde(default)]
    package: BTreeMap<String, toml::Table>,
}

/// Packages whose level of optimisation is said for the profile `image`.
fn sized(tree: &Tree) -> Result<BTreeSet<String>> {
    let text = tree.text(WORKSPACE).context("there is no Cargo.toml")?;
    let mut profiles: Profiles = toml::from_str(text).context(WORKSPACE)?;
    let image = profiles.profile.remove("image").unwrap_or_default();
    let packages = image.package.into_iter();
    let sized = packages.filter(|(_, rules)| rules.contains_key("opt-level"));
    Ok(sized.map(|(name, _)| name).collect())
}

/// Groups that the operator's features leave out, in part or as a whole, or that the image has built for speed.
///
/// # Errors
/// When one of the four manifests is missing or cannot be read.
pub fn check(tree: &Tree) -> Result<Vec<String>> {
    let (groups, extensions) = (features(tree, GROUPS)?, features(tree, EXTENSIONS)?);
    let (operator, sized) = (features(tree, OPERATOR)?, sized(tree)?);
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
        let package = format!("armature-{group}");
        if !sized.contains(&package) {
            found.push(format!(
                "{WORKSPACE} has {package} built for speed in the image, whose size it is most of. Add \
                 `{package}.opt-level = \"s\"` to [profile.image.package]."
            ));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZED: &str =
        "[profile.image.package]\narmature-a.opt-level = \"s\"\narmature-b.opt-level = \"s\"\n";

    fn found(operator: &str) -> Vec<String> {
        found_in(operator, SIZED)
    }

    fn found_in(operator: &str, workspace: &str) -> Vec<String> {
        let groups = "[features]\ndefault = [\"a\", \"b\"]\na = []\nb = []\n";
        let tree = Tree::of(&[
            (GROUPS, groups),
            (EXTENSIONS, "[features]\ndefault = [\"b\"]\nb = []\n"),
            (OPERATOR, operator),
            (WORKSPACE, workspace),
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
        let in_part = SIZED.replace("armature-b", "armature-c");
        let [told] = &found_in(&whole, &in_part)[..] else {
            panic!("one group is not built for size");
        };
        assert!(told.contains("armature-b.opt-level"), "{told}");
    }
}

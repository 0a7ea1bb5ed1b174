//! Reads `crd-shapes/<group>.json`: kind → `names`, `printerColumns` and `versions` → path → facts, or `same-as`
//! another version of the kind.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value};

use super::schema::{Crds, Facts, Group, Paths, Version, allowed, definition, limits};
use super::selection::is_wanted;
use crate::{sources, workspace};

/// Folder of the target's shapes, and where it comes from.
pub fn folder(root: &Utf8Path, from: Option<&Utf8Path>) -> (Utf8PathBuf, sources::Origin) {
    let (data, origin) = sources::data_folder(root, from);
    (data.join("crd-shapes"), origin)
}

/// The target of a group; a group that the target does not have has no kinds there.
pub fn read(file: &Utf8Path) -> anyhow::Result<Group> {
    if !file.is_file() {
        return Ok(Group::new());
    }
    parse(&workspace::read(file)?)
        .with_context(|| format!("{file} is not in the form of crd-shapes"))
}

/// The target of every group that is wanted, of those that it has.
pub fn read_all(folder: &Utf8Path, wanted: &[String]) -> anyhow::Result<Crds> {
    let mut targets = Crds::new();
    for file in workspace::files_below(folder)? {
        if let Some(group) = file.as_str().strip_suffix(".json")
            && is_wanted(group, wanted)
        {
            targets.insert(group.to_owned(), read(&folder.join(&file))?);
        }
    }
    Ok(targets)
}

/// Parses the file of one group.
pub fn parse(text: &str) -> anyhow::Result<Group> {
    let document: BTreeMap<String, Value> = serde_json::from_str(text)?;
    document
        .into_iter()
        .map(|(kind, entry)| {
            let versions = entry["versions"]
                .as_object()
                .with_context(|| format!("{kind} has no `versions`"))?;
            let definition = definition(&entry["names"], &entry["printerColumns"]);
            let version = |name: &String| {
                let paths = paths(versions, name)?;
                let definition = definition.clone();
                Ok((name.clone(), Version { definition, paths }))
            };
            let versions = versions
                .keys()
                .map(version)
                .collect::<anyhow::Result<_>>()
                .with_context(|| kind.clone())?;
            Ok((kind, versions))
        })
        .collect()
}

fn paths(versions: &Map<String, Value>, name: &str) -> anyhow::Result<Paths> {
    let mut current = name;
    // A chain longer than the versions there are is a circle.
    for _ in 0..=versions.len() {
        let entry = versions
            .get(current)
            .and_then(Value::as_object)
            .with_context(|| format!("there is no version {current}"))?;
        let Some(other) = entry.get("same-as") else {
            let fact = |(path, value): (&String, &Value)| (path.clone(), facts(value));
            return Ok(entry.iter().map(fact).collect());
        };
        current = other.as_str().context("`same-as` is not a version")?;
    }
    anyhow::bail!("`same-as` of {name} goes round in a circle")
}

fn facts(value: &Value) -> Facts {
    Facts {
        value_type: value["type"].as_str().map(str::to_owned),
        allowed: allowed(&value["enum"]),
        known: BTreeSet::new(),
        required: value["required"] == true,
        limits: limits(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_as_is_followed() {
        let text = r#"{"Thing": {"names": {"plural": "things"}, "versions": {
            "v1": {"spec.a": {"type": "string", "required": true, "minLength": 1}, "spec.b": {"anything": true}},
            "v2": {"same-as": "v1"},
            "v3": {"same-as": "v2"}}}}"#;
        let group = parse(text).unwrap();
        assert_eq!(group["Thing"]["v3"], group["Thing"]["v1"]);
        let version = &group["Thing"]["v3"];
        assert!(version.paths["spec.a"].required);
        assert_eq!(version.paths["spec.a"].limits["minLength"], 1);
        assert_eq!(version.paths["spec.b"].value_type, None);
        assert_eq!(version.definition["names.plural"], "things");
    }

    #[test]
    fn a_circle_is_an_error() {
        let text = r#"{"Thing": {"versions": {"v1": {"same-as": "v2"}, "v2": {"same-as": "v1"}}}}"#;
        let error = format!("{:#}", parse(text).unwrap_err());
        assert!(error.contains("circle"), "{error}");
    }
}

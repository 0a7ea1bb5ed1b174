//! Kinds by what people call them.

use anyhow::{anyhow, bail};
use armature_runtime::kind::{KindInfo, VersionInfo};
use armature_runtime::shape::nearest;

use crate::worlds::manifests::known_kinds::nearest_kind;

/// The end of all our groups.
const GROUP_END: &str = ".azure.com";

/// What is asked about: a kind in a version, and a way down from there.
#[derive(Clone, Debug)]
pub struct Topic {
    /// The kind.
    pub kind: &'static KindInfo,
    /// The version.
    pub version: &'static VersionInfo,
    /// Names of properties from `spec` or `status` down; empty for the kind itself.
    pub path: Vec<String>,
}

impl Topic {
    /// Reads `KIND.path`, where the kind may have its group before it (`storage/StorageAccount`) and be written as kubectl takes
    /// it (`storageaccounts`). A path that begins with neither `spec` nor `status` is one of the spec.
    ///
    /// # Errors
    /// When there is no such kind or version, or several groups have one.
    pub fn read(
        text: &str,
        version: Option<&str>,
        kinds: &[&'static KindInfo],
    ) -> anyhow::Result<Self> {
        let (group, rest) = match text.split_once('/') {
            Some((group, rest)) => (Some(group), rest),
            None => (None, text),
        };
        let mut names = rest.split('.').map(str::to_owned);
        let name = names.next().unwrap_or_default();
        let mut path: Vec<String> = names.filter(|name| !name.is_empty()).collect();
        if !path.is_empty() && !["spec", "status"].contains(&path[0].as_str()) {
            path.insert(0, "spec".to_owned());
        }
        let kind = one(group, &name, kinds)?;
        Ok(Self {
            kind,
            version: version_of(kind, version)?,
            path,
        })
    }
}

fn one(
    group: Option<&str>,
    name: &str,
    kinds: &[&'static KindInfo],
) -> anyhow::Result<&'static KindInfo> {
    let is_called = |kind: &&&'static KindInfo| {
        let is_name =
            kind.kind.eq_ignore_ascii_case(name) || kind.plural.eq_ignore_ascii_case(name);
        is_name && group.is_none_or(|group| is_group(kind, group))
    };
    let found: Vec<&'static KindInfo> = kinds.iter().filter(is_called).copied().collect();
    match found[..] {
        [kind] => Ok(kind),
        [] => {
            let in_group = |kind: &&&KindInfo| group.is_none_or(|group| is_group(kind, group));
            if let Some(group) = group
                && !kinds.iter().any(|kind| is_group(kind, group))
            {
                bail!(
                    "there is no group '{group}'{}",
                    hint(nearest(group, kinds.iter().map(|kind| kind.category)))
                );
            }
            let names = kinds.iter().filter(in_group).map(|kind| kind.kind);
            let hint = hint(nearest_kind(name, names));
            let place = group.map_or(String::new(), |group| format!(" in group '{group}'"));
            bail!("there is no kind '{name}'{place}{hint}")
        }
        _ => {
            let named: Vec<String> = found
                .iter()
                .map(|kind| format!("{}/{}", kind.category, kind.kind))
                .collect();
            bail!(
                "several groups have a kind '{name}': say {}",
                named.join(" or ")
            )
        }
    }
}

fn hint(near: Option<&str>) -> String {
    match near {
        Some(near) => format!(", did you mean '{near}'?"),
        None => "; `armature kinds` lists all".to_owned(),
    }
}

fn is_group(kind: &KindInfo, group: &str) -> bool {
    let short = kind.group.strip_suffix(GROUP_END);
    [Some(kind.group), short, Some(kind.category)].contains(&Some(group))
}

fn version_of(
    kind: &'static KindInfo,
    version: Option<&str>,
) -> anyhow::Result<&'static VersionInfo> {
    let Some(name) = version else {
        return newest(kind).ok_or_else(|| anyhow!("{} has no version", kind.kind));
    };
    let mut versions = kind.versions.iter();
    let found = versions.find(|known| known.name == name || known.api_version == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = kind.versions.iter().map(|known| known.name).collect();
        anyhow!(
            "{} has no version '{name}'; it has {}",
            kind.kind,
            names.join(", ")
        )
    })
}

/// The newest stable version that is served without being asked for, else the newest one of those.
pub fn newest(kind: &'static KindInfo) -> Option<&'static VersionInfo> {
    let is_stable = |version: &&VersionInfo| !version.name.contains("preview");
    let stable = kind.served_unasked().rev().find(is_stable);
    stable.or_else(|| kind.served_unasked().next_back())
}

/// What may have been meant by a pattern that nothing matches: a kind or a group that is written nearly so.
pub fn meant(pattern: &str, kinds: &[&'static KindInfo]) -> Option<&'static str> {
    let names = kinds.iter().flat_map(|kind| [kind.kind, kind.category]);
    nearest(pattern, names)
}

/// The kinds that match: a part of the group, the kind or the ARM type in any casing, in which `*` stands for anything.
pub fn matching(pattern: &str, kinds: &[&'static KindInfo]) -> Vec<&'static KindInfo> {
    let pattern = pattern.to_lowercase();
    let parts: Vec<&str> = pattern.split('*').collect();
    let is_in = |text: &str| {
        let mut rest = text;
        parts.iter().all(|part| match rest.find(part) {
            Some(at) => {
                rest = &rest[at + part.len()..];
                true
            }
            None => false,
        })
    };
    let matches = |kind: &&&'static KindInfo| {
        let name = format!("{}/{}", kind.group, kind.kind).to_lowercase();
        is_in(&name) || is_in(&kind.remote_type().to_lowercase())
    };
    kinds.iter().filter(matches).copied().collect()
}

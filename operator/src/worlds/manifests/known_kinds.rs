//! The kind and version that a manifest says it is, or what it probably means.

use std::collections::BTreeSet;

use armature_runtime::kind::{KindInfo, VersionInfo};
use armature_runtime::shape::nearest;

/// All kinds that there are.
#[derive(Clone, Debug, Default)]
pub struct KnownKinds(Vec<&'static KindInfo>);

impl KnownKinds {
    /// These kinds.
    pub fn new(kinds: &[&'static KindInfo]) -> Self {
        Self(kinds.to_vec())
    }

    /// The group of this name.
    pub fn group(&self, name: &str) -> Option<&'static str> {
        let mut groups = self.0.iter().map(|info| info.group);
        groups.find(|group| *group == name)
    }

    /// The kind of this group and name.
    pub fn get(&self, group: &str, kind: &str) -> Option<&'static KindInfo> {
        let mut kinds = self.0.iter().copied();
        kinds.find(|known| known.group == group && known.kind == kind)
    }

    /// The kind and version of a manifest.
    ///
    /// # Errors
    /// The path of what is unknown, and why.
    pub fn of_manifest(
        &self,
        api_version: &str,
        kind: &str,
    ) -> Result<(&'static KindInfo, &'static VersionInfo), (&'static str, String)> {
        let Some((group, version)) = api_version.split_once('/') else {
            let hint = match self.0.iter().find(|info| info.kind == kind) {
                Some(info) => {
                    let newest = info.served_unasked().next_back();
                    let newest = newest.map_or("", |version| version.name);
                    format!(", did you mean '{}/{newest}'?", info.group)
                }
                None => "; only Azure resources, Secrets and ConfigMaps are rendered".to_owned(),
            };
            let message = format!("there is no kind {kind} in '{api_version}'{hint}");
            return Err(("apiVersion", message));
        };
        let of_group: Vec<_> = self.0.iter().filter(|info| info.group == group).collect();
        if of_group.is_empty() {
            let message = format!("unknown group '{group}'{}", self.group_hint(group, kind));
            return Err(("apiVersion", message));
        }
        let Some(info) = of_group.iter().find(|info| info.kind == kind) else {
            let kinds = of_group.iter().map(|info| info.kind);
            let hint = match nearest_kind(kind, kinds.clone()) {
                Some(near) => format!(", did you mean '{near}'?"),
                None if self.0.iter().any(|info| info.kind == kind) => self.group_hint("", kind),
                None => known(kinds),
            };
            return Err(("kind", format!("unknown kind '{kind}' in {group}{hint}")));
        };
        match info.version(version) {
            Some(version) => Ok((info, version)),
            None => {
                let versions = info.versions.iter().map(|version| version.name);
                let hint = hint(version, versions);
                let message = format!("unknown version '{version}' of {kind}{hint}");
                Err(("apiVersion", message))
            }
        }
    }

    /// The group that the kind is in; else the nearest by its first word, as the rest is the same for all; else all.
    fn group_hint(&self, group: &str, kind: &str) -> String {
        fn short(group: &str) -> &str {
            group.split('.').next().unwrap_or_default()
        }
        let groups: BTreeSet<_> = self.0.iter().map(|info| info.group).collect();
        let of_kind = self.0.iter().find(|info| info.kind == kind);
        let near = || {
            let near = nearest(short(group), groups.iter().map(|group| short(group)))?;
            groups.iter().copied().find(|group| short(group) == near)
        };
        match of_kind.map(|info| info.group).or_else(near) {
            Some(group) => format!(", did you mean '{group}'?"),
            None => known(groups),
        }
    }
}

/// The kind that somebody means: the one whose name ends so, as people leave the parent's out (`Queue` for `NamespacesQueue`),
/// else the one that is spelled most like it.
pub fn nearest_kind<'a>(
    name: &str,
    kinds: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    let end = name.to_lowercase();
    let mut ending = kinds
        .clone()
        .filter(|kind| kind.to_lowercase().ends_with(&end));
    match (ending.next(), ending.next()) {
        (Some(one), None) => Some(one),
        _ => nearest(name, kinds),
    }
}

/// The nearest name, or all of them.
fn hint<'a>(name: &str, candidates: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(name, candidates.clone()) {
        Some(near) => format!(", did you mean '{near}'?"),
        None => known(candidates),
    }
}

/// Most names that are told at once.
const TOLD: usize = 12;

fn known<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().collect();
    let told = names.get(..TOLD).unwrap_or(&names).join(", ");
    match names.len().saturating_sub(TOLD) {
        0 => format!("; known are {told}"),
        more => format!("; known are {told} and {more} more"),
    }
}

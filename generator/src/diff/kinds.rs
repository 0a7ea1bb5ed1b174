//! Kinds and their versions: which there are. What a version holds is compared by [`super::resource`] and
//! [`super::types`].

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Collector, Place};
use super::side::Side;
use super::types::{Types, Walk};
use super::{Change, What, resource};
use crate::hub::storage_version;
use crate::model::{ApiVersion, Group, MissingType, Resource};

/// A kind by api-version.
type Members<'a> = BTreeMap<&'a ApiVersion, &'a Resource>;

/// Names of a group's kinds.
pub(super) fn names(group: &Group) -> String {
    let names = members(group).into_keys().map(|kind| format!("`{kind}`"));
    names.collect::<Vec<_>>().join(", ")
}

/// Compares a group before and after.
pub(super) fn compare(
    before: &Group,
    after: &Group,
    collector: &mut Collector,
) -> Result<(), MissingType> {
    if before.api_group != after.api_group {
        let effect = "manifests and stored objects of the old group are not read any more";
        let change = Change::breaking(What::ApiGroup, effect);
        collector.about_group(change.saying(&before.api_group, &after.api_group));
    }
    let mut comparison = Comparison::new(before, after, collector)?;
    let (before, after) = (members(before), members(after));
    for (kind, old) in &before {
        match after.get(kind) {
            Some(new) => comparison.kind(kind, old, new)?,
            None => comparison.about_kind(kind, removed(old, &after)),
        }
    }
    for (kind, new) in &after {
        if !before.contains_key(kind) {
            comparison.about_kind(kind, added(new));
        }
    }
    Ok(())
}

/// Compares two api-versions of a group as if they were one before and after.
pub(super) fn compare_versions(
    group: &Group,
    from: &ApiVersion,
    to: &ApiVersion,
    collector: &mut Collector,
) -> Result<(), MissingType> {
    let mut comparison = Comparison::new(group, group, collector)?;
    for (kind, members) in members(group) {
        let old = members.get_key_value(from).map(|(key, it)| (*key, *it));
        let new = members.get_key_value(to).map(|(key, it)| (*key, *it));
        match (old, new) {
            (Some(old), Some(new)) => {
                let version = format!("{} → {}", served(old.1), served(new.1));
                comparison.version((kind, &version), old, new)?;
            }
            (Some(old), None) => {
                let change = removed(&Members::from([old]), &BTreeMap::new());
                comparison.about_kind(kind, change);
            }
            (None, Some(new)) => comparison.about_kind(kind, added(&Members::from([new]))),
            (None, None) => {}
        }
    }
    Ok(())
}

/// Two groups on the way to findings.
struct Comparison<'a> {
    before: BTreeMap<&'a ApiVersion, Types<'a>>,
    after: BTreeMap<&'a ApiVersion, Types<'a>>,
    collector: &'a mut Collector,
}

impl<'a> Comparison<'a> {
    fn new(
        before: &'a Group,
        after: &'a Group,
        collector: &'a mut Collector,
    ) -> Result<Self, MissingType> {
        let types = |group: &'a Group| {
            let versions = group.versions.iter();
            let types =
                versions.map(|(api_version, version)| Ok((api_version, Types::new(version)?)));
            types.collect::<Result<_, MissingType>>()
        };
        Ok(Self {
            before: types(before)?,
            after: types(after)?,
            collector,
        })
    }

    fn about_kind(&mut self, kind: &str, change: Change) {
        let place = Place {
            kind: kind.to_owned(),
            version: None,
            path: None,
        };
        self.collector.add(change, None, place);
    }

    /// Compares the versions of a kind that is there before and after.
    fn kind(
        &mut self,
        kind: &str,
        old: &Members<'_>,
        new: &Members<'_>,
    ) -> Result<(), MissingType> {
        let names = |members: &Members<'_>| -> BTreeSet<String> {
            let of = |it: &&Resource| {
                let suffix = if it.is_on_request {
                    " (on request)"
                } else {
                    ""
                };
                let names = it.version_names.iter();
                names
                    .map(move |name| format!("{name}{suffix}"))
                    .collect::<Vec<_>>()
            };
            members.values().flat_map(of).collect()
        };
        let (old_names, new_names) = (names(old), names(new));
        for name in old_names.difference(&new_names) {
            let effect =
                "its manifests are refused; objects that are stored in it must be rewritten first";
            let change = Change::breaking(What::VersionRemoved, effect).saying(name, "");
            self.about_kind(kind, change);
        }
        for name in new_names.difference(&old_names) {
            let change = Change::compatible(What::VersionAdded, "").saying("", name);
            self.about_kind(kind, change);
        }
        let storage = |members: &Members<'_>| {
            let versions = members.iter().map(|(version, it)| (*version, *it));
            storage_version(versions).unwrap_or_default()
        };
        if storage(old) != storage(new) {
            let effect = "objects are stored in it when they are next written";
            let change = Change::compatible(What::StorageVersion, effect);
            self.about_kind(kind, change.saying(storage(old), storage(new)));
        }
        for (api_version, resource) in new {
            if let Some(was) = old.get(api_version) {
                let version = served(resource);
                let (old, new) = ((*api_version, *was), (*api_version, *resource));
                self.version((kind, &version), old, new)?;
            }
        }
        Ok(())
    }

    /// Compares a kind in one version with the same after the change, or with another version.
    fn version(
        &mut self,
        (kind, version): (&str, &str),
        (old_version, old): (&ApiVersion, &Resource),
        (new_version, new): (&ApiVersion, &Resource),
    ) -> Result<(), MissingType> {
        for change in resource::compare(old, new) {
            let place = Place {
                kind: kind.to_owned(),
                version: Some(version.to_owned()),
                path: None,
            };
            self.collector.add(change, None, place);
        }
        let (Some(before), Some(after)) =
            (self.before.get(old_version), self.after.get(new_version))
        else {
            return Ok(());
        };
        let sides = [
            (Side::Spec, &old.spec, &new.spec),
            (Side::Status, &old.status, &new.status),
        ];
        for (side, old, new) in sides {
            let mut walk = Walk::new((kind, version), side, (before, after), self.collector);
            walk.objects(old, new, side.root())?;
        }
        Ok(())
    }
}

fn members(group: &Group) -> BTreeMap<&str, Members<'_>> {
    let mut kinds = BTreeMap::<&str, Members<'_>>::new();
    for (api_version, version) in &group.versions {
        for resource in &version.resources {
            let members = kinds.entry(&resource.kind).or_default();
            members.insert(api_version, resource);
        }
    }
    kinds
}

fn served(resource: &Resource) -> String {
    resource.version_names.join(", ")
}

/// ARM type and versions of a kind.
fn about(members: &Members<'_>) -> String {
    let versions = members.values().map(|resource| served(resource));
    let versions = versions.collect::<Vec<_>>().join(", ");
    let arm_type = members.values().next_back().map(|it| &it.arm_type);
    format!("{} in {versions}", arm_type.map_or("", String::as_str))
}

fn removed(old: &Members<'_>, after: &BTreeMap<&str, Members<'_>>) -> Change {
    let arm_type = |members: &Members<'_>| {
        let newest = members.values().next_back();
        newest.map(|resource| resource.arm_type.to_lowercase())
    };
    let heir = after.iter().find(|(_, new)| arm_type(new) == arm_type(old));
    let heir = heir.map_or("", |(kind, _)| kind);
    Change::breaking(What::KindRemoved, "its manifests are refused").saying(about(old), heir)
}

fn added(new: &Members<'_>) -> Change {
    Change::compatible(What::KindAdded, "").saying("", about(new))
}

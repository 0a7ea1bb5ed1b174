//! What there is to replace: a group's kinds with their names, versions and schemas, as somebody else's CRDs have them.

use std::collections::{BTreeMap, BTreeSet};

use super::version_names::{Served, served};
use crate::curation::Naming;
use crate::model::ApiVersion;

/// A group of CRDs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Short name of the group: `network`.
    pub group: String,
    /// By kind.
    pub kinds: BTreeMap<String, TargetKind>,
}

/// A kind of a group of CRDs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetKind {
    /// Plural in lower case; empty where nobody knows.
    pub plural: String,
    /// By served name: `v1api20230501preview`.
    pub versions: BTreeMap<String, TargetSchema>,
}

/// Path below `spec` and `status` → JSON type, none for any value: `spec.subnets[].name`, `spec.tags{}`.
pub type TargetSchema = BTreeMap<String, Option<String>>;

impl TargetKind {
    /// api-versions that it is served for, with how each is named.
    pub(in crate::propose) fn namings(&self) -> BTreeMap<ApiVersion, Naming> {
        let mut found = BTreeMap::<ApiVersion, BTreeSet<bool>>::new();
        for Served { version, is_legacy } in self.versions.keys().filter_map(|name| served(name)) {
            found.entry(version).or_default().insert(is_legacy);
        }
        let naming = |ways: &BTreeSet<bool>| match (ways.contains(&true), ways.contains(&false)) {
            (true, true) => Naming::Hybrid,
            (true, false) => Naming::Legacy,
            _ => Naming::New,
        };
        let found = found.into_iter();
        found
            .map(|(version, ways)| (version, naming(&ways)))
            .collect()
    }

    /// Its schema for an api-version.
    pub(in crate::propose) fn schema(&self, version: &ApiVersion) -> Option<&TargetSchema> {
        let mut versions = self.versions.iter();
        let is_meant = |name: &str| served(name).is_some_and(|it| it.version == *version);
        versions.find_map(|(name, schema)| is_meant(name).then_some(schema))
    }

    /// Names at the root of spec and status, over all versions.
    pub(in crate::propose) fn root_names(&self) -> BTreeSet<&str> {
        let paths = self.versions.values().flat_map(BTreeMap::keys);
        let names = paths.filter_map(|path| {
            let name = path.split_once('.')?.1;
            (!name.contains(['.', '[', '{'])).then_some(name)
        });
        names.collect()
    }
}

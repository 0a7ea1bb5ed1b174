//! What differs between two curated models, said for the people who write manifests.
//!
//! [`compare`] takes the groups before and after a change (of specs or of curation), [`compare_versions`] two
//! api-versions of one group. Both return a [`Report`]: [`Change`]s with a verdict, whether one breaks users, and the
//! places of each. A change in a type that many properties share is one finding with many places.
//!
//! Pure: building the models is the pipeline's part, where they come from and printing is the caller's. What changes
//! in no served version (prose, files) is no change here. Names of Rust types are told, for those who write extensions.

mod change;
mod finding;
mod kinds;
mod property;
mod resource;
mod rules;
mod side;
mod types;
mod words;

use std::collections::BTreeMap;

use serde::Serialize;

pub use change::{Change, What};
pub use finding::{Finding, Place, Subject};
pub use side::Side;

use crate::model::{ApiVersion, Group, MissingType};
use finding::Collector;

/// Everything that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Number of findings that break users.
    pub breaking: usize,
    /// Number of the others.
    pub compatible: usize,
    /// By group; those that break users first.
    pub changes: Vec<Finding>,
}

/// Why models cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// No kind is exported from the api-version.
    #[error("group `{group}` exports nothing from api-version `{version}`; it has: {known}")]
    NoSuchVersion {
        /// Group.
        group: String,
        /// The api-version asked for.
        version: String,
        /// Those that there are.
        known: String,
    },
    /// A type refers to one that is not there.
    #[error(transparent)]
    Missing(#[from] MissingType),
}

/// Compares all groups before a change with all groups after it.
///
/// # Errors
/// When a type of a group refers to one that is not there.
pub fn compare(before: &[Group], after: &[Group]) -> Result<Report, DiffError> {
    let by_name = |groups: &'_ [Group]| -> BTreeMap<String, Group> {
        let named = groups
            .iter()
            .map(|group| (group.name.clone(), group.clone()));
        named.collect()
    };
    let (before, after) = (by_name(before), by_name(after));
    let mut findings = Vec::new();
    for (name, old) in &before {
        let mut collector = Collector::new(name);
        match after.get(name) {
            Some(new) => kinds::compare(old, new, &mut collector)?,
            None => collector.about_group(Change::group_removed(&kinds::names(old))),
        }
        findings.extend(collector.finish());
    }
    for (name, new) in &after {
        if !before.contains_key(name) {
            let mut collector = Collector::new(name);
            collector.about_group(Change::group_added(&kinds::names(new)));
            findings.extend(collector.finish());
        }
    }
    Ok(Report::new(findings))
}

/// Compares two api-versions of a group: what it means for a manifest to move from one to the other.
///
/// # Errors
/// When the group has no kind in one of them, or a type refers to one that is not there.
pub fn compare_versions(
    group: &Group,
    from: &ApiVersion,
    to: &ApiVersion,
) -> Result<Report, DiffError> {
    for version in [from, to] {
        if !group.versions.contains_key(version) {
            let known = group.versions.keys().map(ApiVersion::as_str);
            return Err(DiffError::NoSuchVersion {
                group: group.name.clone(),
                version: version.to_string(),
                known: known.collect::<Vec<_>>().join(", "),
            });
        }
    }
    let mut collector = Collector::new(&group.name);
    kinds::compare_versions(group, from, to, &mut collector)?;
    Ok(Report::new(collector.finish()))
}

impl Report {
    fn new(mut findings: Vec<Finding>) -> Self {
        findings.sort_by(|left, right| left.order().cmp(&right.order()));
        let breaking = findings.iter().filter(|it| it.change.breaking).count();
        Self {
            breaking,
            compatible: findings.len() - breaking,
            changes: findings,
        }
    }

    /// The report for people: by group, kind and version, what breaks users first, and a count at the end.
    pub fn text(&self) -> String {
        words::text(self)
    }

    /// The reports of several groups in one.
    pub fn merged(reports: impl IntoIterator<Item = Self>) -> Self {
        Self::new(reports.into_iter().flat_map(|it| it.changes).collect())
    }
}

//! What a curation file says of sources and kinds once it is known where everything is read.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog::{Catalog, Entry};
use super::placement::Placement;
use crate::model::ApiVersion;

/// A source as a file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::propose) struct PlannedSource {
    pub name: String,
    pub folder: String,
    /// Files of the api-versions that are read from `openapi`.
    pub files: Vec<String>,
    pub versions: BTreeMap<ApiVersion, PlannedRead>,
    pub inherit_from: BTreeSet<ApiVersion>,
}

/// What an api-version is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::propose) enum PlannedRead {
    Bicep,
    OpenApi,
    Files(Vec<String>),
}

/// The files that an api-version needs, by what is read of it.
#[derive(Default)]
struct Needed {
    /// None for Bicep types.
    versions: BTreeMap<ApiVersion, Option<BTreeSet<String>>>,
    bases: BTreeMap<ApiVersion, BTreeSet<String>>,
    kinds: usize,
}

/// All sources, that of most kinds first. `files` has the spec files that go with each.
pub(in crate::propose) fn sources(
    placement: &Placement<'_>,
    files: &BTreeMap<String, Vec<String>>,
    exists: &dyn Fn(&str) -> bool,
) -> Vec<PlannedSource> {
    let mut needed = BTreeMap::<&str, Needed>::new();
    let of = |entry: &Entry| files.get(&entry.path).cloned().unwrap_or_default();
    for placed in &placement.placed {
        let of_folder = needed.entry(&placed.folder).or_default();
        of_folder.kinds += 1;
        let version = of_folder.versions.entry(placed.entry.version.clone());
        let listed = version.or_insert_with(|| (!placed.entry.is_bicep).then(BTreeSet::new));
        if let Some(listed) = listed {
            listed.extend(of(placed.entry));
        }
    }
    for base in &placement.bases {
        let Some(of_folder) = needed.get_mut(base.folder.as_str()) else {
            continue;
        };
        let listed = match of_folder.versions.get_mut(&base.version) {
            // Kinds are exported from it anyway; what is only inherited from stands in further files of it.
            Some(Some(listed)) => listed,
            Some(None) => continue,
            None => of_folder.bases.entry(base.version.clone()).or_default(),
        };
        listed.extend(of(base));
    }
    let mut order: Vec<(&str, Needed)> = needed.into_iter().collect();
    order.sort_by_key(|(folder, needed)| (std::cmp::Reverse(needed.kinds), *folder));
    let mut names = BTreeSet::new();
    let named = order.into_iter().map(|(folder, needed)| {
        let name = free_name(folder, &names);
        names.insert(name.clone());
        source(name, folder, needed, exists)
    });
    named.collect()
}

fn source(
    name: String,
    folder: &str,
    needed: Needed,
    exists: &dyn Fn(&str) -> bool,
) -> PlannedSource {
    let is_there = |files: &BTreeSet<String>, version: &ApiVersion| {
        let stage = if version.is_preview() {
            "preview"
        } else {
            "stable"
        };
        let mut files = files.iter();
        files.all(|file| exists(&format!("{folder}/{stage}/{version}/{file}")))
    };
    let common = common(&needed, &is_there);
    let versions = needed.versions.into_iter().map(|(version, files)| {
        let read = match files {
            None => PlannedRead::Bicep,
            Some(files) if files.is_subset(&common) && is_there(&common, &version) => {
                PlannedRead::OpenApi
            }
            Some(files) => PlannedRead::Files(files.into_iter().collect()),
        };
        (version, read)
    });
    let inherit_from = needed.bases.into_keys();
    let inherit_from = inherit_from.filter(|version| is_there(&common, version));
    PlannedSource {
        name,
        folder: folder.to_owned(),
        versions: versions.collect(),
        inherit_from: inherit_from.collect(),
        files: common.into_iter().collect(),
    }
}

/// The files that a source lists for all its api-versions: those of what is inherited from, else those that do for most.
fn common(
    needed: &Needed,
    is_there: &dyn Fn(&BTreeSet<String>, &ApiVersion) -> bool,
) -> BTreeSet<String> {
    let own: Vec<(&ApiVersion, &BTreeSet<String>)> = needed
        .versions
        .iter()
        .filter_map(|(version, files)| Some((version, files.as_ref()?)))
        .collect();
    if !needed.bases.is_empty() {
        let all: BTreeSet<String> = needed.bases.values().flatten().cloned().collect();
        let everywhere = |file: &String| {
            let one = BTreeSet::from([file.clone()]);
            needed.bases.keys().all(|version| is_there(&one, version))
        };
        return all.into_iter().filter(everywhere).collect();
    }
    let serves = |files: &BTreeSet<String>| {
        let served = own
            .iter()
            .filter(|(version, needed)| needed.is_subset(files) && is_there(files, version));
        served.count()
    };
    let best = own
        .iter()
        .max_by_key(|(version, files)| (serves(files), std::cmp::Reverse(files.len()), *version));
    best.map(|(_, files)| (*files).clone()).unwrap_or_default()
}

/// The last part of a folder that is no provider, with a number behind it where another source has that.
fn free_name(folder: &str, taken: &BTreeSet<String>) -> String {
    let is_name = |part: &&str| !part.contains('.') && *part != "resource-manager";
    let name = folder
        .rsplit('/')
        .find(is_name)
        .unwrap_or("specs")
        .to_lowercase();
    let numbered = (2..).map(|number| format!("{name}{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| !taken.contains(name)).unwrap_or(name)
}

/// Names of the sources that have a type, by the api-versions that they are read in.
pub(in crate::propose) fn having<'s>(
    sources: &'s [PlannedSource],
    catalog: &Catalog,
    arm_type: &str,
    is_in: &dyn Fn(&Entry, &str) -> bool,
) -> BTreeMap<ApiVersion, BTreeSet<&'s str>> {
    let mut found = BTreeMap::<ApiVersion, BTreeSet<&str>>::new();
    for source in sources {
        for (version, read) in &source.versions {
            let has = catalog.of(arm_type).any(|entry| {
                let is_read = match read {
                    PlannedRead::Bicep => entry.is_bicep,
                    PlannedRead::OpenApi => !entry.is_bicep && is_listed(entry, &source.files),
                    PlannedRead::Files(files) => !entry.is_bicep && is_listed(entry, files),
                };
                entry.version == *version && is_read && is_in(entry, &source.folder)
            });
            if has {
                found
                    .entry(version.clone())
                    .or_default()
                    .insert(&source.name);
            }
        }
    }
    found
}

fn is_listed(entry: &Entry, files: &[String]) -> bool {
    let name = entry.path.rsplit('/').next().unwrap_or_default();
    files
        .iter()
        .any(|file| file.rsplit('/').next() == Some(name))
}

/// The list of api-versions that a kind needs, of those that have it; none where it is all of them.
pub(in crate::propose) fn listed(
    wanted: &BTreeSet<ApiVersion>,
    having: &BTreeSet<ApiVersion>,
) -> Option<Vec<String>> {
    if wanted.is_superset(having) {
        return None;
    }
    let run = having
        .iter()
        .rev()
        .take_while(|version| wanted.contains(*version));
    let run = run.count();
    let mut list: Vec<String> = having
        .iter()
        .filter(|version| wanted.contains(*version))
        .map(ToString::to_string)
        .collect();
    if run > 1 {
        list.truncate(list.len() + 1 - run);
        if let Some(first) = list.last_mut() {
            first.push_str("..");
        }
    }
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_versions_are_listed_where_a_source_has_more() {
        let having = ["2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01"];
        let set = |names: &[&str]| names.iter().map(|name| ApiVersion::new(*name)).collect();
        let having: BTreeSet<ApiVersion> = set(&having);
        let table: [(&[&str], Option<&[&str]>); 4] = [
            (
                &["2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01"],
                None,
            ),
            (&["2022-01-01", "2023-01-01"], Some(&["2022-01-01.."])),
            (
                &["2020-01-01", "2023-01-01"],
                Some(&["2020-01-01", "2023-01-01"]),
            ),
            (
                &["2020-01-01", "2022-01-01", "2023-01-01"],
                Some(&["2020-01-01", "2022-01-01.."]),
            ),
        ];
        for (wanted, expected) in table {
            let found = listed(&set(wanted), &having);
            let expected = expected.map(|list| list.iter().map(ToString::to_string).collect());
            assert_eq!(found, expected, "{wanted:?}");
        }
    }
}

//! Where each api-version of each kind is read: specs where they have it, else Bicep types, and which api-versions of the
//! specs tell what the latter leave out.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog::{Catalog, Entry};
use crate::load::SpecRoot;
use crate::model::ApiVersion;
use crate::propose::files::{provider_of, short};

/// A kind and the api-versions that it is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::propose) struct Wanted {
    pub kind: String,
    pub arm_type: String,
    pub versions: BTreeSet<ApiVersion>,
}

/// A kind in one api-version.
#[derive(Clone, Debug)]
pub(in crate::propose) struct Placed<'c> {
    pub entry: &'c Entry,
    /// Folder of the source that reads it.
    pub folder: String,
}

/// All that is read.
#[derive(Clone, Debug, Default)]
pub(in crate::propose) struct Placement<'c> {
    /// By kind and api-version.
    pub placed: Vec<Placed<'c>>,
    /// What is read for Bicep types to inherit from.
    pub bases: Vec<&'c Entry>,
    /// Kinds with api-versions that nothing here has.
    pub missing: Vec<(&'c str, ApiVersion)>,
}

/// Places all kinds, rather in the `known` folders than in others.
pub(in crate::propose) fn place<'c>(
    specs: &SpecRoot,
    catalog: &'c Catalog,
    wanted: &'c [Wanted],
    known: &BTreeSet<&'c str>,
) -> Placement<'c> {
    let mut weights = weights(catalog, wanted);
    for folder in known {
        *weights.entry(folder).or_default() += 1;
    }
    let weight = |entry: &Entry| weights.get(entry.folder.as_str()).copied().unwrap_or(0);
    let mut placement = Placement::default();
    let mut in_bicep = Vec::new();
    for wanted in wanted {
        for version in &wanted.versions {
            let here = catalog
                .of(&wanted.arm_type)
                .filter(|it| it.version == *version);
            let in_specs = here.clone().filter(|entry| !entry.is_bicep);
            let best = in_specs.max_by_key(|entry| weight(entry));
            let mut bicep = here.filter(|entry| entry.is_bicep);
            match (best, bicep.next()) {
                (Some(entry), _) => placement.placed.push(Placed {
                    entry,
                    folder: entry.folder.clone(),
                }),
                (None, Some(entry)) => in_bicep.push((wanted, entry)),
                (None, None) => placement.missing.push((&wanted.kind, version.clone())),
            }
        }
    }
    place_bicep(specs, catalog, &in_bicep, &weights, &mut placement);
    add_bases(catalog, &mut placement);
    placement
}

/// How many of the wanted api-versions each folder of specs has.
fn weights<'c>(catalog: &'c Catalog, wanted: &'c [Wanted]) -> BTreeMap<&'c str, usize> {
    let mut weights = BTreeMap::new();
    for wanted in wanted {
        for entry in catalog.of(&wanted.arm_type).filter(|entry| !entry.is_bicep) {
            if wanted.versions.contains(&entry.version) {
                *weights.entry(entry.folder.as_str()).or_default() += 1;
            }
        }
    }
    weights
}

/// Gives each file of Bicep types to one source, that of most of the kinds that are read from it: it has all types of its
/// provider, and a kind must not be in two sources.
fn place_bicep<'c>(
    specs: &SpecRoot,
    catalog: &'c Catalog,
    in_bicep: &[(&'c Wanted, &'c Entry)],
    weights: &BTreeMap<&str, usize>,
    placement: &mut Placement<'c>,
) {
    let mut wishes = BTreeMap::<&str, BTreeMap<String, usize>>::new();
    for (wanted, entry) in in_bicep {
        let folder = home(specs, catalog, wanted, entry, weights);
        let of_file = wishes.entry(entry.path.as_str()).or_default();
        *of_file.entry(folder).or_default() += 1;
    }
    for (_, entry) in in_bicep {
        let wishes = &wishes[entry.path.as_str()];
        let best = wishes.iter().max_by_key(|(_, count)| **count);
        let Some((folder, _)) = best else { continue };
        placement.placed.push(Placed {
            entry,
            folder: folder.clone(),
        });
    }
    // A source reads an api-version from one format: from Bicep types, where some kinds are only there.
    let files: BTreeMap<(String, ApiVersion), String> = placement
        .placed
        .iter()
        .filter(|placed| placed.entry.is_bicep)
        .map(|it| {
            (
                (it.folder.clone(), it.entry.version.clone()),
                it.entry.path.clone(),
            )
        })
        .collect();
    for placed in &mut placement.placed {
        let key = (placed.folder.clone(), placed.entry.version.clone());
        let Some(path) = files.get(&key).filter(|_| !placed.entry.is_bicep) else {
            continue;
        };
        let mut same = catalog.of(&placed.entry.arm_type);
        if let Some(entry) = same.find(|entry| entry.path == *path) {
            placed.entry = entry;
        }
    }
}

/// The folder of specs that a kind belongs to: where specs have it, else the one with most of the kinds.
fn home(
    specs: &SpecRoot,
    catalog: &Catalog,
    wanted: &Wanted,
    entry: &Entry,
    weights: &BTreeMap<&str, usize>,
) -> String {
    let weight = |folder: &str| weights.get(folder).copied().unwrap_or(0);
    let in_specs = catalog.of(&wanted.arm_type).filter(|it| !it.is_bicep);
    let own = in_specs.max_by_key(|it| {
        let is_wanted = wanted.versions.contains(&it.version);
        (is_wanted, weight(&it.folder), &it.version)
    });
    if let Some(own) = own {
        return own.folder.clone();
    }
    let folders = catalog.folders().into_iter();
    let beside = folders.filter(|folder| entry.is_in(specs, folder));
    let best = beside.max_by_key(|folder| (weight(folder), is_namesake(folder)));
    best.map_or_else(|| Catalog::named_after(entry), str::to_owned)
}

/// Whether a folder has the name of the provider that it is of: `network` and `Microsoft.Network`, unlike `dns`.
fn is_namesake(folder: &str) -> bool {
    let service = folder.split('/').nth(1).unwrap_or_default();
    provider_of(folder).is_some_and(|provider| short(provider).eq_ignore_ascii_case(service))
}

/// Adds the nearest api-version of the specs for each kind that is read from Bicep types and in no api-version from specs:
/// the newest that is not newer, else the oldest.
fn add_bases<'c>(catalog: &'c Catalog, placement: &mut Placement<'c>) {
    let files: BTreeSet<&str> = placement
        .placed
        .iter()
        .filter(|placed| !placed.entry.is_bicep)
        .map(|placed| placed.entry.path.as_str())
        .collect();
    let is_read = |arm_type: &str| {
        catalog
            .of(arm_type)
            .any(|it| files.contains(it.path.as_str()))
    };
    let mut bases = BTreeMap::<(&str, &str), &Entry>::new();
    for placed in placement
        .placed
        .iter()
        .filter(|placed| placed.entry.is_bicep)
    {
        let entry = placed.entry;
        if is_read(&entry.arm_type) {
            continue;
        }
        let in_source = catalog.of(&entry.arm_type);
        let mut in_source = in_source.filter(|it| !it.is_bicep && it.folder == placed.folder);
        let older = in_source.clone().filter(|it| it.version <= entry.version);
        let base = older.max_by_key(|it| &it.version);
        let base = base.or_else(|| in_source.by_ref().min_by_key(|it| &it.version));
        if let Some(base) = base {
            bases.insert((&base.path, &base.arm_type), base);
        }
    }
    placement.bases = bases.into_values().collect();
}

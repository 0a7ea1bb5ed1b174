//! Finding an ARM type in a spec tree and in Bicep types: its provider's folder, the api-versions that have it, and their
//! files.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::error::{ProposeError, hint};
use super::files::{Provider, SpecFile, all_files, provider_of, providers_of, short, spec_files};
use crate::curation::{GroupConfig, ReadFrom, SourceRules, SpecFormat, bicep_file};
use crate::discover::discover;
use crate::load::{SpecRoot, load};
use crate::model::{ApiVersion, Owner};

/// An ARM type in the specs.
pub(super) struct Found {
    /// The type with the casing of the newest spec.
    pub arm_type: String,
    /// Group that was named, else a short name for one of the provider.
    pub group: String,
    /// Folder above `stable` and `preview`.
    pub folder: String,
    /// The type in each api-version that has it, oldest first. Where both sources have it, that in the specs follows
    /// that in Bicep types.
    pub places: Vec<Place>,
    /// Parents of the type in the newest of them, outermost first, and the type itself.
    lineage: Vec<Place>,
}

/// An ARM type in one api-version.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub version: ApiVersion,
    pub arm_type: String,
    /// Proposed kind.
    pub kind: String,
    owner: Owner,
    /// Bicep types, or the spec files that describe it and the resources that it reaches, its own first, relative to the
    /// version's folder.
    pub read_from: ReadFrom,
    /// The file that has it.
    path: String,
}

impl Place {
    /// Whether it was found in Bicep types.
    pub fn is_bicep(&self) -> bool {
        self.files().is_empty()
    }

    /// Its spec files; none where it was found in Bicep types.
    pub fn files(&self) -> &[String] {
        match &self.read_from {
            ReadFrom::Files(files) => files,
            ReadFrom::Named(_) => &[],
        }
    }

    /// Whether it is what a source with this folder would read.
    fn is_in(&self, specs: &SpecRoot, folder: &str) -> bool {
        if self.is_bicep() {
            let file = bicep_file(folder, &self.version);
            return specs.place(&file) == specs.place(&self.path);
        }
        SpecFile::read(&self.path).is_some_and(|file| file.folder == folder)
    }
}

/// The newest stable one of places that are sorted by age, else the newest.
pub(super) fn newest<'p>(
    places: impl DoubleEndedIterator<Item = &'p Place> + Clone,
) -> Option<&'p Place> {
    let mut all = places.clone();
    let mut stable = places.filter(|place| !place.version.is_preview());
    stable.next_back().or_else(|| all.next_back())
}

impl Found {
    /// The type behind those of its parents that the file does not export.
    pub fn with_parents(&self, config: Option<&GroupConfig>) -> Vec<Place> {
        let is_exported = |place: &&Place| {
            config.is_some_and(|config| {
                let mut kinds = config.rules.kinds.values();
                kinds.any(|kind| {
                    kind.arm_type
                        .get_ref()
                        .eq_ignore_ascii_case(&place.arm_type)
                })
            })
        };
        let missing = self.lineage.iter().filter(|place| !is_exported(place));
        missing.cloned().collect()
    }

    /// Files of an api-version that describe the type and all above it.
    pub fn files<'f>(&'f self, place: &'f Place) -> Vec<&'f str> {
        let above = self.lineage.iter().filter(|it| it.version == place.version);
        let mut files: Vec<&str> = Vec::new();
        for file in std::iter::once(place).chain(above).flat_map(Place::files) {
            if !files.contains(&file.as_str()) {
                files.push(file);
            }
        }
        files
    }
}

/// Finds `wanted`, `PROVIDER/TYPE` or `GROUP/TYPE`, in the specs and in Bicep types.
pub(super) fn find(
    specs: &SpecRoot,
    configs: &[(GroupConfig, String)],
    wanted: &str,
) -> Result<Found, ProposeError> {
    let (provider, name) = wanted
        .split_once('/')
        .filter(|(provider, name)| !provider.is_empty() && !name.is_empty())
        .ok_or_else(|| ProposeError::NotAType(wanted.to_owned()))?;
    let all = all_files(specs)?;
    let all: Vec<SpecFile<'_>> = all.iter().filter_map(|path| SpecFile::read(path)).collect();
    let group = configs.iter().find(|(it, _)| it.rules.group == provider);
    let mut providers = group.map_or(Vec::new(), |(config, _)| providers_of(config));
    if providers.is_empty() {
        providers.push(provider);
    }
    let mut unknown = None;
    for provider in providers {
        let of = Provider::read(&all, provider)?;
        let arm_type = format!("{}/{name}", of.name);
        let mut places = places(specs, &of.files, &arm_type)?;
        let folder = home(specs, configs, &of.files, &places);
        places.retain(|place| folder.as_ref().is_some_and(|it| place.is_in(specs, it)));
        if let (Some(folder), Some(newest)) = (folder, newest(places.iter())) {
            let short = || short(of.name).to_lowercase();
            return Ok(Found {
                arm_type: newest.arm_type.clone(),
                group: group.map_or_else(short, |(config, _)| config.rules.group.clone()),
                folder,
                lineage: lineage(specs, &of.files, newest)?,
                places,
            });
        }
        unknown.get_or_insert_with(|| unknown_type(specs, &of.files, of.name, arm_type));
    }
    Err(unknown.unwrap_or_else(|| ProposeError::NotAType(wanted.to_owned())))
}

/// The source of a group's file that has this folder.
pub(super) fn source_in<'c>(
    config: &'c GroupConfig,
    folder: &str,
) -> Option<(&'c str, &'c SourceRules)> {
    let mut sources = config.sources().into_iter();
    sources.find(|(_, source)| source.folder == folder)
}

/// The folder of specs that a type belongs to: that of the newest api-version in the specs, where a group reads its
/// folder already the newest of those. For one that only Bicep types have, a folder of its provider beside which they are,
/// one that a group reads before others, else one that is named after theirs.
fn home(
    specs: &SpecRoot,
    configs: &[(GroupConfig, String)],
    files: &[&SpecFile<'_>],
    found: &[Place],
) -> Option<String> {
    let has_group = |folder: &str| {
        let mut configs = configs.iter();
        configs.any(|(config, _)| source_in(config, folder).is_some())
    };
    let in_specs = found.iter().filter(|place| !place.is_bicep());
    let is_read =
        |place: &&Place| SpecFile::read(&place.path).is_some_and(|file| has_group(file.folder));
    let read = newest(in_specs.clone().filter(is_read));
    if let Some(place) = read.or_else(|| newest(in_specs)) {
        return SpecFile::read(&place.path).map(|file| file.folder.to_owned());
    }
    let place = newest(found.iter())?;
    let provider = provider_of(&place.arm_type)?;
    let is_namesake = |folder: &str| {
        let service = folder.split('/').nth(1);
        service.is_some_and(|service| service.eq_ignore_ascii_case(short(provider)))
    };
    let folders: BTreeSet<&str> = files
        .iter()
        .filter(|file| !file.is_bicep())
        .map(|file| file.folder)
        .filter(|folder| place.is_in(specs, folder))
        .collect();
    let best = folders
        .into_iter()
        .max_by_key(|folder| (has_group(folder), is_namesake(folder)));
    let service = place.path.split('/').nth(1)?;
    Some(best.map_or_else(
        || format!("specification/{service}/resource-manager/{provider}"),
        str::to_owned,
    ))
}

/// The type in each api-version, in the order of [`Found::places`].
fn places(
    specs: &SpecRoot,
    files: &[&SpecFile<'_>],
    arm_type: &str,
) -> Result<Vec<Place>, ProposeError> {
    let segment = arm_type.rsplit('/').next().unwrap_or(arm_type);
    // In the path itself, or as a value of the enum that stands for the type there, as types of DNS records do.
    let in_specs = [format!("/{segment}/"), format!("\"{segment}\"")];
    let in_bicep = [format!("/{segment}@")];
    let found: Vec<Option<Place>> = files
        .par_iter()
        .map(|file| {
            let mentioned = if file.is_bicep() {
                &in_bicep[..]
            } else {
                &in_specs[..]
            };
            if !specs.mentions(file.path, mentioned)? {
                return Ok(None);
            }
            place(specs, file, arm_type)
        })
        .collect::<Result<_, ProposeError>>()?;
    let mut found: Vec<Place> = found.into_iter().flatten().collect();
    let key = |place: &Place| (place.version.clone(), !place.is_bicep());
    found.sort_by_key(key);
    Ok(found)
}

/// The type in one file. A file that cannot be understood has none; the survey tells of such files.
fn place(
    specs: &SpecRoot,
    file: &SpecFile<'_>,
    arm_type: &str,
) -> Result<Option<Place>, ProposeError> {
    let Ok(set) = load(specs, &[file.path.to_owned()]) else {
        return Ok(None);
    };
    let Ok(resources) = discover(&set) else {
        return Ok(None);
    };
    let is_wanted = |it: &str| it.eq_ignore_ascii_case(arm_type);
    let Some(resource) = resources.iter().find(|it| is_wanted(&it.arm_type)) else {
        return Ok(None);
    };
    let read_from = if file.is_bicep() {
        SpecFormat::Bicep.into()
    } else {
        let has_resources = |file: &str| {
            let set = load(specs, &[file.to_owned()]);
            set.is_ok_and(|set| discover(&set).is_ok_and(|found| !found.is_empty()))
        };
        ReadFrom::Files(spec_files(file.path, &set, has_resources))
    };
    Ok(Some(Place {
        version: ApiVersion::new(file.version),
        arm_type: resource.arm_type.clone(),
        kind: resource.kind.clone(),
        owner: resource.owner.clone(),
        read_from,
        path: file.path.to_owned(),
    }))
}

/// A type and all above it, outermost first.
fn lineage(
    specs: &SpecRoot,
    files: &[&SpecFile<'_>],
    place: &Place,
) -> Result<Vec<Place>, ProposeError> {
    let same: Vec<&SpecFile<'_>> = files
        .iter()
        .copied()
        .filter(|file| {
            file.version == place.version.as_str() && file.is_bicep() == place.is_bicep()
        })
        .collect();
    let mut lineage = vec![place.clone()];
    let mut current = place.clone();
    while let Owner::Parent(parent) = &current.owner {
        let found = places(specs, &same, parent)?;
        let Some(above) = found.into_iter().next() else {
            break;
        };
        lineage.insert(0, above.clone());
        current = above;
    }
    Ok(lineage)
}

fn unknown_type(
    specs: &SpecRoot,
    files: &[&SpecFile<'_>],
    provider: &str,
    arm_type: String,
) -> ProposeError {
    let known = files.par_iter().flat_map_iter(|file| {
        let set = load(specs, &[file.path.to_owned()]);
        let found = set.ok().and_then(|set| {
            let resources = discover(&set).ok()?.into_iter();
            Some(resources.map(|it| it.arm_type).collect::<Vec<_>>())
        });
        found.unwrap_or_default()
    });
    let known: BTreeSet<String> = known.collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    ProposeError::UnknownType {
        provider: provider.to_owned(),
        hint: hint(&arm_type, &known),
        arm_type,
    }
}

//! Finding an ARM type in a spec tree: its provider's folder, the api-versions that have it, and their files.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::{ProposeError, hint};
use crate::curate::GroupConfig;
use crate::discover::discover;
use crate::load::{SpecRoot, load};
use crate::model::{ApiVersion, Owner};

/// An ARM type in the specs.
pub(super) struct Found {
    /// The type with the casing of the newest spec.
    pub arm_type: String,
    /// Short name for a group of the provider.
    pub group: String,
    /// Folder above `stable` and `preview`.
    pub folder: String,
    /// The type in each api-version that has it, oldest first.
    pub places: Vec<Place>,
    /// Parents of the type in the newest stable one of them, outermost first, and the type itself.
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
    /// Files that describe it and the resources that it reaches, its own first, relative to the version's folder.
    pub files: Vec<String>,
}

/// A spec file by the parts of its path.
struct SpecFile<'p> {
    path: &'p str,
    /// Folder above `stable` and `preview`.
    folder: &'p str,
    version: &'p str,
}

impl<'p> SpecFile<'p> {
    fn read(path: &'p str) -> Option<Self> {
        let (folder, rest) = path
            .split_once("/stable/")
            .or_else(|| path.split_once("/preview/"))?;
        let (version, _) = rest.split_once('/')?;
        Some(Self {
            path,
            folder,
            version,
        })
    }

    fn provider(&self) -> Option<&'p str> {
        self.folder.split('/').find(|part| part.contains('.'))
    }
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
        for file in std::iter::once(place).chain(above).flat_map(|it| &it.files) {
            if !files.contains(&file.as_str()) {
                files.push(file);
            }
        }
        files
    }
}

/// Finds `wanted`, `PROVIDER/TYPE` or `GROUP/TYPE`.
pub(super) fn find(
    specs: &SpecRoot,
    configs: &[(GroupConfig, String)],
    wanted: &str,
) -> Result<Found, ProposeError> {
    let (provider, name) = wanted
        .split_once('/')
        .filter(|(provider, name)| !provider.is_empty() && !name.is_empty())
        .ok_or_else(|| ProposeError::NotAType(wanted.to_owned()))?;
    let all = specs.json_files()?;
    let all: Vec<SpecFile<'_>> = all.iter().filter_map(|path| SpecFile::read(path)).collect();
    let group = configs.iter().find(|(it, _)| it.rules.group == provider);
    let is_of_provider = |file: &&SpecFile<'_>| match group {
        Some((config, _)) => file.folder == config.rules.specs,
        None => file.provider().is_some_and(|it| is_named(it, provider)),
    };
    let files: Vec<&SpecFile<'_>> = all.iter().filter(is_of_provider).collect();
    let Some(full) = files.first().and_then(|file| file.provider()) else {
        let known: BTreeSet<&str> = all.iter().filter_map(SpecFile::provider).collect();
        let short = known.iter().map(|it| it.rsplit('.').next().unwrap_or(it));
        let short: Vec<&str> = short.chain(known.iter().copied()).collect();
        return Err(ProposeError::UnknownProvider {
            provider: provider.to_owned(),
            hint: hint(provider, &short),
        });
    };
    let arm_type = format!("{full}/{name}");
    let found = places(specs, &files, &arm_type)?;
    let stable = found.iter().rfind(|(_, place)| !place.version.is_preview());
    let Some((folder, newest)) = stable.or(found.last()) else {
        return Err(unknown_type(specs, &files, full, arm_type));
    };
    let of_folder = found.iter().filter(|(it, _)| it == folder);
    let short = full.rsplit('.').next().unwrap_or(full).to_lowercase();
    Ok(Found {
        arm_type: newest.arm_type.clone(),
        group: short,
        folder: folder.clone(),
        places: of_folder.map(|(_, place)| place.clone()).collect(),
        lineage: lineage(specs, &files, newest)?,
    })
}

/// Whether a provider is meant by its name or the last part of it.
fn is_named(provider: &str, name: &str) -> bool {
    let short = provider.rsplit('.').next().unwrap_or(provider);
    provider.eq_ignore_ascii_case(name) || short.eq_ignore_ascii_case(name)
}

/// The type in each api-version, oldest first, with the folder of the specs.
fn places(
    specs: &SpecRoot,
    files: &[&SpecFile<'_>],
    arm_type: &str,
) -> Result<Vec<(String, Place)>, ProposeError> {
    let segment = arm_type.rsplit('/').next().unwrap_or(arm_type);
    let mentioned = format!("/{segment}/");
    let found: Vec<Option<(String, Place)>> = files
        .par_iter()
        .map(|file| {
            if !specs.mentions(file.path, &mentioned)? {
                return Ok(None);
            }
            Ok(place(specs, file, arm_type)?.map(|place| (file.folder.to_owned(), place)))
        })
        .collect::<Result<_, ProposeError>>()?;
    let mut found: Vec<(String, Place)> = found.into_iter().flatten().collect();
    found.sort_by(|(_, left), (_, right)| left.version.cmp(&right.version));
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
    let (folder, name) = file.path.rsplit_once('/').unwrap_or_default();
    let mut files = vec![name.to_owned()];
    for document in set.documents() {
        let beside = document
            .file
            .strip_prefix(folder)
            .and_then(|it| it.strip_prefix('/'));
        let Some(beside) = beside.filter(|it| *it != name) else {
            continue;
        };
        // Only files with resources tell which nested resources are made on their own.
        let set = load(specs, &[document.file.to_string()])?;
        if discover(&set).is_ok_and(|resources| !resources.is_empty()) {
            files.push(beside.to_owned());
        }
    }
    Ok(Some(Place {
        version: ApiVersion::new(file.version),
        arm_type: resource.arm_type.clone(),
        kind: resource.kind.clone(),
        owner: resource.owner.clone(),
        files,
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
        .filter(|file| file.version == place.version.as_str())
        .collect();
    let mut lineage = vec![place.clone()];
    let mut current = place.clone();
    while let Owner::Parent(parent) = &current.owner {
        let found = places(specs, &same, parent)?;
        let Some((_, above)) = found.into_iter().next() else {
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
    let mut newest = BTreeMap::<ApiVersion, Vec<String>>::new();
    for file in files {
        let version = ApiVersion::new(file.version);
        newest
            .entry(version)
            .or_default()
            .push(file.path.to_owned());
    }
    let mut known = BTreeSet::new();
    for file in newest
        .pop_last()
        .map(|(_, files)| files)
        .unwrap_or_default()
    {
        if let Ok(set) = load(specs, &[file])
            && let Ok(resources) = discover(&set)
        {
            known.extend(resources.into_iter().map(|it| it.arm_type));
        }
    }
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    ProposeError::UnknownType {
        provider: provider.to_owned(),
        hint: hint(&arm_type, &known),
        arm_type,
    }
}

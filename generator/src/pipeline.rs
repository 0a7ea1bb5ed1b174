//! All passes in order: curation files and a spec tree in, files in memory out.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use rayon::prelude::*;

use crate::curate::{curate, curate_anyway};
use crate::curation::{CurateError, GroupConfig, SourceRules};
use crate::discover::{DiscoverError, DiscoveredResource, check_kinds, discover, overlaid};
use crate::emit::{EmitError, GroupKinds, Notes, descriptions, emit, umbrella};
use crate::hub::{Hubs, hubs};
use crate::inherit::{Known, inherit};
use crate::load::{LoadError, SpecRoot, SpecSet, load};
use crate::model::{ApiVersion, Group, MissingType, TypeDef, Version};
use crate::naming::Names;
use crate::overlay::{Overlaid, Overlay};
use crate::share::{Sharing, share};
use crate::types::{Described, TypesError, arm_types, build_all};

/// Why nothing was generated.
#[derive(Debug, thiserror::Error)]
pub enum GeneratorError {
    /// A spec file cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A curation file lists a spec file that does not exist.
    #[error("{path}:{line}: {error}")]
    Listed {
        /// Curation file.
        path: String,
        /// Line of the api-version, from 1.
        line: usize,
        /// Which spec file.
        error: Box<LoadError>,
    },
    /// Resources of an api-version contradict each other.
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    /// A schema cannot be a type.
    #[error(transparent)]
    Types(#[from] TypesError),
    /// A curation file cannot be applied.
    #[error(transparent)]
    Curate(#[from] Box<CurateError>),
    /// A type refers to one that is not there.
    #[error(transparent)]
    Missing(#[from] MissingType),
    /// The generator cannot write a group's files.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// Two curation files are for one group.
    #[error("{first} and {second} are both for group `{group}`; merge them into one file")]
    DuplicateGroup {
        /// Group.
        group: String,
        /// One file.
        first: String,
        /// The other.
        second: String,
    },
}

/// Told about each group as it is done. Groups are generated in parallel, so calls come in any order.
pub trait Progress: Sync {
    /// A group is complete.
    fn group(&self, summary: &GroupSummary);
}

/// Ignores progress.
pub struct NoProgress;

impl Progress for NoProgress {
    fn group(&self, _summary: &GroupSummary) {}
}

/// What a group came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupSummary {
    /// Short name.
    pub group: String,
    /// Number of kinds.
    pub kinds: usize,
    /// Number of pairs of kind and served version name.
    pub kind_versions: usize,
    /// Types over all api-versions.
    pub types: usize,
    /// Types after sharing.
    pub shared_types: usize,
    /// Types of the hub that no version has alike.
    pub hub_types: usize,
    /// Rust files of the crate.
    pub files: usize,
    /// Lines in them.
    pub lines: usize,
    /// Bytes in them.
    pub bytes: usize,
    /// Versions that are served on request, by name, each with its kinds in order.
    pub on_request: BTreeMap<String, Vec<KindAhead>>,
    /// Time taken.
    pub elapsed: Duration,
}

/// A kind that has an api-version which Azure Service Operator does not have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KindAhead {
    /// Kind.
    pub kind: String,
    /// Its newest version that Azure Service Operator has: `v1api20230101`.
    pub newest_else: String,
}

/// Choices of a run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Keep the spec's own text for CRDs and pages. Off, nothing of it reaches what is generated.
    pub descriptions: bool,
    /// What pages tell of kinds beside the specs.
    pub notes: Notes,
}

/// Everything that was generated.
#[derive(Clone, Debug)]
pub struct Generated {
    /// Path relative to the workspace → text. The folders `generated` and `docs/reference` hold nothing else; two lists of the
    /// chart are among them.
    pub files: BTreeMap<Utf8PathBuf, String>,
    /// By group.
    pub groups: Vec<GroupSummary>,
}

/// Generates all groups.
///
/// # Errors
/// The first group's first error, in order of group. Each names the spec file and pointer, or the curation
/// file and line.
pub fn generate(
    specs: &SpecRoot,
    configs: &[GroupConfig],
    options: Options,
    progress: &dyn Progress,
) -> Result<Generated, GeneratorError> {
    check_groups(configs)?;
    let results = configs
        .par_iter()
        .map(|config| {
            let result = group_files(specs, config, &options);
            if let Ok((_, summary, _)) = &result {
                progress.group(summary);
            }
            result
        })
        .collect::<Vec<_>>();
    let mut generated = Generated {
        files: BTreeMap::new(),
        groups: Vec::new(),
    };
    let mut all = BTreeMap::new();
    for result in results {
        let (files, summary, kinds) = result?;
        generated.files.extend(files);
        all.insert(summary.group.clone(), kinds);
        generated.groups.push(summary);
    }
    generated.groups.sort_by(|l, r| l.group.cmp(&r.group));
    generated.files.extend(umbrella(&all));
    Ok(generated)
}

fn check_groups(configs: &[GroupConfig]) -> Result<(), GeneratorError> {
    let mut seen = BTreeMap::<&str, &GroupConfig>::new();
    for config in configs {
        if let Some(first) = seen.insert(&config.rules.group, config) {
            return Err(GeneratorError::DuplicateGroup {
                group: config.rules.group.clone(),
                first: first.path.clone(),
                second: config.path.clone(),
            });
        }
    }
    Ok(())
}

type GroupFiles = (BTreeMap<Utf8PathBuf, String>, GroupSummary, GroupKinds);

fn group_files(
    specs: &SpecRoot,
    config: &GroupConfig,
    options: &Options,
) -> Result<GroupFiles, GeneratorError> {
    let start = Instant::now();
    let mut group = curated_group(specs, config)?;
    let described = descriptions(&group);
    if !options.descriptions {
        drop_descriptions(&mut group);
    }
    let types = group.versions.values().map(|v| v.types.len()).sum();
    let Finished {
        hubs,
        sharing,
        mut files,
    } = finish(&group, &options.notes)?;
    files.extend(described);
    let rust = || {
        let rust = files
            .iter()
            .filter(|(path, _)| path.extension() == Some("rs"));
        rust.map(|(_, text)| text)
    };
    let resources = group.versions.values().flat_map(|v| &v.resources);
    let summary = GroupSummary {
        group: group.name.clone(),
        kinds: hubs.kinds.len(),
        kind_versions: resources.map(|r| r.version_names.len()).sum(),
        types,
        shared_types: sharing.after(),
        hub_types: sharing.of_hub_alone(),
        files: rust().count(),
        lines: rust().map(|text| text.lines().count()).sum(),
        bytes: rust().map(String::len).sum(),
        on_request: on_request(&group),
        elapsed: start.elapsed(),
    };
    Ok((files, summary, GroupKinds::of(&group, &hubs)))
}

/// Versions of a group that are served on request, with their kinds.
fn on_request(group: &Group) -> BTreeMap<String, Vec<KindAhead>> {
    let resources = || group.versions.values().flat_map(|it| &it.resources);
    let newest_else = |kind: &str| {
        let mut others = resources().filter(|it| it.kind == kind && !it.is_on_request);
        others.next_back()?.version_names.last().cloned()
    };
    let mut found = BTreeMap::<String, Vec<KindAhead>>::new();
    for resource in resources().filter(|it| it.is_on_request) {
        for name in &resource.version_names {
            found.entry(name.clone()).or_default().push(KindAhead {
                kind: resource.kind.clone(),
                newest_else: newest_else(&resource.kind).unwrap_or_default(),
            });
        }
    }
    for kinds in found.values_mut() {
        kinds.sort();
    }
    found
}

/// A group after all passes.
pub struct Finished {
    /// Hubs of its kinds.
    pub hubs: Hubs,
    /// Where each type is defined.
    pub sharing: Sharing,
    /// Path relative to the workspace → text.
    pub files: BTreeMap<Utf8PathBuf, String>,
}

/// Passes 5 to 8 over a curated group.
///
/// # Errors
/// When the passes before left a fault in the group, or a name gives no valid Rust.
pub fn finish(group: &Group, notes: &Notes) -> Result<Finished, GeneratorError> {
    let hubs = hubs(group)?;
    let names = Names::of(group, &hubs.types)?;
    let sharing = share(group, &hubs, &names)?;
    let files = emit(group, &hubs, &names, &sharing, notes)?;
    Ok(Finished {
        hubs,
        sharing,
        files,
    })
}

/// All groups as Kubernetes users see them, in order of `configs`.
///
/// # Errors
/// As [`generate`].
pub fn curated_groups(
    specs: &SpecRoot,
    configs: &[GroupConfig],
) -> Result<Vec<Group>, GeneratorError> {
    check_groups(configs)?;
    let groups = configs
        .par_iter()
        .map(|config| curated_group(specs, config));
    groups.collect()
}

fn drop_descriptions(group: &mut Group) {
    let versions = group.versions.values_mut();
    for definition in versions.flat_map(|version| version.types.values_mut()) {
        match definition {
            TypeDef::Enum(definition) => definition.description = None,
            TypeDef::Object(object) => {
                object.description = None;
                for property in &mut object.properties {
                    property.description = None;
                }
            }
        }
    }
}

/// A group as Kubernetes users see it: passes 1 to 4.
///
/// # Errors
/// As [`generate`].
pub fn curated_group(specs: &SpecRoot, config: &GroupConfig) -> Result<Group, GeneratorError> {
    Ok(curate(described_group(specs, config)?, config)?)
}

/// A group's files as they would be without one of its kinds. What the curation file says for that kind alone is left
/// aside.
///
/// # Errors
/// As [`generate`], but for lines of the curation file that fit nothing.
pub fn files_without(
    specs: &SpecRoot,
    config: &GroupConfig,
    kind: &str,
) -> Result<BTreeMap<Utf8PathBuf, String>, GeneratorError> {
    let mut config = config.clone();
    config.rules.kinds.retain(|name, _| name.get_ref() != kind);
    let (mut group, _) = curate_anyway(described_group(specs, &config)?, &config);
    drop_descriptions(&mut group);
    Ok(finish(&group, &Notes::default())?.files)
}

/// A group as its specs describe it: passes 1 to 3. Of the curation file they heed sources, kinds and what stays whole, so
/// that several sets of rules can be tried on one result.
///
/// # Errors
/// As [`generate`].
pub fn described_group(specs: &SpecRoot, config: &GroupConfig) -> Result<Group, GeneratorError> {
    let sources = config.sources();
    let sets = load_sets(specs, config, &sources)?;
    let known = discover_sets(&sets)?;
    let overlays = overlays(&sources, &known);
    let mut versions = BTreeMap::<&ApiVersion, Vec<Part<'_>>>::new();
    for (key @ (version, at), (set, resources)) in known {
        let (source, rules) = sources[*at];
        if rules.api_versions().contains(version) {
            let part = match overlays.get(key) {
                Some(overlay) => Part {
                    source,
                    set: Overlaid::new(set, overlay),
                    resources: overlaid(resources, overlay),
                },
                None => Part {
                    source,
                    set: set.into(),
                    resources,
                },
            };
            versions.entry(version).or_default().push(part);
        }
    }
    let versions = versions.par_iter().map(|(api_version, parts)| {
        let version = version(config, api_version, parts)?;
        Ok(((*api_version).clone(), version))
    });
    // All are built before the first error is told, so that it is the same one in every run.
    let versions = versions.collect::<Vec<Result<_, GeneratorError>>>();
    let versions = versions
        .into_iter()
        .collect::<Result<BTreeMap<_, _>, _>>()?;
    Ok(Group {
        name: config.rules.group.clone(),
        api_group: config.api_group(),
        versions,
        errors: Vec::new(),
        values: BTreeMap::new(),
        types_by_letter: config.rules.types_by_letter,
    })
}

/// An api-version of a source, which goes by its place in the curation file.
type SourceVersion = (ApiVersion, usize);

/// Sets with the resources in them.
type KnownSets<'s> = BTreeMap<&'s SourceVersion, (&'s SpecSet, Vec<DiscoveredResource<'s>>)>;

/// What one source has of an api-version.
struct Part<'s> {
    source: &'s str,
    set: Overlaid<'s>,
    resources: Vec<DiscoveredResource<'s>>,
}

/// Files of each api-version that a source is read in.
fn load_sets(
    specs: &SpecRoot,
    config: &GroupConfig,
    sources: &[(&str, &SourceRules)],
) -> Result<BTreeMap<SourceVersion, SpecSet>, GeneratorError> {
    let read = sources.iter().enumerate().flat_map(|(at, (_, source))| {
        let versions = source.read_versions().into_iter();
        versions.map(move |version| (at, version))
    });
    let read: Vec<(usize, ApiVersion)> = read.collect();
    read.into_par_iter()
        .map(|(at, version)| {
            let set = load_version(specs, config, sources[at].1, &version)?;
            Ok(((version, at), set))
        })
        .collect()
}

/// The resources of all sets.
fn discover_sets(sets: &BTreeMap<SourceVersion, SpecSet>) -> Result<KnownSets<'_>, DiscoverError> {
    let known = sets
        .par_iter()
        .map(|(key, set)| Ok((key, (set, discover(set)?))));
    // As with types: the first error is the same one in every run.
    let known = known.collect::<Vec<Result<_, DiscoverError>>>();
    known.into_iter().collect()
}

/// What the nearest specs add to sets of Bicep types.
fn overlays<'s>(
    sources: &[(&str, &SourceRules)],
    sets: &KnownSets<'s>,
) -> BTreeMap<&'s SourceVersion, Overlay> {
    let is_bicep = |(version, at): &SourceVersion| sources[*at].1.is_bicep(version);
    let known = sets.iter().map(|(key, (set, resources))| {
        let known = Known { set, resources };
        (*key, known)
    });
    let (bicep, openapi): (BTreeMap<_, _>, BTreeMap<_, _>) =
        known.partition(|(key, _)| is_bicep(key));
    bicep
        .into_par_iter()
        .map(|(key, ours)| {
            let (version, at) = key;
            let overlay = inherit(ours, version, &nearest_first(&openapi, *at));
            (key, overlay)
        })
        .collect()
}

/// Sets by api-version, those of the source at `own` before others: a type may have been in another folder once.
fn nearest_first<'s>(
    sets: &BTreeMap<&SourceVersion, Known<'s>>,
    own: usize,
) -> BTreeMap<ApiVersion, Vec<Known<'s>>> {
    let mut found = BTreeMap::<ApiVersion, Vec<Known<'s>>>::new();
    for ((version, at), known) in sets {
        let sets = found.entry(version.clone()).or_default();
        let place = if *at == own { 0 } else { sets.len() };
        sets.insert(place, *known);
    }
    found
}

fn load_version(
    specs: &SpecRoot,
    config: &GroupConfig,
    source: &SourceRules,
    version: &ApiVersion,
) -> Result<SpecSet, GeneratorError> {
    let usual = source.files(version).into_iter();
    let files = usual.zip(source.files_elsewhere(version));
    let is_elsewhere = |file: &str, other: &str| !specs.has(file) && specs.has(other);
    let files = files.map(|(file, other)| {
        if is_elsewhere(&file, &other) {
            other
        } else {
            file
        }
    });
    load(specs, &files.collect::<Vec<_>>()).map_err(|error| match error {
        LoadError::MissingFile {
            referenced_from: None,
            ..
        } => GeneratorError::Listed {
            path: config.path.clone(),
            line: source.place(version).map_or(1, |place| config.line(place)),
            error: Box::new(error),
        },
        error => error.into(),
    })
}

fn version(
    config: &GroupConfig,
    api_version: &ApiVersion,
    parts: &[Part<'_>],
) -> Result<Version, GeneratorError> {
    let described = parts.iter().map(|part| Described {
        source: part.source,
        set: part.set,
        resources: &part.resources,
    });
    let described: Vec<Described<'_>> = described.collect();
    let embedding = config.embedding();
    let arm_types = arm_types(&described);
    let is_wanted = |source: &str, resource: &DiscoveredResource<'_>| {
        config.reads(&resource.arm_type, api_version, source, &arm_types)
    };
    let wanted = described.iter().flat_map(|part| {
        let resources = part.resources.iter();
        resources.filter(|resource| is_wanted(part.source, resource))
    });
    check_kinds(wanted)?;
    let version = build_all(&described, api_version.clone(), &embedding, is_wanted)?;
    Ok(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_file_that_does_not_exist_is_told_with_the_line_that_lists_it() {
        let text = "group = \"g\"\nnaming = \"new\"\n[kinds]\n[sources.g]\nfolder = \"nowhere\"\nversions = { \"2023-01-01\" = [\"a.json\"] }\n";
        let config = GroupConfig::parse("specs/g.toml", text).unwrap();
        let specs = SpecRoot::new("/no/specs");
        let error = curated_group(&specs, &config).unwrap_err().to_string();
        assert_eq!(
            error,
            "specs/g.toml:6: spec file `nowhere/stable/2023-01-01/a.json` does not exist under `/no/specs`"
        );
    }
}

//! A whole group as somebody else's CRDs have it, so that they can be replaced: one complete curation file.
//!
//! | module | what lives here |
//! |---|---|
//! | [`target`] | the CRDs |
//! | [`version_names`] | their version names: api-versions, and how a file says them |
//! | [`catalog`] | all resources in the files of a provider |
//! | [`matching`] | which of these a kind stands for |
//! | [`placement`] | what each api-version of a kind is read from |
//! | [`sources`] | what a file says of that |
//! | [`rules`] | what CRDs tell of properties |
//! | [`text`] | the file's text |

mod catalog;
mod matching;
mod placement;
mod rules;
mod sources;
mod target;
mod text;
mod version_names;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use rayon::prelude::*;

use super::error::ProposeError;
use super::files::{Provider, SpecFile, all_files, spec_files};
use super::suspect::{Suspicion, suspects};
use crate::curate::naming;
use crate::curation::{GroupConfig, Naming, nearest};
use crate::load::{SpecRoot, load};
use crate::model::{ApiVersion, Group};
use crate::pipeline::{GeneratorError, curated_group};
use catalog::Entry;
use matching::{Unmatched, elsewhere, matched};
use rules::renamed;
use sources::{having, listed, sources};
pub use target::{Target, TargetKind, TargetSchema};
use version_names::{VersionNames, choose};

pub(super) use catalog::Catalog;
pub(super) use matching::Candidate;
pub(super) use placement::{Placement, Wanted, place};
pub(super) use rules::{judged, verdicts};
pub(super) use sources::{PlannedRead, PlannedSource};
pub(super) use text::{PlannedKind, source as source_text};

/// A proposed curation file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupProposal {
    /// Where it belongs: `specs/network/group.toml`.
    pub path: String,
    /// The file.
    pub text: String,
    /// Remarks, one a line.
    pub notes: Vec<String>,
    /// What is still wrong with it; it can be generated when this is empty.
    pub faults: Vec<String>,
    /// How many kinds it has, and how many were asked for.
    pub kinds: (usize, usize),
    /// How many api-versions of kinds it has, and how many were asked for.
    pub versions: (usize, usize),
}

/// Proposes the file of a group with every kind of `target`.
///
/// # Errors
/// When there are no specs of the group's provider, or they have none of its kinds.
pub fn propose_group(specs: &SpecRoot, target: &Target) -> Result<GroupProposal, ProposeError> {
    if target.kinds.values().all(|kind| kind.namings().is_empty()) {
        let kinds = target.kinds.keys();
        return Err(no_kind(
            target,
            kinds.map(|kind| no_api_version(kind)).collect(),
        ));
    }
    let (catalog, candidates) = read(specs, &target.group)?;
    let mut notes = Vec::new();
    let wanted = wanted(target, &candidates, None, &mut notes);
    if wanted.is_empty() {
        return Err(no_kind(target, notes));
    }
    propose_file(specs, target, (&catalog, &candidates), &wanted, notes)
}

/// All resources of a group's provider, and the types among them.
pub(super) fn read(
    specs: &SpecRoot,
    group: &str,
) -> Result<(Catalog, Vec<Candidate>), ProposeError> {
    let all = all_files(specs)?;
    let all: Vec<SpecFile<'_>> = all.iter().filter_map(|path| SpecFile::read(path)).collect();
    // Of `network.frontdoor` the first word is the provider.
    let provider = group.split('.').next().unwrap_or_default();
    let catalog = Catalog::read(specs, &Provider::read(&all, provider)?.files);
    let candidates = catalog.candidates();
    Ok((catalog, candidates))
}

/// Proposes a file of these kinds.
pub(super) fn propose_file(
    specs: &SpecRoot,
    target: &Target,
    (catalog, candidates): (&Catalog, &[Candidate]),
    wanted: &[Wanted],
    mut notes: Vec<String>,
) -> Result<GroupProposal, ProposeError> {
    let placement = place(specs, catalog, wanted, &BTreeSet::new());
    let read = Read { specs, catalog };
    let sources = planned_sources(&read, &placement)?;
    let names = version_names(&read, target, wanted, &sources, &mut notes);
    let own = |kind: &str| names.own.get(kind).copied();
    let kinds = kinds(&read, target, wanted, &sources, &own);
    notes.extend(missing(&placement.missing));
    let head = text::file(&target.group, &names, &sources, &kinds);
    let path = format!("specs/{}/group.toml", target.group);
    let renamed = renames(target, candidates, wanted);
    let tried = try_out(specs, target, &path, &head, renamed);
    let all = target.kinds.values().map(|kind| kind.namings().len());
    Ok(GroupProposal {
        path,
        text: tried.text,
        notes,
        faults: tried.faults,
        kinds: (kinds.len(), target.kinds.len()),
        versions: (placement.placed.len(), all.sum()),
    })
}

/// Rules for members of ARM that have the name of one of the operator's.
pub(super) fn renames(
    target: &Target,
    candidates: &[Candidate],
    wanted: &[Wanted],
) -> Vec<Suspicion> {
    let renamed = candidates.iter().filter_map(|candidate| {
        let mut wanted = wanted.iter();
        let it = wanted.find(|it| it.arm_type == candidate.arm_type)?;
        let names = target.kinds.get(&it.kind)?.root_names();
        Some(renamed(&it.kind, &candidate.members, &names))
    });
    renamed.flatten().collect()
}

/// The sources that read what is placed.
pub(super) fn planned_sources(
    read: &Read<'_>,
    placement: &Placement<'_>,
) -> Result<Vec<PlannedSource>, ProposeError> {
    let needed = needed_files(read, placement)?;
    let exists = |path: &str| read.specs.place(path).is_file();
    Ok(sources(placement, &needed, &exists))
}

fn no_kind(target: &Target, notes: Vec<String>) -> ProposeError {
    ProposeError::NoKind {
        group: target.group.clone(),
        notes: notes.join("\n"),
    }
}

fn no_api_version(kind: &str) -> String {
    format!("`{kind}` names no api-version: it is no resource of ARM")
}

/// The ARM type of each kind, parents before children. A file that is there says which its kinds have.
pub(super) fn wanted(
    target: &Target,
    candidates: &[Candidate],
    file: Option<&GroupConfig>,
    notes: &mut Vec<String>,
) -> Vec<Wanted> {
    let kinds = target.kinds.iter().map(|(name, kind)| {
        let versions = kind.namings().into_keys().collect();
        let members = kind.root_names();
        (name.as_str(), Unmatched { versions, members })
    });
    let kinds: BTreeMap<&str, Unmatched<'_>> = kinds.collect();
    let said = file.map(|file| said(file, candidates));
    let found = matched(&kinds, candidates, said.unwrap_or_default());
    let mut wanted = Vec::new();
    for (kind, unmatched) in kinds {
        match found.get(kind) {
            Some(index) => wanted.push(Wanted {
                kind: kind.to_owned(),
                arm_type: candidates[*index].arm_type.clone(),
                versions: unmatched.versions,
            }),
            None => notes.push(not_found(
                (&target.group, kind),
                &unmatched.versions,
                candidates,
                &found,
            )),
        }
    }
    let segments = |arm_type: &str| -> Vec<String> {
        let segments = arm_type.split('/');
        segments.map(str::to_lowercase).collect()
    };
    wanted.sort_by_cached_key(|it| segments(&it.arm_type));
    wanted
}

/// The candidates of the kinds of a file, by index.
fn said(file: &GroupConfig, candidates: &[Candidate]) -> BTreeMap<String, usize> {
    let kinds = file.rules.kinds.iter().filter_map(|(kind, rules)| {
        let arm_type = rules.arm_type.get_ref();
        let is_it = |it: &Candidate| it.arm_type.eq_ignore_ascii_case(arm_type);
        let index = candidates.iter().position(is_it)?;
        Some((kind.get_ref().clone(), index))
    });
    kinds.collect()
}

/// Why there is no ARM type for a kind, and what is near.
fn not_found(
    (group, kind): (&str, &str),
    versions: &BTreeSet<ApiVersion>,
    candidates: &[Candidate],
    found: &BTreeMap<String, usize>,
) -> String {
    if versions.is_empty() {
        return no_api_version(kind);
    }
    let joined = |versions: &BTreeSet<ApiVersion>| {
        let names = versions.iter().map(ApiVersion::as_str);
        names.collect::<Vec<_>>().join(", ")
    };
    let wanted = joined(versions);
    if let Some((index, is_it)) = elsewhere(group, kind, candidates, found) {
        let candidate = &candidates[index];
        let here = joined(&candidate.versions);
        let near = match is_it {
            true => format!(
                "Its type `{}` is here in {here}: where nothing differs, `versions` may read {wanted} from the files of that, as \
                 `../{}/FILE.json`",
                candidate.arm_type,
                candidate.versions.last().map_or("", ApiVersion::as_str)
            ),
            false => format!(
                "The nearest is `{}`, which is here in {here}",
                candidate.arm_type
            ),
        };
        return format!(
            "`{kind}` is left out: neither specs nor Bicep types here have it with GET and PUT in {wanted}; add either and \
             ask again. {near}"
        );
    }
    let known = || candidates.iter().flat_map(|it| it.versions.iter());
    if !versions
        .iter()
        .any(|version| known().any(|known| known == version))
    {
        return format!(
            "`{kind}` is left out: there are neither specs nor Bicep types of its provider here in {wanted}; add either and \
             ask again"
        );
    }
    let kinds = candidates.iter().flat_map(|it| {
        let kinds = it.kinds.iter();
        kinds.map(|kind| (kind.as_str(), it.arm_type.as_str()))
    });
    let kinds: BTreeMap<&str, &str> = kinds.collect();
    let near = nearest(kind, kinds.keys().copied());
    let near = near.map_or_else(String::new, |near| {
        format!("; the nearest is `{}`", kinds[near])
    });
    format!(
        "`{kind}` is left out: no ARM type here looks like it{near}. Add specs or Bicep types that have it in {wanted}, or say \
         which type it is: `cargo xtask new-kind GROUP/TYPE --kind {kind}`"
    )
}

/// The spec files that go with each that is read.
fn needed_files(
    Read { specs, catalog }: &Read<'_>,
    placement: &Placement<'_>,
) -> Result<BTreeMap<String, Vec<String>>, ProposeError> {
    let placed = placement.placed.iter().map(|placed| placed.entry);
    let entries = placed.chain(placement.bases.iter().copied());
    let paths: BTreeSet<&str> = entries
        .filter(|entry| !entry.is_bicep)
        .map(|entry| entry.path.as_str())
        .collect();
    let with_resources = catalog.files();
    paths
        .into_par_iter()
        .map(|path| {
            let set = load(specs, &[path.to_owned()])?;
            Ok((
                path.to_owned(),
                spec_files(path, &set, |file| with_resources.contains(file)),
            ))
        })
        .collect()
}

/// What kinds are looked for in.
pub(super) struct Read<'r> {
    pub specs: &'r SpecRoot,
    pub catalog: &'r Catalog,
}

impl Read<'_> {
    /// Sources that have a type, by api-version.
    pub fn having<'s>(
        &self,
        sources: &'s [PlannedSource],
        arm_type: &str,
    ) -> BTreeMap<ApiVersion, BTreeSet<&'s str>> {
        let is_in = |entry: &Entry, folder: &str| entry.is_in(self.specs, folder);
        having(sources, self.catalog, arm_type, &is_in)
    }
}

/// How the file says the names of versions.
fn version_names(
    read: &Read<'_>,
    target: &Target,
    wanted: &[Wanted],
    sources: &[PlannedSource],
    notes: &mut Vec<String>,
) -> VersionNames {
    let namings = wanted.iter().filter_map(|it| {
        let mut namings = target.kinds.get(&it.kind)?.namings();
        let read = read.having(sources, &it.arm_type);
        namings.retain(|version, _| read.contains_key(version));
        Some((it.kind.clone(), namings))
    });
    let names = choose(&namings.collect());
    notes.extend(names.unfit.iter().map(|kind| unfit(kind)));
    names
}

/// What is said of a kind whose versions have names that a file cannot state.
pub(super) fn unfit(kind: &str) -> String {
    format!(
        "the names of the versions of `{kind}` follow no rule that a file can state; see `naming`"
    )
}

/// The kinds of the file. `naming` tells those that say for themselves how their versions are named.
pub(super) fn kinds(
    read: &Read<'_>,
    target: &Target,
    wanted: &[Wanted],
    sources: &[PlannedSource],
    naming: &dyn Fn(&str) -> Option<Naming>,
) -> Vec<PlannedKind> {
    let planned = wanted.iter().map(|it| {
        let having = read.having(sources, &it.arm_type);
        let versions = having.keys().cloned().collect();
        let plural = target
            .kinds
            .get(&it.kind)
            .map_or("", |kind| kind.plural.as_str());
        PlannedKind {
            name: it.kind.clone(),
            arm_type: it.arm_type.clone(),
            source: only_source(&it.versions, &having),
            versions: listed(&it.versions, &versions),
            naming: naming(&it.kind),
            plural: own_plural(&it.kind, plural),
        }
    });
    planned.collect()
}

/// The source that a kind must name, because several have it in one api-version: one that has it in all of them.
fn only_source(
    wanted: &BTreeSet<ApiVersion>,
    having: &BTreeMap<ApiVersion, BTreeSet<&str>>,
) -> Option<String> {
    let served = || {
        having
            .iter()
            .filter(|(version, _)| wanted.contains(version))
    };
    if served().all(|(_, sources)| sources.len() < 2) {
        return None;
    }
    let all = served().flat_map(|(_, sources)| sources);
    let best = all.max_by_key(|source| served().filter(|(_, it)| it.contains(*source)).count());
    best.map(|source| (*source).to_owned())
}

/// A plural that is not that of grammar.
fn own_plural(kind: &str, plural: &str) -> Option<String> {
    (!plural.is_empty() && plural != naming::plural(kind)).then(|| plural.to_owned())
}

pub(super) fn missing(missing: &[(&str, ApiVersion)]) -> Vec<String> {
    let mut by_version = BTreeMap::<&ApiVersion, Vec<&str>>::new();
    for (kind, version) in missing {
        by_version.entry(version).or_default().push(kind);
    }
    let notes = by_version.into_iter().map(|(version, kinds)| {
        format!(
            "{version} is left out for {}: neither specs nor Bicep types here have it there; add either and ask again",
            kinds.join(", ")
        )
    });
    notes.collect()
}

/// A file that was tried.
struct Tried {
    text: String,
    faults: Vec<String>,
}

/// Adds rules to a file and tries it; rules that do not fit become remarks.
fn try_out(
    specs: &SpecRoot,
    target: &Target,
    path: &str,
    head: &str,
    renamed: Vec<Suspicion>,
) -> Tried {
    let group = match generate(specs, path, &format!("{head}{}", text::rules(&renamed).0)) {
        Ok(group) => group,
        Err(error) => {
            return Tried {
                text: head.to_owned(),
                faults: faults(&error),
            };
        }
    };
    let names: Vec<&str> = target.kinds.keys().map(String::as_str).collect();
    let mut rules = judged(suspects(&group, &names), verdicts(&group, target));
    rules.extend(renamed);
    rules.sort();
    loop {
        let (tail, lines) = text::rules(&rules);
        let text = format!("{head}{tail}");
        let Err(error) = generate(specs, path, &text) else {
            let faults = Vec::new();
            return Tried { text, faults };
        };
        let first = head.lines().count() + 1;
        let lines: Vec<usize> = lines.into_iter().map(|line| line + first).collect();
        if !demote(&mut rules, &lines, &error) {
            let faults = faults(&error);
            return Tried { text, faults };
        }
    }
}

/// Makes rules remarks that an error is about; whether there were any.
fn demote(rules: &mut Vec<Suspicion>, lines: &[usize], error: &GeneratorError) -> bool {
    let GeneratorError::Curate(error) = error else {
        return false;
    };
    let mut unfit = BTreeSet::new();
    for problem in &error.problems {
        let Some(index) = lines.iter().position(|line| *line == problem.line) else {
            continue;
        };
        if std::mem::take(&mut rules[index].is_likely) {
            let _ = write!(rules[index].why.to_mut(), ", and yet: {}", problem.message);
            unfit.insert(index);
        }
    }
    // Types of two names may be one, which then has the rule by the other.
    let said: BTreeSet<String> = rules
        .iter()
        .filter(|it| it.is_likely)
        .map(Suspicion::rule)
        .collect();
    let mut index = 0;
    rules.retain(|rule| {
        index += 1;
        !unfit.contains(&(index - 1)) || !said.contains(&rule.rule())
    });
    !unfit.is_empty()
}

fn generate(specs: &SpecRoot, path: &str, text: &str) -> Result<Group, GeneratorError> {
    let config = GroupConfig::parse(path, text)?;
    curated_group(specs, &config)
}

fn faults(error: &GeneratorError) -> Vec<String> {
    error.to_string().lines().map(str::to_owned).collect()
}

//! Lines for one kind as somebody else's CRDs have it, so that it can be replaced: with its names, in all its api-versions, and
//! behind those of its parents that the file lacks.

use std::collections::{BTreeMap, BTreeSet};

use super::drop_in::{
    Candidate, Catalog, PlannedKind, PlannedRead, PlannedSource, Read, Target, Wanted, judged,
    kinds, missing, place, planned_sources, propose_file, read, renames, source_text, unfit,
    verdicts, wanted,
};
use super::error::{ProposeError, hint};
use super::proposal::{Proposal, check_unknown};
use super::suspect::{suspects, types_of};
use super::versions::Versions;
use crate::curation::{GroupConfig, Naming, ReadFrom, SourceRules, SpecFormat};
use crate::load::SpecRoot;
use crate::model::ApiVersion;
use crate::pipeline::curated_group;

/// Proposes lines for `asked`, `PROVIDER/TYPE` or `GROUP/TYPE`, as the kind that `target` has for it, or as `kind` where that is
/// said. Nothing, where `target` has no kind that looks like it.
///
/// # Errors
/// When the kind is unknown or exported already, or cannot be generated: see [`ProposeError`].
pub fn propose_replacement(
    specs: &SpecRoot,
    configs: &[(GroupConfig, String)],
    target: &Target,
    asked: &str,
    kind: Option<&str>,
) -> Result<Option<Proposal>, ProposeError> {
    let (catalog, candidates) = read(specs, &target.group)?;
    let Some(arm_type) = type_of(&candidates, asked) else {
        return Ok(None);
    };
    for (config, _) in configs {
        check_unknown(config, arm_type)?;
    }
    let home = configs
        .iter()
        .find(|(it, _)| it.rules.group == target.group);
    let file = home.map(|(config, _)| config);
    let mut all = wanted(target, &candidates, file, &mut Vec::new());
    if let Some(kind) = kind {
        let named = named(target, arm_type, kind)?;
        all.retain(|it| it.kind != kind && it.arm_type != arm_type);
        all.push(named);
    }
    if !all.iter().any(|it| it.arm_type == arm_type) {
        return Ok(None);
    }
    let is_above = |it: &Wanted| {
        let above = format!("{}/", it.arm_type).to_lowercase();
        format!("{arm_type}/").to_lowercase().starts_with(&above)
    };
    all.retain(|it| {
        let is_new =
            |(config, _): &(GroupConfig, String)| check_unknown(config, &it.arm_type).is_ok();
        is_above(it) && home.is_none_or(is_new)
    });
    let found = (&catalog, candidates.as_slice());
    match home {
        None => new_file(specs, target, found, &all).map(Some),
        Some((config, text)) => grown(specs, target, found, &all, (config, text)).map(Some),
    }
}

/// The type that is asked for, as the specs write it.
fn type_of<'c>(candidates: &'c [Candidate], asked: &str) -> Option<&'c str> {
    let (_, name) = asked.split_once('/')?;
    let mut types = candidates.iter().map(|it| it.arm_type.as_str());
    types.find(|arm_type| {
        let of_type = arm_type.split_once('/').map(|(_, name)| name);
        of_type.is_some_and(|it| it.eq_ignore_ascii_case(name))
    })
}

fn named(target: &Target, arm_type: &str, kind: &str) -> Result<Wanted, ProposeError> {
    let Some(found) = target.kinds.get(kind) else {
        let known: Vec<&str> = target.kinds.keys().map(String::as_str).collect();
        return Err(ProposeError::UnknownKind {
            group: target.group.clone(),
            kind: kind.to_owned(),
            hint: hint(kind, &known),
        });
    };
    Ok(Wanted {
        kind: kind.to_owned(),
        arm_type: arm_type.to_owned(),
        versions: found.namings().into_keys().collect(),
    })
}

/// A file with these kinds alone.
fn new_file(
    specs: &SpecRoot,
    target: &Target,
    (catalog, candidates): (&Catalog, &[Candidate]),
    wanted: &[Wanted],
) -> Result<Proposal, ProposeError> {
    let found = (catalog, candidates);
    let file = propose_file(specs, target, found, wanted, Vec::new())?;
    if !file.faults.is_empty() {
        return Err(ProposeError::Faults(file.faults.join("\n")));
    }
    Ok(Proposal {
        path: file.path,
        head: Some(file.text),
        sources: String::new(),
        versions: Vec::new(),
        tail: String::new(),
        notes: file.notes,
    })
}

/// Lines for a file that is there.
fn grown(
    specs: &SpecRoot,
    target: &Target,
    (catalog, candidates): (&Catalog, &[Candidate]),
    wanted: &[Wanted],
    (config, text): (&GroupConfig, &str),
) -> Result<Proposal, ProposeError> {
    let folders = config.rules.sources.values();
    let folders = folders.map(|source| source.folder.as_str()).collect();
    let placement = place(specs, catalog, wanted, &folders);
    let notes = missing(&placement.missing);
    if placement.placed.is_empty() {
        let kinds: Vec<&str> = wanted.iter().map(|it| it.kind.as_str()).collect();
        return Err(ProposeError::NoVersion {
            kind: kinds.join(", "),
            notes: notes.join("\n"),
        });
    }
    let mut proposal = Proposal {
        path: config.path.clone(),
        head: None,
        sources: String::new(),
        versions: Vec::new(),
        tail: String::new(),
        notes,
    };
    let read = Read { specs, catalog };
    let mut sources = known_sources(config);
    for planned in planned_sources(&read, &placement)? {
        add_source(&mut proposal, &mut sources, planned, (config, text));
    }
    let (namings, notes) = namings(target, wanted, config);
    proposal.notes.extend(notes);
    let kinds = kinds(&read, target, wanted, &sources, &|kind| {
        namings.get(kind).copied()
    });
    proposal.tail = kinds.iter().map(PlannedKind::table).collect();
    proposal.notes.extend(widened(&read, &sources, config));
    add_rules(
        specs,
        target,
        candidates,
        wanted,
        (config, text),
        &mut proposal,
    )?;
    Ok(proposal)
}

/// The sources of a file.
fn known_sources(config: &GroupConfig) -> Vec<PlannedSource> {
    let sources = config.sources().into_iter();
    let known = sources.map(|(name, source)| PlannedSource {
        name: name.to_owned(),
        folder: source.folder.clone(),
        files: source.files.iter().map(|it| it.get_ref().clone()).collect(),
        versions: source
            .versions
            .iter()
            .map(|(version, read)| {
                let read = match read.get_ref() {
                    ReadFrom::Named(SpecFormat::Bicep) => PlannedRead::Bicep,
                    ReadFrom::Named(SpecFormat::OpenApi) => PlannedRead::OpenApi,
                    ReadFrom::Files(files) => PlannedRead::Files(files.clone()),
                };
                (ApiVersion::new(version.get_ref()), read)
            })
            .collect(),
        inherit_from: BTreeSet::new(),
    });
    known.collect()
}

/// Adds what is planned of a source to the one with its folder, else as a new one.
fn add_source(
    proposal: &mut Proposal,
    sources: &mut Vec<PlannedSource>,
    mut planned: PlannedSource,
    (config, text): (&GroupConfig, &str),
) {
    let Some(known) = sources.iter_mut().find(|it| it.folder == planned.folder) else {
        let name = planned.name.clone();
        let is_taken = |name: &str| sources.iter().any(|it| it.name == name);
        let mut names = (2..).map(|number| format!("{name}{number}"));
        if is_taken(&name) {
            planned.name = names.find(|name| !is_taken(name)).unwrap_or(name);
        }
        let table = source_text(&planned);
        let gap = if proposal.sources.is_empty() {
            table.trim_start()
        } else {
            &table
        };
        proposal.sources += gap;
        sources.push(planned);
        return;
    };
    let named = config
        .sources()
        .into_iter()
        .find(|(name, _)| *name == known.name);
    let Some((name, source)) = named else {
        return;
    };
    let read: BTreeMap<ApiVersion, Vec<String>> = planned
        .versions
        .iter()
        .map(|(version, read)| (version.clone(), planned_files(&planned, read)))
        .collect();
    let mut versions = Versions::grown(config, (name, source), &read);
    let bases = inherited(&planned, source);
    versions.inherit((config, text), source, &bases, &planned.files);
    proposal.versions.push(versions);
    for (version, files) in read {
        let entry = known
            .versions
            .entry(version)
            .or_insert(PlannedRead::Files(Vec::new()));
        match entry {
            PlannedRead::Files(listed) if files.is_empty() && listed.is_empty() => {
                *entry = PlannedRead::Bicep;
            }
            PlannedRead::Files(listed) => listed.extend(files),
            PlannedRead::Bicep | PlannedRead::OpenApi => {}
        }
    }
}

/// Spec files of an api-version; none of Bicep types.
fn planned_files(source: &PlannedSource, read: &PlannedRead) -> Vec<String> {
    match read {
        PlannedRead::Bicep => Vec::new(),
        PlannedRead::OpenApi => source.files.clone(),
        PlannedRead::Files(files) => files.clone(),
    }
}

/// The api-versions to inherit from, where the file has none that would do.
fn inherited(planned: &PlannedSource, source: &SourceRules) -> BTreeSet<ApiVersion> {
    let mut read = source.read_versions().into_iter();
    let has_files = |version: &ApiVersion| {
        let listed = source.files(version);
        let mut files = planned.files.iter();
        files.all(|file| listed.iter().any(|it| it.ends_with(&format!("/{file}"))))
    };
    if read.any(|version| !source.is_bicep(&version) && has_files(&version)) {
        return BTreeSet::new();
    }
    planned.inherit_from.clone()
}

/// Kinds that say for themselves how their versions are named, since the file says otherwise.
fn namings(
    target: &Target,
    wanted: &[Wanted],
    config: &GroupConfig,
) -> (BTreeMap<String, Naming>, Vec<String>) {
    let (mut own, mut notes) = (BTreeMap::new(), Vec::new());
    let from = config.rules.new_naming_from.as_ref();
    let from = from.map(|from| ApiVersion::new(from.get_ref()));
    for it in wanted {
        let namings = target.kinds.get(&it.kind).map(|kind| kind.namings());
        let namings = namings.unwrap_or_default();
        let said = |version: &ApiVersion| match &from {
            Some(from) if version >= from => Naming::New,
            _ => config.rules.naming,
        };
        if namings
            .iter()
            .all(|(version, naming)| said(version) == *naming)
        {
            continue;
        }
        let ways: BTreeSet<Naming> = namings.into_values().collect();
        match (ways.len(), ways.first()) {
            (1, Some(way)) => drop(own.insert(it.kind.clone(), *way)),
            _ => notes.push(unfit(&it.kind)),
        }
    }
    (own, notes)
}

/// Remarks on kinds of the file that would be exported from further api-versions, because they list none.
fn widened(read: &Read<'_>, sources: &[PlannedSource], config: &GroupConfig) -> Vec<String> {
    let before = known_sources(config);
    let notes = config.rules.kinds.iter().filter_map(|(name, rules)| {
        if rules.versions.is_some() {
            return None;
        }
        let versions = |sources: &[PlannedSource]| -> BTreeSet<ApiVersion> {
            let having = read.having(sources, rules.arm_type.get_ref());
            having.into_keys().collect()
        };
        let (before, after) = (versions(&before), versions(sources));
        let further: Vec<&str> = after.difference(&before).map(ApiVersion::as_str).collect();
        (!further.is_empty()).then(|| {
            let further = further.join(", ");
            format!(
                "`{}` would be exported from {further}, too; list its `versions` otherwise",
                name.get_ref()
            )
        })
    });
    notes.collect()
}

/// Adds rules.
fn add_rules(
    specs: &SpecRoot,
    target: &Target,
    candidates: &[Candidate],
    wanted: &[Wanted],
    (config, text): (&GroupConfig, &str),
    proposal: &mut Proposal,
) -> Result<(), ProposeError> {
    let known = renames(target, candidates, wanted);
    let mut bare = proposal.clone();
    bare.suspect(&known, Some(config));
    let group = curated_group(specs, &bare.parse(Some(text))?).map_err(Box::new)?;
    let names: Vec<&str> = wanted.iter().map(|it| it.kind.as_str()).collect();
    let types = types_of(&group, &names);
    let mut verdicts = verdicts(&group, target);
    verdicts.retain(|(type_name, _), _| types.contains(type_name));
    let guessed = judged(suspects(&group, &names), verdicts);
    *proposal = proposal.with_rules(specs, (&known, guessed), (Some(config), Some(text)))?;
    Ok(())
}

//! `cargo xtask parity --propose`: the lines of a curation file that would settle differences, tried before they are told.
//!
//! | module | what lives here |
//! |---|---|
//! | [`world`], [`site`] | a group with some lines: what it comes to, and which type of Azure's a path leads to |
//! | [`find`], [`member`], [`kinds`] | from differences to lines that may settle them |
//! | [`candidate`], [`edit`] | such lines, and the text of a file with them |
//! | [`trial`], [`rounds`] | which of them are worth it |
//! | [`report`] | telling |
//!
//! Not here: what differs ([`super::compare`]), and what a line means, which is the generator's part.

mod candidate;
mod edit;
mod find;
mod kinds;
mod member;
mod report;
mod rounds;
mod site;
#[cfg(test)]
mod tests;
mod trial;
mod world;

use std::collections::BTreeMap;

use armature_generator::crd::definitions;
use armature_generator::curation::GroupConfig;
use armature_generator::load::SpecRoot;
use armature_generator::pipeline;
use armature_progress::Progress;
use camino::Utf8Path;

use self::report::Proposals;
use self::rounds::Outcome;
use self::trial::Base;
use self::world::World;
use super::reasons::{self, Reason};
use super::{schema, selection};
use crate::generate::{curation_files, state::spec_root};
use crate::output::{self, Format};
use crate::{sources, workspace};

/// What is asked for.
pub struct Request<'a> {
    /// Only these groups, all when there are none.
    pub groups: &'a [String],
    /// Folder of copies of specs, where one is named.
    pub from: Option<&'a Utf8Path>,
    /// Whether the lines are to be written.
    pub is_write: bool,
    /// How to tell.
    pub format: Format,
}

/// Proposes lines for groups.
pub fn run(
    root: &Utf8Path,
    request: &Request<'_>,
    target: impl Fn(&str) -> anyhow::Result<schema::Group>,
) -> anyhow::Result<()> {
    let specs = specs(root, request.from)?;
    let reasons = reasons::read(root)?;
    let progress = Progress::new();
    let mut proposals = Vec::new();
    let mut files = Vec::new();
    for (path, text) in wanted(root, request.groups)? {
        let config = GroupConfig::parse(path.as_str(), &text)?;
        let target = target(&config.api_group())?;
        let outcome = of_group(&specs, &path, &text, target, &reasons, &progress)?;
        proposals.push(Proposals::new(&config.rules.group, &path, &outcome));
        files.push((path, text, outcome.text));
    }
    drop(progress);
    output::print(&match request.format {
        Format::Text => report::text(&proposals),
        Format::Jsonl => output::lines(&proposals)?,
        format => format.document(&proposals)?,
    })?;
    for (path, before, after) in &files {
        if request.is_write && before != after {
            workspace::replace(&root.join(path), after)?;
            eprintln!("{path} is written; run `cargo xtask gen` next");
        }
    }
    Ok(())
}

/// CRDs of groups as their curation files have them.
pub fn curated(
    root: &Utf8Path,
    groups: &[String],
    from: Option<&Utf8Path>,
) -> anyhow::Result<BTreeMap<String, schema::Group>> {
    let specs = specs(root, from)?;
    let mut crds = Vec::new();
    for (path, text) in wanted(root, groups)? {
        let config = GroupConfig::parse(path.as_str(), &text)?;
        let group = pipeline::curated_group(&specs, &config)?;
        crds.extend(definitions(&group, |_| true)?);
    }
    schema::read_crds(&crds)
}

/// The pinned specs and Bicep types.
fn specs(root: &Utf8Path, from: Option<&Utf8Path>) -> anyhow::Result<SpecRoot> {
    let lock = sources::Lock::read(root)?;
    spec_root(&lock, |source| {
        anyhow::Ok(sources::current(root, source, from)?.path)
    })
}

/// The curation files of groups with their text.
fn wanted(root: &Utf8Path, groups: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    let files = curation_files(root)?.into_iter();
    let named = files.filter_map(|(path, text)| {
        let group = path.parent()?.file_name()?.to_owned();
        Some((group, (path.into_string(), text)))
    });
    let files = selection::select(named.collect(), groups)?;
    Ok(files.into_values().collect())
}

/// Proposes lines for the group of a curation file.
fn of_group(
    specs: &SpecRoot,
    path: &str,
    text: &str,
    target: schema::Group,
    reasons: &[Reason],
    progress: &Progress,
) -> anyhow::Result<Outcome> {
    let mut world = World::new(specs, path, text, (target, reasons))?;
    let seen = world.look(text, None)?;
    let base = Base {
        text: text.to_owned(),
        explained: world.explained(&seen),
        seen,
    };
    let outcome = rounds::propose(&mut world, base, progress)?;
    world.check(&outcome.text)?;
    Ok(outcome)
}

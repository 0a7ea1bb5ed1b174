//! What is known not to pass, with reasons, in `specs/<group>/exceptions.toml`; compared with what does not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use armature_conformance::exceptions::{self, Samples};
use armature_conformance::run;
use armature_generated::KINDS;
use serde_json::Value;

use crate::course::Problem;
use crate::folder::Sample;

/// All lists.
#[derive(Debug, Default)]
pub struct Exceptions {
    kinds: BTreeMap<String, String>,
    samples: BTreeMap<String, String>,
    names: BTreeSet<String>,
    /// Files of samples, and the member that Azure Service Operator's CRD does not have.
    unknown_there: BTreeMap<String, String>,
}

impl Exceptions {
    /// Reads the lists of all groups.
    pub fn read() -> Self {
        let mut all = Self::default();
        for exception in exceptions::Exceptions::read().unwrap().samples {
            match exception {
                Samples::Without(known) => drop(all.kinds.insert(known.kind, known.because)),
                Samples::NotPassing(known) => {
                    for file in known.files {
                        let member = known.unknown_there.iter();
                        let member = member.map(|member| (file.clone(), member.clone()));
                        all.unknown_there.extend(member);
                        all.samples.insert(file, known.because.clone());
                    }
                }
            }
        }
        all.names = all.samples.keys().cloned().collect();
        all
    }

    /// Samples that are known not to pass.
    pub fn samples(&self) -> &BTreeSet<String> {
        &self.names
    }

    /// Why a sample is known not to pass.
    pub fn reason(&self, sample: &str) -> &str {
        self.samples.get(sample).map_or("", String::as_str)
    }

    /// Lines that say of a sample that Azure Service Operator's CRD does not have a member of it, where that is not so.
    /// `shapes` are its CRDs as they are published, one file for each group.
    pub fn unfounded(&self, shapes: &Path, samples: &[&Sample]) -> Vec<String> {
        let is_founded = |(file, member): &(&String, &String)| {
            let sample = samples.iter().find(|sample| sample.file == **file)?;
            let (group, version) = sample.api_version();
            let text = std::fs::read_to_string(shapes.join(format!("{group}.json"))).ok()?;
            let crds: Value = serde_json::from_str(&text).ok()?;
            let versions = &crds[sample.kind_name()]["versions"];
            let same = versions[version]["same-as"].as_str();
            let properties = versions[same.unwrap_or(version)].as_object()?;
            let pointer = format!("/{}", member.replace('.', "/"));
            Some(sample.value.pointer(&pointer).is_some() && !properties.contains_key(*member))
        };
        let lines = self.unknown_there.iter();
        let unfounded = lines.filter(|line| is_founded(line) != Some(true));
        let told = unfounded.map(|(file, member)| {
            format!("{file} has no {member} that Azure Service Operator's CRD lacks: correct its `unknown-there`")
        });
        told.collect()
    }

    /// What is wrong with the kinds that have samples.
    pub fn of_kinds(&self, sampled: &BTreeSet<(&str, &str)>) -> Vec<String> {
        let mut wrong = Vec::new();
        for kind in KINDS {
            let has_sample = sampled.contains(&(kind.group, kind.kind));
            let name = format!("{}/{}", kind.group, kind.kind);
            match (has_sample, self.kinds.contains_key(&name)) {
                (false, false) => wrong.push(format!(
                    "{name} has no sample: add one to samples/{0}, or `[[samples]]` with `kind = \"{name}\"` and `because` to specs/{0}/exceptions.toml",
                    run::short(kind.group)
                )),
                (true, true) => wrong.push(format!(
                    "{name} has a sample: take it out of specs/{}/exceptions.toml",
                    run::short(kind.group)
                )),
                _ => {}
            }
        }
        let names: BTreeSet<String> = KINDS
            .iter()
            .map(|kind| format!("{}/{}", kind.group, kind.kind))
            .collect();
        let unknown = self.kinds.keys().filter(|name| !names.contains(*name));
        wrong
            .extend(unknown.map(|name| {
                format!("{name} is in an exceptions.toml, and no such kind is served")
            }));
        wrong
    }

    /// New problems of samples that were tried, and lines for what passes or is not there at all.
    pub fn of_samples(
        &self,
        files: &BTreeSet<String>,
        tried: &BTreeSet<String>,
        problems: &[Problem],
    ) -> Vec<String> {
        let failed: BTreeSet<&String> = problems.iter().map(|problem| &problem.file).collect();
        let new = problems
            .iter()
            .filter(|problem| !self.names.contains(&problem.file));
        let mut wrong: Vec<String> = new.map(ToString::to_string).collect();
        for sample in &self.names {
            let what = match (files.contains(sample), tried.contains(sample)) {
                (false, _) => "is not there",
                (_, true) if !failed.contains(sample) => "passes",
                _ => continue,
            };
            wrong.push(format!(
                "{sample} {what}: take it out of the group's exceptions.toml"
            ));
        }
        wrong
    }
}

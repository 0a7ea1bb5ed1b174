//! What is known not to pass, with reasons, in `specs/<group>/samples.yaml`; compared with what does not.

use std::collections::{BTreeMap, BTreeSet};

use armature_conformance::differences;
use armature_generated::KINDS;
use serde::Deserialize;

use crate::course::Problem;

/// One line of a list.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Exception {
    /// A kind without a sample of ours.
    Kind(WithoutSample),
    /// A sample of Azure Service Operator that does not pass.
    Sample(NotPassing),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WithoutSample {
    /// API group and kind: `storage.azure.com/StorageAccount`.
    kind: String,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotPassing {
    /// File below the folder of samples: `storage/v1api20230101/account.yaml`.
    sample: String,
    reason: String,
}

/// All lists.
#[derive(Debug, Default)]
pub struct Exceptions {
    kinds: BTreeMap<String, String>,
    samples: BTreeMap<String, String>,
    names: BTreeSet<String>,
}

impl Exceptions {
    /// Reads the lists of all groups.
    pub fn read() -> Self {
        let lists: Vec<Exception> = differences::read("samples.yaml").unwrap();
        let mut all = Self::default();
        for exception in lists {
            match exception {
                Exception::Kind(known) => drop(all.kinds.insert(known.kind, known.reason)),
                Exception::Sample(known) => drop(all.samples.insert(known.sample, known.reason)),
            }
        }
        all.names = all.samples.keys().cloned().collect();
        all
    }

    /// Samples that are known not to pass.
    pub fn samples(&self) -> &BTreeSet<String> {
        &self.names
    }

    /// What is wrong with the kinds that have samples.
    pub fn of_kinds(&self, sampled: &BTreeSet<(&str, &str)>) -> Vec<String> {
        let mut wrong = Vec::new();
        for kind in KINDS {
            let has_sample = sampled.contains(&(kind.group, kind.kind));
            let name = format!("{}/{}", kind.group, kind.kind);
            match (has_sample, self.kinds.contains_key(&name)) {
                (false, false) => wrong.push(format!(
                    "{name} has no sample: add one to samples/{0}, or `- kind: {name}` with its `reason` to specs/{0}/samples.yaml",
                    kind.category
                )),
                (true, true) => wrong.push(format!(
                    "{name} has a sample: take its line out of specs/{}/samples.yaml",
                    kind.category
                )),
                _ => {}
            }
        }
        let names: BTreeSet<String> = KINDS
            .iter()
            .map(|kind| format!("{}/{}", kind.group, kind.kind))
            .collect();
        let unknown = self.kinds.keys().filter(|name| !names.contains(*name));
        wrong.extend(
            unknown.map(|name| format!("{name} is in a samples.yaml, and no such kind is served")),
        );
        wrong
    }

    /// New problems, and lines for what passes or is not there.
    pub fn of_samples(&self, tried: &BTreeSet<String>, problems: &[Problem]) -> Vec<String> {
        let failed: BTreeSet<&String> = problems.iter().map(|problem| &problem.file).collect();
        let new = problems
            .iter()
            .filter(|problem| !self.names.contains(&problem.file));
        let mut wrong: Vec<String> = new.map(ToString::to_string).collect();
        for sample in &self.names {
            let what = match (tried.contains(sample), failed.contains(sample)) {
                (_, true) => continue,
                (true, false) => "passes",
                (false, false) => "is not there",
            };
            wrong.push(format!(
                "{sample} {what}: take its line out of the group's samples.yaml"
            ));
        }
        wrong
    }
}

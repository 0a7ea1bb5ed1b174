//! Passes 1 to 3 over every file of a spec tree, each file by itself.
//!
//! Tells how much of Azure the front ends understand, without any curation. Here: the run and its counts. Not here:
//! how they are shown (`xtask`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{self, AssertUnwindSafe};

use rayon::prelude::*;
use serde::Serialize;

use crate::discover::{DiscoverError, discover};
use crate::load::{LoadError, SpecRoot, load};
use crate::model::ApiVersion;
use crate::types::{TypesError, build};

/// Told about each file as it is done. Files are read in parallel, so calls come in any order.
pub trait Progress: Sync {
    /// A file is done.
    fn file(&self, report: &FileReport);
}

impl<F: Fn(&FileReport) + Sync> Progress for F {
    fn file(&self, report: &FileReport) {
        self(report);
    }
}

/// One file and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// The file, relative to the root of the tree.
    pub file: String,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub enum Outcome {
    /// All passes succeeded.
    Read(Content),
    /// The file is in no format that a front end reads.
    Unknown {
        /// The error as a sentence.
        reason: String,
    },
    /// A pass refused the file.
    Refused {
        /// The pass.
        pass: Pass,
        /// The error as a sentence.
        reason: String,
    },
    /// A pass panicked: a bug of the generator.
    Panicked {
        /// What the panic said.
        reason: String,
    },
}

/// What a file holds. A file of shared definitions has no resources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Content {
    /// Api-version that the file declares.
    pub api_version: Option<String>,
    /// Resources in order of ARM type.
    pub resources: Vec<FoundResource>,
    /// Number of types that the resources reach.
    pub types: usize,
}

/// A resource that a file describes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundResource {
    /// Proposed kind.
    pub kind: String,
    /// ARM type.
    pub arm_type: String,
}

/// A pass that may refuse a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pass {
    /// Reading the file and all that it refers to.
    Load,
    /// Telling its resources.
    Discover,
    /// Building their types.
    Types,
}

impl fmt::Display for Pass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Load => "load",
            Self::Discover => "discover",
            Self::Types => "types",
        })
    }
}

/// Counts over some files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Files in a known format.
    pub files: usize,
    /// Of these, files that gave a result.
    pub read: usize,
    /// Of these, files that a pass refused.
    pub refused: usize,
    /// Of these, files at which a pass panicked.
    pub panicked: usize,
    /// Distinct api-versions of files that were read.
    pub api_versions: usize,
    /// Distinct ARM types.
    pub arm_types: usize,
    /// Distinct pairs of ARM type and api-version.
    pub resources: usize,
    /// Types, each counted once per file.
    pub types: usize,
}

/// Surveys `files` (relative to the root), in parallel. The reports are in the order of `files`.
pub fn survey(root: &SpecRoot, files: &[String], progress: &dyn Progress) -> Vec<FileReport> {
    files
        .par_iter()
        .map(|file| {
            let report = FileReport {
                file: file.clone(),
                outcome: contained(|| outcome(root, file)),
            };
            progress.file(&report);
            report
        })
        .collect()
}

/// Counts by group and, last, over all. A group is the first folder of a path that tells files apart.
pub fn counts(reports: &[FileReport]) -> (BTreeMap<String, Counts>, Counts) {
    let depth = shared_folders(reports);
    let mut groups: BTreeMap<String, Vec<&FileReport>> = BTreeMap::new();
    for report in reports {
        let group = report.file.split('/').nth(depth).unwrap_or_default();
        groups.entry(group.to_owned()).or_default().push(report);
    }
    let groups = groups
        .into_iter()
        .map(|(group, reports)| (group, count(reports)))
        .filter(|(_, counts)| counts.files > 0)
        .collect();
    (groups, count(reports))
}

/// Number of folders that all files have in common.
fn shared_folders(reports: &[FileReport]) -> usize {
    let Some(first) = reports.first() else {
        return 0;
    };
    let folders: Vec<&str> = first.file.split('/').collect();
    let shared = |report: &FileReport| {
        let parts = folders[..folders.len() - 1].iter();
        parts
            .zip(report.file.split('/'))
            .take_while(|(left, right)| *left == right)
            .count()
    };
    reports.iter().map(shared).min().unwrap_or_default()
}

fn count<'a>(reports: impl IntoIterator<Item = &'a FileReport>) -> Counts {
    let mut counts = Counts::default();
    let mut versions = BTreeSet::new();
    let mut arm_types = BTreeSet::new();
    let mut resources = BTreeSet::new();
    for report in reports {
        match &report.outcome {
            Outcome::Unknown { .. } => continue,
            Outcome::Refused { .. } => counts.refused += 1,
            Outcome::Panicked { .. } => counts.panicked += 1,
            Outcome::Read(content) => {
                counts.read += 1;
                counts.types += content.types;
                versions.extend(content.api_version.as_deref());
                for resource in &content.resources {
                    let arm_type = resource.arm_type.to_ascii_lowercase();
                    arm_types.insert(arm_type.clone());
                    resources.insert((arm_type, content.api_version.as_deref()));
                }
            }
        }
        counts.files += 1;
    }
    counts.api_versions = versions.len();
    counts.arm_types = arm_types.len();
    counts.resources = resources.len();
    counts
}

/// Why a file gave no result, with the pass that said so.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    #[error(transparent)]
    Types(#[from] TypesError),
}

/// The outcome of one file, also where the generator panics on it: the other files are still of interest.
fn contained(outcome: impl FnOnce() -> Outcome) -> Outcome {
    // Nothing that is left half-done is used again: a document is kept only when it is complete.
    panic::catch_unwind(AssertUnwindSafe(outcome)).unwrap_or_else(|payload| {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Outcome::Panicked {
            reason: text.unwrap_or_else(|| "a panic without a text".to_owned()),
        }
    })
}

fn outcome(root: &SpecRoot, file: &str) -> Outcome {
    match content(root, file) {
        Ok(content) => Outcome::Read(content),
        Err(refusal) => {
            let reason = refusal.to_string();
            let pass = match &refusal {
                Refusal::Load(LoadError::UnknownFormat { file: named }) if named == file => {
                    return Outcome::Unknown { reason };
                }
                Refusal::Load(_) => Pass::Load,
                Refusal::Discover(_) => Pass::Discover,
                Refusal::Types(_) => Pass::Types,
            };
            Outcome::Refused { pass, reason }
        }
    }
}

fn content(root: &SpecRoot, file: &str) -> Result<Content, Refusal> {
    let set = load(root, &[file.to_owned()])?;
    let discovered = discover(&set)?;
    let api_version = set
        .listed()
        .find_map(|document| document.api_version.clone());
    let named = ApiVersion::new(api_version.as_deref().unwrap_or_default());
    let version = build(&set, named, &discovered)?;
    Ok(Content {
        api_version,
        resources: version
            .resources
            .iter()
            .map(|resource| FoundResource {
                kind: resource.kind.clone(),
                arm_type: resource.arm_type.clone(),
            })
            .collect(),
        types: version.types.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_over_one_file_is_an_outcome_and_counts() {
        let outcome = contained(|| panic!("{} is bad", "this"));
        let reason = "this is bad".to_owned();
        assert_eq!(outcome, Outcome::Panicked { reason });
        let report = FileReport {
            file: "a/b.json".to_owned(),
            outcome,
        };
        let (_, total) = counts(&[report]);
        assert_eq!((total.files, total.panicked, total.read), (1, 1, 0));
    }
}

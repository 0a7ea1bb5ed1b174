//! All resources that the specs and Bicep types of a provider describe, each file read once.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::matching::Candidate;
use crate::curation::bicep_file;
use crate::discover::{DiscoveredResource, discover};
use crate::load::{Schema, SpecRoot, SpecSet, load};
use crate::model::ApiVersion;
use crate::propose::files::SpecFile;

/// A resource in a file.
#[derive(Clone, Debug)]
pub(in crate::propose) struct Entry {
    pub arm_type: String,
    /// Proposed kind.
    kind: String,
    pub version: ApiVersion,
    /// Folder above `stable` and `preview`; of Bicep types, that above the api-version.
    pub folder: String,
    /// The file.
    pub path: String,
    pub is_bicep: bool,
    members: BTreeSet<String>,
}

/// All resources of a provider.
#[derive(Clone, Debug, Default)]
pub(in crate::propose) struct Catalog {
    entries: Vec<Entry>,
}

impl Catalog {
    /// Reads files. What of them cannot be understood is left out; the survey tells of such files.
    pub fn read(specs: &SpecRoot, files: &[&SpecFile<'_>]) -> Self {
        let entries = files.par_iter().flat_map_iter(|file| {
            // A source looks for an api-version in the folder of its stage only.
            if is_readable(file) {
                entries(specs, file)
            } else {
                Vec::new()
            }
        });
        Self {
            entries: entries.collect(),
        }
    }

    /// The entries of a type, in any casing.
    pub fn of<'c>(&'c self, arm_type: &'c str) -> impl Iterator<Item = &'c Entry> + Clone {
        let entries = self.entries.iter();
        entries.filter(move |entry| entry.arm_type.eq_ignore_ascii_case(arm_type))
    }

    /// The types, each with what is known of it.
    pub fn candidates(&self) -> Vec<Candidate> {
        let mut found = BTreeMap::<String, Candidate>::new();
        for entry in &self.entries {
            let candidate = found.entry(entry.arm_type.to_lowercase()).or_default();
            // The casing of the specs, which Bicep types have from them.
            if candidate.arm_type.is_empty() || !entry.is_bicep {
                candidate.arm_type.clone_from(&entry.arm_type);
            }
            candidate.kinds.insert(entry.kind.clone());
            candidate.versions.insert(entry.version.clone());
            candidate.members.extend(entry.members.iter().cloned());
        }
        found.into_values().collect()
    }

    /// Files that have resources.
    pub fn files(&self) -> BTreeSet<&str> {
        let entries = self.entries.iter();
        entries.map(|entry| entry.path.as_str()).collect()
    }

    /// Folders of specs.
    pub fn folders(&self) -> BTreeSet<&str> {
        let entries = self.entries.iter().filter(|entry| !entry.is_bicep);
        entries.map(|entry| entry.folder.as_str()).collect()
    }

    /// The folder of specs that a source with Bicep types of `entry` would have, where none of these are there.
    pub fn named_after(entry: &Entry) -> String {
        let provider = entry.arm_type.split('/').next().unwrap_or_default();
        let service = entry.path.split('/').nth(1).unwrap_or_default();
        format!("specification/{service}/resource-manager/{provider}")
    }
}

impl Entry {
    /// Whether a source of this folder reads it.
    pub fn is_in(&self, specs: &SpecRoot, folder: &str) -> bool {
        if self.is_bicep {
            return specs.place(&bicep_file(folder, &self.version)) == specs.place(&self.path);
        }
        self.folder == folder
    }
}

fn is_readable(file: &SpecFile<'_>) -> bool {
    let stage = if ApiVersion::new(file.version).is_preview() {
        "preview"
    } else {
        "stable"
    };
    let folder = format!("{}/{stage}/{}/", file.folder, file.version);
    file.is_bicep() || file.path.starts_with(&folder)
}

fn entries(specs: &SpecRoot, file: &SpecFile<'_>) -> Vec<Entry> {
    let Ok(set) = load(specs, &[file.path.to_owned()]) else {
        return Vec::new();
    };
    let resources = discover(&set).unwrap_or_default();
    let entry = |resource: &DiscoveredResource<'_>| Entry {
        arm_type: resource.arm_type.clone(),
        kind: resource.kind.clone(),
        version: ApiVersion::new(file.version),
        folder: file.folder.to_owned(),
        path: file.path.to_owned(),
        is_bicep: file.is_bicep(),
        members: members(&set, resource),
    };
    resources.iter().map(entry).collect()
}

/// Names at the root of a resource, those of the object `properties` among them.
fn members(set: &SpecSet, resource: &DiscoveredResource<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for schema in resource.body.into_iter().chain([resource.item]) {
        collect(set, schema, true, &mut found);
    }
    found
}

fn collect(set: &SpecSet, schema: &Schema, is_root: bool, found: &mut BTreeSet<String>) {
    let schema = set.resolve(schema);
    for (name, property) in &schema.properties {
        found.insert(name.clone());
        if is_root && name == "properties" {
            collect(set, property, false, found);
        }
    }
    for part in &schema.all_of {
        collect(set, part, is_root, found);
    }
}

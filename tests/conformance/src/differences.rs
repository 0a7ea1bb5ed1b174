//! The checked-in lists of recorded PUTs that are not rendered alike, and of recordings that the operator does not
//! repeat, each with the reason, in the folder of the group that they are of.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// One known difference.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct KnownDifference {
    /// Recording: `<group>-<version>`.
    pub recording: String,
    /// Path of the PUT below its resource group.
    pub path: String,
    /// Why it differs.
    pub reason: String,
    /// It depends on what Azure has, and is equal where Azure answers the kind's extension as it was recorded.
    #[serde(default)]
    pub equal_after_modifier: bool,
}

/// One known problem of a replayed recording.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct KnownProblem {
    /// Recording: `<group>-<version>`.
    pub recording: String,
    /// The problem, as the test tells it.
    pub problem: String,
    /// Why it is there.
    pub reason: String,
}

/// Reads the lists of this name in the folders of all groups, `specs/<group>/<name>`.
///
/// # Errors
/// When a file cannot be read or is no list of these; it is named.
pub fn read<T: DeserializeOwned>(name: &str) -> Result<Vec<T>> {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs");
    let entries = std::fs::read_dir(&specs).with_context(|| specs.display().to_string())?;
    let mut files = Vec::new();
    for entry in entries {
        let file = entry?.path().join(name);
        if file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    let mut known = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let list: Vec<T> = parse(&text).with_context(|| file.display().to_string())?;
        known.extend(list);
    }
    Ok(known)
}

fn parse<T: DeserializeOwned>(yaml: &str) -> Result<Vec<T>> {
    serde_saphyr::from_str(yaml).context("the list of known differences")
}

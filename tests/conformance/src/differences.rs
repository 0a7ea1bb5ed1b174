//! The checked-in lists of recorded PUTs that are not rendered alike, and of recordings that the operator does not
//! repeat, each with the reason.

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
    /// The kind's own extension, asked the recorded Azure, makes it equal.
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

/// Reads a list.
///
/// # Errors
/// When it is no list of these.
pub fn parse<T: DeserializeOwned>(yaml: &str) -> Result<Vec<T>> {
    serde_saphyr::from_str(yaml).context("the list of known differences")
}

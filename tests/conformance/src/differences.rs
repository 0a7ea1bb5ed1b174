//! The checked-in list of recorded PUTs that are not rendered alike, each with the reason.

use anyhow::{Context, Result};
use serde::Deserialize;

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

/// Reads the list.
///
/// # Errors
/// When it is no list of known differences.
pub fn parse(yaml: &str) -> Result<Vec<KnownDifference>> {
    serde_saphyr::from_str(yaml).context("the list of known differences")
}

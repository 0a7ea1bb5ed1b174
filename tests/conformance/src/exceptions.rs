//! What is known to differ from recordings and samples, each with the reason: `specs/<group>/exceptions.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

/// Name of the file in the folder of a group.
const FILE: &str = "exceptions.toml";

/// What is known of all groups.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Exceptions {
    /// Recorded PUTs that are not rendered alike.
    pub conformance: Vec<OtherPuts>,
    /// Problems of recordings that the operator does not repeat to the letter.
    pub replay: Vec<Unrepeated>,
    /// Kinds without a sample, and samples that do not pass.
    pub samples: Vec<Samples>,
    /// Problems of recorded resources that are imported.
    pub import: Vec<Imported>,
    /// Why CRDs differ: `cargo xtask parity` reads this.
    parity: Vec<IgnoredAny>,
}

/// Recorded PUTs that are not rendered alike, for one reason.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct OtherPuts {
    /// Recording, `<group>-<version>`, and the path of the PUT below its resource group.
    pub puts: BTreeMap<String, String>,
    /// Why they differ.
    #[serde(deserialize_with = "one_line")]
    pub because: String,
    /// It depends on what Azure has, and is equal where Azure answers the kind's extension as it was recorded.
    #[serde(default)]
    pub equal_after_modifier: bool,
}

/// Problems of one replayed recording.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Unrepeated {
    /// Recording: `<group>-<version>`.
    pub recording: String,
    /// The problems, as the test tells them.
    pub problems: Vec<String>,
    /// Why they are there.
    #[serde(deserialize_with = "one_line")]
    pub because: String,
}

/// Samples.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub enum Samples {
    /// A kind without a sample of ours.
    Without(WithoutSample),
    /// Samples of Azure Service Operator that do not pass.
    NotPassing(NotPassing),
}

/// A kind without a sample of ours.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct WithoutSample {
    /// API group and kind: `storage.azure.com/StorageAccount`.
    pub kind: String,
    /// Why it has none.
    #[serde(deserialize_with = "one_line")]
    pub because: String,
}

/// Samples of Azure Service Operator that do not pass, for one reason.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NotPassing {
    /// Files below the folder of samples: `storage/v1api20230101/account.yaml`.
    pub files: Vec<String>,
    /// Why they do not pass.
    #[serde(deserialize_with = "one_line")]
    pub because: String,
    /// What they have and Azure Service Operator's own CRD does not: `spec.type`.
    pub unknown_there: Option<String>,
}

/// A problem of recorded resources that are imported.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Imported {
    /// Kind.
    pub kind: String,
    /// The problem, as the test tells it.
    pub problem: String,
    /// Why it is there.
    #[serde(deserialize_with = "one_line")]
    pub because: String,
}

impl Exceptions {
    /// Reads those of all groups.
    ///
    /// # Errors
    /// When a file cannot be read or has something else; it is named.
    pub fn read() -> Result<Self> {
        let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs");
        let entries = std::fs::read_dir(&specs).with_context(|| specs.display().to_string())?;
        let mut files = Vec::new();
        for entry in entries {
            let file = entry?.path().join(FILE);
            if file.is_file() {
                files.push(file);
            }
        }
        files.sort();
        let mut all = Self::default();
        for file in files {
            let text =
                std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            let group: Self = toml::from_str(&text).with_context(|| file.display().to_string())?;
            all.conformance.extend(group.conformance);
            all.replay.extend(group.replay);
            all.samples.extend(group.samples);
            all.import.extend(group.import);
        }
        Ok(all)
    }
}

impl Unrepeated {
    /// Whether this is about a problem of a recording.
    pub fn is_of(&self, recording: &str, problem: &str) -> bool {
        self.recording == recording && self.problems.iter().any(|known| known == problem)
    }
}

impl OtherPuts {
    /// Whether this is about a PUT of a recording.
    pub fn is_of(&self, recording: &str, path: &str) -> bool {
        self.puts.get(recording).is_some_and(|known| known == path)
    }
}

/// A reason as it stands on pages, however it is broken into lines in the file.
fn one_line<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let words: Vec<&str> = text.split_whitespace().collect();
    Ok(words.join(" "))
}

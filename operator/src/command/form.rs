//! Answers as text for people, and as JSON and YAML for programs.

use anyhow::Context;
use armature_runtime::reconcile::plain::plain;
use clap::ValueEnum;
use serde::Serialize;

/// Form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    Text,
    Json,
    Yaml,
}

impl Form {
    /// The answer in this form; `text` is the one for people.
    ///
    /// # Errors
    /// When the value cannot be written so, which is a defect.
    pub fn of(
        self,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<String> {
        match self {
            // Words of users and of Azure move no cursor and set no colour.
            Self::Text => Ok(plain(&text()).into_owned()),
            Self::Json => json(value),
            Self::Yaml => yaml(value),
        }
    }
}

/// JSON with a line for each member.
///
/// # Errors
/// When the value has no such form, which is a defect.
pub fn json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value).context("cannot write the answer as JSON")? + "\n")
}

/// One YAML document.
///
/// # Errors
/// When the value has no such form, which is a defect.
pub fn yaml(value: &impl Serialize) -> anyhow::Result<String> {
    let text = serde_saphyr::to_string(value).context("cannot write the answer as YAML")?;
    Ok(text.trim_end().to_owned() + "\n")
}

//! `cargo xtask gen --explain`: why a kind or a property is what it is.
//!
//! The answer is `armature_generator::explain`; here is only finding the group to ask, and printing.

use std::process::ExitCode;

use anyhow::Context;
use armature_generator::{
    curation::GroupConfig,
    explain::{Question, explain, unknown_kind},
    load::SpecRoot,
    pipeline,
};

use crate::output::{self, Format};

/// Answers `question` from the first group that has the kind.
pub fn run(
    specs: &SpecRoot,
    configs: &[GroupConfig],
    question: &str,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let question = Question::parse(question);
    let config = configs
        .iter()
        .find(|config| question.concerns(config))
        .with_context(|| unknown_kind(&question, configs))?;
    let group = pipeline::curated_group(specs, config)?;
    let answer = explain(&group, config, &question)?;
    output::print(&match format {
        Format::Text => answer.to_string(),
        Format::Jsonl => output::lines(&[answer])?,
        Format::Json | Format::Yaml => format.document(&answer)?,
    })?;
    Ok(ExitCode::SUCCESS)
}

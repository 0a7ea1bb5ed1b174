//! `cargo xtask gen explain`: why a kind or a property is what it is.
//!
//! The answer is `armature_generator::explain`; here is only finding the group to ask, and printing.

use std::process::ExitCode;

use anyhow::Context;
use armature_generator::{
    explain::{Question, explain, unknown_kind},
    pipeline,
};
use camino::Utf8Path;
use clap::Args;

use super::{InputArguments, group_configs, state};
use crate::output::{self, Format};
use crate::sources;

/// Arguments of `gen explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// What to explain, for example `StorageAccount.spec.sku` or `network/VirtualNetwork`.
    #[arg(value_name = "KIND[.PATH]")]
    question: String,
    /// Format of the answer.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
    #[command(flatten)]
    input: InputArguments,
}

/// Answers the question from the first group that has the kind.
pub fn run(root: &Utf8Path, arguments: &ExplainArguments) -> anyhow::Result<ExitCode> {
    let from = arguments.input.from();
    let folder = |source: &sources::Source| anyhow::Ok(sources::current(root, source, from)?.path);
    let configs = group_configs(root, &arguments.input.group)?;
    let specs = state::spec_root(&sources::Lock::read(root)?, folder)?;
    let question = Question::parse(&arguments.question);
    let config = configs
        .iter()
        .find(|config| question.concerns(config))
        .with_context(|| unknown_kind(&question, &configs))?;
    let group = pipeline::curated_group(&specs, config)?;
    let answer = explain(&group, config, &question)?;
    output::print(&match arguments.output {
        Format::Text => answer.to_string(),
        Format::Jsonl => output::lines(&[answer])?,
        format @ (Format::Json | Format::Yaml) => format.document(&answer)?,
    })?;
    Ok(ExitCode::SUCCESS)
}

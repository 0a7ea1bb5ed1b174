//! `armature kinds` and `armature explain`: what there is to write in a manifest (see [`crate::explain`]).

use std::process::ExitCode;

use clap::Args;

use super::form::Form;
use super::output;
use crate::explain::find::{meant, newest};
use crate::explain::{KindPage, PropertyPage, Topic, matching, text};

/// Arguments of `armature kinds`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature kinds                         All kinds
  armature kinds storage                 Those with `storage` in group, kind or ARM type
  armature kinds 'network*zone' -o json  The same for programs, with versions and exports")]
pub struct KindsArguments {
    /// A part of the group, the kind or the ARM type, in any casing; * stands for anything.
    #[arg(value_name = "PATTERN", default_value = "", hide_default_value = true)]
    pattern: String,

    /// Form of the output.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,
}

/// Arguments of `armature explain`. Its `--version` is that of a kind.
#[derive(Debug, Args)]
#[command(
    disable_version_flag = true,
    after_help = "\
Examples:
  armature explain StorageAccount                        The kind, and the properties of its spec
  armature explain StorageAccount.sku.name               One property
  armature explain StorageAccount.status.primaryEndpoints
  armature explain servicebus/Namespace --version v1api20211101"
)]
pub struct ExplainArguments {
    /// The kind, with its group before it where several have one (`servicebus/Namespace`), and a property of its spec or status.
    #[arg(value_name = "KIND[.PATH]")]
    topic: String,

    /// The version: its name, or the ARM api-version. Else the newest stable one.
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,

    /// Form of the output.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,
}

impl KindsArguments {
    /// Prints kinds. The exit code is 1 when none matches.
    ///
    /// # Errors
    /// When the answer cannot be printed.
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let found = matching(&self.pattern, armature_generated::KINDS);
        if found.is_empty() {
            let hint = match meant(&self.pattern, armature_generated::KINDS) {
                Some(near) => format!(", did you mean '{near}'?"),
                None => "; `armature kinds` lists all".to_owned(),
            };
            output::print_error(format!("no kind matches '{}'{hint}", self.pattern));
            return Ok(ExitCode::FAILURE);
        }
        let pages = found
            .iter()
            .filter_map(|kind| Some(KindPage::new(kind, newest(kind)?)));
        let pages: Vec<KindPage> = pages.collect();
        output::print(&self.output.of(&pages, || text::kinds(&found))?)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl ExplainArguments {
    /// Prints a kind or a property.
    ///
    /// # Errors
    /// When there is no such kind, version or property.
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let topic = Topic::read(
            &self.topic,
            self.version.as_deref(),
            armature_generated::KINDS,
        )?;
        if topic.path.is_empty() {
            let page = KindPage::new(topic.kind, topic.version);
            output::print(&self.output.of(&page, || text::kind(&page))?)?;
        } else {
            let page = PropertyPage::new(&topic)?;
            output::print(&self.output.of(&page, || text::property(&page))?)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

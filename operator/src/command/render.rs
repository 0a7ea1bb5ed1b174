//! `armature render`: prints the ARM requests that manifests would lead to (see [`crate::render`]).

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum};

use crate::render::{self, PLACEHOLDER_SUBSCRIPTION, RenderedRequest};

/// Arguments of `armature render`.
#[derive(Debug, Args)]
pub struct RenderArguments {
    /// Manifests: files, and folders with all .yaml, .yml and .json files below them. Owners and references
    /// are looked for among all of them.
    #[arg(
        short = 'f',
        long = "filename",
        value_name = "PATH",
        required = true,
        num_args = 1..
    )]
    paths: Vec<PathBuf>,

    /// Subscription of the rendered ids.
    #[arg(
        long,
        env = "AZURE_SUBSCRIPTION_ID",
        value_name = "ID",
        default_value = PLACEHOLDER_SUBSCRIPTION
    )]
    subscription: String,

    /// Form of the output: one JSON array, one YAML document for each request, or one line of JSON for each.
    #[arg(short, long, value_enum, default_value_t = Output::Json)]
    output: Output,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Output {
    Json,
    Yaml,
    Jsonl,
}

impl RenderArguments {
    /// Prints requests to standard output and problems to standard error. The exit code is 1 when there is any
    /// problem; what can be rendered is printed all the same.
    ///
    /// # Errors
    /// When a request cannot be written as text.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        // A variable that is set to nothing is not set.
        let subscription = match self.subscription.trim() {
            "" => PLACEHOLDER_SUBSCRIPTION,
            given => given,
        };
        let rendering = render::render_paths(&self.paths, armature_generated::KINDS, subscription);
        let text = format(&rendering.requests, self.output)?;
        std::io::stdout()
            .write_all(text.as_bytes())
            .context("cannot write the requests")?;
        for error in &rendering.errors {
            eprintln!("error: {error}");
        }
        Ok(match rendering.errors.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }
}

fn format(requests: &[RenderedRequest], output: Output) -> anyhow::Result<String> {
    let mut text = String::new();
    match output {
        Output::Json => {
            text = serde_json::to_string_pretty(requests).context("requests as JSON")?;
            text.push('\n');
        }
        Output::Jsonl => {
            for request in requests {
                text.push_str(&serde_json::to_string(request).context("a request as JSON")?);
                text.push('\n');
            }
        }
        Output::Yaml => {
            for request in requests {
                text.push_str("---\n");
                text.push_str(&serde_saphyr::to_string(request).context("a request as YAML")?);
                if !text.ends_with('\n') {
                    text.push('\n');
                }
            }
        }
    }
    Ok(text)
}

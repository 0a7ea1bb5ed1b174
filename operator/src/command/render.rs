//! `armature render`: prints the ARM requests that manifests would lead to (see [`crate::render`]).

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::output;
use crate::render::{self, PLACEHOLDER_SUBSCRIPTION, RenderedRequest};

/// Arguments of `armature render`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature render -f manifests/              All requests that a folder would lead to
  armature render -f account.yaml -o yaml    Those of one file
  helm template shop > shop.yaml && armature render -f shop.yaml -o jsonl

What is wrong goes to standard error, and the exit code is 1; what can be rendered is printed all the same. A warning, such as
one of a value that the spec does not know, changes no exit code.")]
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

    /// Subscription of the rendered ids, and what the operator's credential is for: a GUID, or /subscriptions/GUID. Zeros
    /// when it is not set; then owners that are given by their ARM id may be in any.
    #[arg(
        long,
        env = "AZURE_SUBSCRIPTION_ID",
        value_name = "ID",
        default_value = PLACEHOLDER_SUBSCRIPTION,
        hide_default_value = true,
        value_parser = subscription
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
    /// Prints requests to standard output, problems and warnings to standard error. The exit code is 1 when there is any
    /// problem; what can be rendered is printed all the same.
    ///
    /// # Errors
    /// When a request cannot be written as text.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let kinds = armature_generated::KINDS;
        let rendering = render::render_paths(&self.paths, kinds, &self.subscription);
        let text = format(&rendering.requests, self.output)?;
        output::print(&text)?;
        for warning in &rendering.warnings {
            output::print_warning(warning);
        }
        for error in &rendering.errors {
            output::print_error(error);
        }
        Ok(match rendering.errors.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }
}

/// The GUID of a subscription, from itself or from the id of the subscription.
pub fn subscription(text: &str) -> Result<String, String> {
    const PREFIX: &str = "/subscriptions/";
    let text = text.trim();
    // A variable that is set to nothing is not set.
    if text.is_empty() {
        return Ok(PLACEHOLDER_SUBSCRIPTION.to_owned());
    }
    let guid = match text.get(..PREFIX.len()) {
        Some(start) if start.eq_ignore_ascii_case(PREFIX) => &text[PREFIX.len()..],
        _ => text,
    };
    if is_guid(guid) {
        return Ok(guid.to_owned());
    }
    Err(format!(
        "expected a GUID such as {PLACEHOLDER_SUBSCRIPTION}, or {PREFIX}GUID; `az account show --query id` prints yours"
    ))
}

/// Whether a text is 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
fn is_guid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let mut digits = groups.iter().flat_map(|group| group.bytes());
    lengths == [8, 4, 4, 4, 12] && digits.all(|digit| digit.is_ascii_hexdigit())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscriptions_are_guids_or_ids() {
        let guid = "1234abcd-0000-4000-8000-00000000000A";
        for (text, expected) in [
            (guid, guid),
            (&*format!("/subscriptions/{guid}"), guid),
            (&*format!(" /Subscriptions/{guid}\n"), guid),
            ("", PLACEHOLDER_SUBSCRIPTION),
        ] {
            assert_eq!(subscription(text).as_deref(), Ok(expected), "{text:?}");
        }
        let longer = format!("/subscriptions/{guid}/resourceGroups/g");
        for wrong in [
            "a b",
            "my-subscription",
            "/subscriptions/",
            &longer,
            &guid[1..],
        ] {
            let message = subscription(wrong).unwrap_err();
            assert!(message.starts_with("expected a GUID"), "{wrong}: {message}");
        }
    }
}

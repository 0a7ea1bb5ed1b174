//! `cargo xtask gen diff`: what `gen` would change for users, in words.
//!
//! The comparison is `armature_generator::diff`; here is only what is compared, and printing.

use std::process::ExitCode;
use std::str::FromStr;

use anyhow::Context;
use armature_generator::{
    diff::{self, Report},
    model::ApiVersion,
};
use camino::Utf8Path;
use clap::Args;

use super::InputArguments;
use super::state::State;
use crate::output::{self, Format};

/// Arguments of `gen diff`.
#[derive(Debug, Args)]
pub struct DiffArguments {
    /// Compare with this git revision.
    #[arg(long, value_name = "REVISION", default_value = "HEAD")]
    base: String,
    /// Compare two api-versions of the same group instead: what it means to move a manifest from one to the other.
    #[arg(long, value_name = "FROM..TO", conflicts_with = "base")]
    versions: Option<Versions>,
    /// Exit with 1 when something breaks users; without it, every comparison that succeeds exits with 0.
    #[arg(long)]
    fail_on_breaking: bool,
    /// Format of the answer.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
    #[command(flatten)]
    input: InputArguments,
}

/// Two api-versions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Versions {
    from: ApiVersion,
    to: ApiVersion,
}

impl FromStr for Versions {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (from, to) = text
            .split_once("..")
            .filter(|(from, to)| !from.is_empty() && !to.is_empty())
            .ok_or("expected two api-versions, such as 2021-04-01..2023-01-01")?;
        Ok(Self {
            from: ApiVersion::new(from),
            to: ApiVersion::new(to),
        })
    }
}

/// Runs `gen diff`.
pub fn run(root: &Utf8Path, arguments: &DiffArguments) -> anyhow::Result<ExitCode> {
    let groups = &arguments.input.group;
    let after = State::working(root, arguments.input.from(), groups)?;
    let report = match &arguments.versions {
        Some(versions) => between_versions(&after, versions)?,
        None => {
            let before = State::committed(root, &arguments.base, groups)?;
            diff::compare(&before.groups()?, &after.groups()?)?
        }
    };
    output::print(&render(&report, arguments.output)?)?;
    let fails = arguments.fail_on_breaking && report.breaking > 0;
    Ok(if fails {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Compares two api-versions in every group that has both.
fn between_versions(state: &State, versions: &Versions) -> anyhow::Result<Report> {
    let mut reports = Vec::new();
    let mut refused = Vec::new();
    for group in state.groups()? {
        match diff::compare_versions(&group, &versions.from, &versions.to) {
            Ok(report) => reports.push(report),
            Err(error) => refused.push(error.to_string()),
        }
    }
    anyhow::ensure!(!reports.is_empty(), "{}", refused.join("\n"));
    Ok(Report::merged(reports))
}

/// The report in a format.
pub fn render(report: &Report, format: Format) -> anyhow::Result<String> {
    let text = match format {
        Format::Text => report.text(),
        Format::Json => serde_json::to_string_pretty(report)? + "\n",
        Format::Yaml => serde_saphyr::to_string(report).context("cannot write YAML")?,
        Format::Jsonl => {
            let lines = report.changes.iter().map(serde_json::to_string);
            let lines = lines.collect::<Result<Vec<_>, _>>()?;
            lines.iter().map(|line| format!("{line}\n")).collect()
        }
    };
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_versions_are_given_with_two_dots() {
        let versions = Versions::from_str("2021-04-01-preview..2023-07-01").unwrap();
        assert_eq!(versions.from.as_str(), "2021-04-01-preview");
        assert_eq!(versions.to.as_str(), "2023-07-01");
        for wrong in ["2021-04-01", "..2023-07-01", "2021-04-01.."] {
            assert!(Versions::from_str(wrong).is_err(), "{wrong}");
        }
    }
}

//! `armature crds`: the CRDs as manifests, without a cluster; `crds status` and `crds migrate` are about those of a cluster.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::bail;
use armature_runtime::engine::crd::{CrdOptions, ServedVersions, custom_resource_definition};
use armature_runtime::kind::KindInfo;
use armature_runtime::kubernetes::{CrdLabels, CrdPattern};
use armature_runtime::shape::nearest;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::crd_storage::{MigrateArguments, StatusArguments};
use super::output;
use crate::config::VersionChoice;
use crate::descriptions::describe;
use crate::descriptions::retirements::deprecate;

/// Arguments of `armature crds`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  armature crds > crds.yaml                                   All kinds in all versions
  armature crds --group storage --group resources             Two groups
  armature crds --crd-pattern 'storage.azure.com/*' --crd-versions latest
  armature crds status                                        What is installed, and what an upgrade would change

The manifests hold no conversion: whoever runs the operator with --crd-management none applies them, and the operator
points their conversion at itself."
)]
pub struct CrdsArguments {
    #[command(subcommand)]
    what: Option<CrdsCommand>,

    #[command(flatten)]
    print: PrintArguments,
}

#[derive(Debug, Subcommand)]
enum CrdsCommand {
    /// Tell which versions the CRDs of a cluster store and serve, and what an upgrade would change.
    Status(StatusArguments),
    /// Write objects that may be stored at older versions anew, and make their CRDs forget those versions.
    Migrate(MigrateArguments),
}

#[derive(Debug, Args)]
struct PrintArguments {
    /// Only kinds of this API group: storage.azure.com, or storage for short. Can be repeated.
    #[arg(long, value_name = "GROUP")]
    group: Vec<String>,

    /// Only kinds that match: globs over group/Kind joined by ';'. group/version/Kind names further versions to
    /// serve: those on request, and with --crd-versions latest older ones.
    #[arg(long, default_value = "", value_name = "PATTERN")]
    crd_pattern: CrdPattern,

    /// API versions to serve of each kind.
    #[arg(long, value_enum, default_value_t = VersionChoice::All)]
    crd_versions: VersionChoice,

    /// Labels on the CRDs: name=value, several separated by commas or semicolons.
    #[arg(
        long,
        default_value = "",
        value_name = "LABELS",
        hide_default_value = true
    )]
    crd_labels: CrdLabels,

    /// Put Azure's descriptions of properties into the schemas, for kubectl explain. They nearly double the CRDs, in the API
    /// server's memory too.
    #[arg(long)]
    descriptions: bool,

    /// Mark versions that Azure retires as deprecated, with the day and the version to use: the API server warns who uses one.
    #[arg(long)]
    deprecations: bool,

    /// Put the values that Azure's specs know into the schemas where other values are taken, too: for editors and comparisons.
    #[arg(long)]
    known_values: bool,

    /// Output format: several YAML documents, or one JSON List.
    #[arg(short, long, value_enum, default_value_t = Format::Yaml)]
    output: Format,
}

/// How several manifests are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Documents, one after the other.
    Yaml,
    /// One List.
    Json,
}

impl CrdsArguments {
    /// Prints CRDs, or what there is to say of those of a cluster.
    ///
    /// # Errors
    /// When a pattern or group names nothing, or the cluster cannot be read.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.what {
            Some(CrdsCommand::Status(arguments)) => arguments.run(),
            Some(CrdsCommand::Migrate(arguments)) => arguments.run(),
            None => self.print.run(),
        }
    }
}

impl PrintArguments {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let kinds = self.kinds(armature_generated::KINDS)?;
        output::print(&format(&self.compose(&kinds), self.output)?)?;
        Ok(ExitCode::SUCCESS)
    }

    fn kinds(&self, all: &[&'static KindInfo]) -> anyhow::Result<Vec<&'static KindInfo>> {
        let mut kinds = if self.crd_pattern.is_empty() {
            all.to_vec()
        } else {
            self.crd_pattern.select(all)?
        };
        let groups: BTreeSet<&str> = all.iter().map(|kind| kind.group).collect();
        for wanted in &self.group {
            if !groups.iter().any(|group| is_group(group, wanted)) {
                bail!(unknown_group(wanted, &groups));
            }
        }
        if !self.group.is_empty() {
            kinds.retain(|kind| self.group.iter().any(|wanted| is_group(kind.group, wanted)));
        }
        Ok(kinds)
    }

    fn compose(&self, kinds: &[&'static KindInfo]) -> Vec<Value> {
        let versions = |also| match self.crd_versions {
            VersionChoice::All => ServedVersions::All { also },
            VersionChoice::Latest => ServedVersions::Latest { also },
        };
        let options = |kind: &KindInfo| CrdOptions {
            labels: self.crd_labels.0.clone(),
            versions: versions(self.crd_pattern.versions(kind)),
            operator_version: env!("CARGO_PKG_VERSION").to_owned(),
            known_values: self.known_values,
            ..CrdOptions::default()
        };
        kinds
            .iter()
            .map(|kind| {
                let mut crd = custom_resource_definition(kind, &options(kind));
                if self.descriptions {
                    describe(kind, &mut crd);
                }
                if self.deprecations {
                    deprecate(kind, &mut crd);
                }
                crd
            })
            .collect()
    }
}

fn unknown_group(wanted: &str, groups: &BTreeSet<&str>) -> String {
    match nearest(wanted, groups.iter().copied()) {
        Some(near) => format!("there is no API group `{wanted}`; did you mean `{near}`?"),
        None => format!("there is no API group `{wanted}`; `armature kinds` lists them"),
    }
}

/// Whether this is the group, in full or by its first word.
fn is_group(group: &str, wanted: &str) -> bool {
    group.eq_ignore_ascii_case(wanted)
        || group
            .split('.')
            .next()
            .is_some_and(|short| short.eq_ignore_ascii_case(wanted))
}

/// Several manifests as one text.
///
/// # Errors
/// When one cannot be written so, which is a defect.
pub fn format(crds: &[Value], format: Format) -> anyhow::Result<String> {
    let mut text = String::new();
    match format {
        Format::Yaml => {
            for crd in crds {
                text.push_str("---\n");
                text.push_str(&serde_saphyr::to_string(crd)?);
            }
        }
        Format::Json => {
            let list = json!({"apiVersion": "v1", "kind": "List", "items": crds});
            text = serde_json::to_string_pretty(&list)?;
            text.push('\n');
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_by_full_and_short_name() {
        assert!(is_group("storage.azure.com", "storage"));
        assert!(is_group("storage.azure.com", "Storage.azure.com"));
        assert!(!is_group("storage.azure.com", "stor"));
    }

    #[test]
    fn a_group_that_is_not_known_is_told_with_what_is_meant() {
        let groups = BTreeSet::from(["resources.azure.com", "storage.azure.com"]);
        for (wanted, told) in [
            ("resource", "did you mean `resources.azure.com`?"),
            ("Storage.azur.com", "did you mean `storage.azure.com`?"),
            ("xyz", "`armature kinds` lists them"),
        ] {
            let message = unknown_group(wanted, &groups);
            assert!(message.ends_with(told), "{message}");
        }
    }

    #[test]
    fn yaml_and_json_hold_the_same() {
        let crds = vec![
            json!({"kind": "A", "text": "yes", "pattern": "^a:\\d+$"}),
            json!({"kind": "B", "number": 1.5}),
        ];
        let text = format(&crds, Format::Yaml).unwrap();
        let documents: Vec<Value> = text
            .split("---\n")
            .filter(|document| !document.is_empty())
            .map(|document| serde_saphyr::from_str(document).unwrap())
            .collect();
        assert_eq!(documents, crds);
        let json = format(&crds, Format::Json).unwrap();
        let list: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(list["items"], Value::Array(crds));
    }
}

//! `armature crds status` and `armature crds migrate`: what the CRDs of a cluster store and serve.

use std::process::ExitCode;

use anyhow::Context;
use armature_runtime::engine::crd::name;
use armature_runtime::kind::KindInfo;
use armature_runtime::kubernetes::{
    InstalledCrd, Migrated, StorageMigration, installed_crds, written,
};
use armature_runtime::resource::Kind;
use clap::Args;
use kube::Client;

use super::cluster::ClusterArguments;
use super::form::Form;
use super::output;
use crate::crd_report::{CrdReport, text};
use crate::explain::matching;

/// Arguments of `armature crds status`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature crds status                    All CRDs of the cluster that this program knows
  armature crds status storage            Those with `storage` in group, kind or ARM type
  armature crds status -o yaml            With the names of all versions

UPGRADE is what the operator of this version makes of a CRD, LATEST what it does with --crd-versions latest: versions that it serves
beside (+), and no longer (-). The exit code is 1 when it cannot take a CRD.")]
pub struct StatusArguments {
    /// A part of the group, the kind or the ARM type, in any casing; * stands for anything.
    #[arg(value_name = "PATTERN", default_value = "", hide_default_value = true)]
    pattern: String,

    /// Form of the output.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,

    #[command(flatten)]
    way: ClusterArguments,
}

/// Arguments of `armature crds migrate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature crds migrate                   All CRDs with older stored versions
  armature crds migrate storageaccount    Some of them
  armature crds migrate --dry-run         What would be done

The operator does the same by itself, unless it is limited to namespaces or does not install CRDs; it must run, because its webhook
converts. Each object is written once, unchanged, at most 50 a second; nothing is sent to Azure. The exit code is 1 when older
versions had to stay.")]
pub struct MigrateArguments {
    /// A part of the group, the kind or the ARM type, in any casing; * stands for anything.
    #[arg(value_name = "PATTERN", default_value = "", hide_default_value = true)]
    pattern: String,

    /// Only tell what would be done.
    #[arg(long)]
    dry_run: bool,

    /// Tell only what could not be done; `armature clean crds` has a flag for it.
    #[arg(skip)]
    quiet: bool,

    #[command(flatten)]
    way: ClusterArguments,
}

impl MigrateArguments {
    /// Those of all CRDs.
    pub fn of_all(dry_run: bool, quiet: bool, way: ClusterArguments) -> Self {
        Self {
            pattern: String::new(),
            dry_run,
            quiet,
            way,
        }
    }
}

/// The CRDs of a cluster that match, and whose kinds this program knows.
async fn find(
    client: &Client,
    pattern: &str,
) -> anyhow::Result<Vec<(&'static KindInfo, InstalledCrd)>> {
    let mut installed = installed_crds(client).await?;
    let kinds = matching(pattern, armature_generated::KINDS);
    let found = kinds.into_iter().filter_map(|kind| {
        let name = name(kind);
        let is_it = |crd: &InstalledCrd| crd.metadata.name.as_deref() == Some(&name);
        let at = installed.iter().position(is_it)?;
        Some((kind, installed.swap_remove(at)))
    });
    let found: Vec<_> = found.collect();
    anyhow::ensure!(
        !found.is_empty() || !pattern.is_empty(),
        "no CRD of Armature is installed in this cluster; the operator installs them, and `armature crds` prints them"
    );
    anyhow::ensure!(
        !found.is_empty(),
        "no CRD is installed whose kind matches '{pattern}'; without a pattern all that are installed are meant"
    );
    Ok(found)
}

async fn connect(way: &ClusterArguments) -> anyhow::Result<Client> {
    let config = way.config().await?;
    way.connect(config)
}

fn run<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the async runtime")?;
    runtime.block_on(work)
}

impl StatusArguments {
    /// Prints what there is to say of each CRD.
    ///
    /// # Errors
    /// When the cluster cannot be read, or has no such CRD.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        run(async {
            let client = connect(&self.way).await?;
            let mut reports = Vec::new();
            for (kind, crd) in find(&client, &self.pattern).await? {
                let written = written(&client, kind, &crd).await?;
                reports.push(CrdReport::new(kind, &crd, written.as_ref()));
            }
            output::print(&self.output.of(&reports, || text(&reports))?)?;
            Ok(
                match reports.iter().all(|report| report.problem.is_none()) {
                    true => ExitCode::SUCCESS,
                    false => ExitCode::FAILURE,
                },
            )
        })
    }
}

impl MigrateArguments {
    /// Migrates CRD after CRD, and says what became of each.
    ///
    /// # Errors
    /// When the cluster cannot be read, or has no such CRD.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        run(async {
            let client = connect(&self.way).await?;
            let migration = StorageMigration::new(client.clone());
            let (mut done, mut stays) = (0, 0);
            for (kind, crd) in find(&client, &self.pattern).await? {
                if crd.old_versions(kind).next().is_none() {
                    continue;
                }
                let told = match self.dry_run {
                    true => foretell(&client, kind, &crd).await,
                    false => migrate(&migration, kind, &crd).await,
                };
                match told {
                    Ok(told) => {
                        done += 1;
                        self.tell(&format!("{}: {told}\n", name(kind)))?;
                    }
                    Err(error) => {
                        stays += 1;
                        output::print_error(output::message(&error));
                    }
                }
            }
            if done + stays == 0 {
                self.tell("No object is stored at an older version.\n")?;
            }
            Ok(match stays {
                0 => ExitCode::SUCCESS,
                _ => ExitCode::FAILURE,
            })
        })
    }

    fn tell(&self, line: &str) -> anyhow::Result<()> {
        match self.quiet {
            true => Ok(()),
            false => output::print_text(line),
        }
    }
}

/// What would become of a CRD, in words.
async fn foretell(
    client: &Client,
    kind: &'static KindInfo,
    crd: &InstalledCrd,
) -> anyhow::Result<String> {
    if !crd.needs_migration(kind) {
        return Err(another_storage_version(kind, crd));
    }
    let Some(written) = written(client, kind, crd).await? else {
        return Err(unseen_objects(kind));
    };
    let old: Vec<&str> = crd.old_versions(kind).map(String::as_str).collect();
    Ok(format!(
        "all objects ({}) would be written anew at {}, and {} would be forgotten",
        written.objects,
        kind.hub.storage_version,
        old.join(", ")
    ))
}

fn unseen_objects(kind: &KindInfo) -> anyhow::Error {
    anyhow::anyhow!(
        "{} goes on to name older versions: you may not list its objects in all namespaces",
        name(kind)
    )
}

fn another_storage_version(kind: &KindInfo, crd: &InstalledCrd) -> anyhow::Error {
    let (name, ours) = (name(kind), kind.hub.storage_version);
    let mut versions = crd.spec.versions.iter();
    let storage = versions.find(|version| version.storage);
    let storage = storage.map_or("nothing", |version| &version.name);
    anyhow::anyhow!(
        "{name} stores objects at {storage} and this program at {ours}: run the operator of this version first, so that it updates the CRD"
    )
}

/// What became of a CRD, in words.
async fn migrate(
    migration: &StorageMigration,
    kind: &'static KindInfo,
    crd: &InstalledCrd,
) -> anyhow::Result<String> {
    let ours = kind.hub.storage_version;
    match migration.migrate(Kind(kind)).await? {
        Migrated::Done { objects, dropped } => Ok(format!(
            "all objects ({objects}) are stored at {ours}; {} is forgotten",
            dropped.join(", ")
        )),
        Migrated::NotAllowed => Err(unseen_objects(kind)),
        Migrated::NotNeeded => Err(another_storage_version(kind, crd)),
    }
}

//! `armature import`: manifests of what exists in Azure (see [`crate::import`]).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use armature_progress::Progress;
use armature_runtime::azure::budget::Budget;
use armature_runtime::azure::credential::{SecretData, SecretReader};
use armature_runtime::azure::{Client, Transport};
use armature_runtime::id::ResourceId;
use armature_runtime::reconcile::time::Time;
use armature_runtime::shape::nearest;
use async_trait::async_trait;
use clap::{Args, Subcommand};

use super::asking::AzureArguments;
use super::render::subscription;
use super::{folder, output};
use crate::import::discover::Types;
use crate::import::importer::{self, Report, Setting};
use crate::import::known::Known;
use crate::import::reader::Reader;
use crate::import::{Wanted, text};

const EXAMPLES: &str = "\
Examples:
  armature import --resource-group shop -f shop/                 A resource group with all that is in it, a file for each
  armature import --resource-group shop -o shop.yaml -n team     The same as one file, for a namespace
  armature import /subscriptions/…/storageAccounts/shopdata      One resource with all that is in it
  armature import --subscription 11111111-2222-3333-4444-555555555555 --type StorageAccount
                                                                 Of a whole subscription what is of a type
  armature import --resource-group shop --policy skip -f shop/   For objects that only look, until their policy is changed
  armature plan -f shop/                                         What would change in Azure: nothing

Azure is only read. The credential is that of the environment, as `armature run --help` lists the variables; else of who
is signed in with `az login`.

Exit codes: 0, or 1 when something could not be imported or read; the rest is written all the same.";

/// Arguments of `armature import`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct ImportArguments {
    #[command(subcommand)]
    other: Option<ImportCommand>,

    #[command(flatten)]
    make: MakeArguments,
}

#[derive(Debug, Subcommand)]
enum ImportCommand {
    /// The same, under the name that asoctl has for it.
    AzureResource(Box<MakeArguments>),
}

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
struct MakeArguments {
    /// What to import, with all that is below and on it.
    #[arg(value_name = "ARM-ID")]
    ids: Vec<String>,

    /// Import a resource group: its name. May be given several times.
    #[arg(short = 'g', long, value_name = "NAME")]
    resource_group: Vec<String>,

    /// Import a whole subscription, or say where resource groups are: a GUID, or /subscriptions/GUID.
    #[arg(long, value_name = "ID", value_parser = subscription)]
    subscription: Option<String>,

    /// Import resources of this type alone, and what is below them: an ARM type or a kind. May be given several times.
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,

    /// Write all manifests to one file.
    #[arg(short, long, value_name = "FILE", conflicts_with = "output_folder")]
    output: Option<PathBuf>,

    /// Write a file for each manifest to a folder, and a kustomization.yaml.
    #[arg(short = 'f', long, value_name = "FOLDER")]
    output_folder: Option<PathBuf>,

    /// Replace the file, or the folder with all that is in it.
    #[arg(long)]
    overwrite: bool,

    /// Namespace of the manifests.
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,

    /// Label of the manifests: name=value. May be given several times.
    #[arg(short, long = "label", value_name = "LABEL", value_parser = pair)]
    labels: Vec<(String, String)>,

    /// Annotation of the manifests: name=value. May be given several times.
    #[arg(short, long = "annotation", value_name = "ANNOTATION", value_parser = pair)]
    annotations: Vec<(String, String)>,

    /// Reconcile policy of the manifests.
    #[arg(long, value_name = "POLICY", value_parser = ["manage", "skip", "detach-on-delete"])]
    policy: Option<String>,

    /// Write values, too, that equal the defaults of Azure's specs.
    #[arg(long)]
    with_defaults: bool,

    /// Resources that are read at a time.
    #[arg(short, long, default_value_t = 8, value_name = "N")]
    workers: usize,

    /// Tell the progress in plain lines.
    #[arg(short, long)]
    simple_logging: bool,

    #[command(flatten)]
    azure: AzureArguments,
}

impl ImportArguments {
    /// Writes manifests.
    ///
    /// # Errors
    /// When there is nothing to import, no way to Azure, or something cannot be written.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let make = match self.other {
            Some(ImportCommand::AzureResource(make)) => *make,
            None => self.make,
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("cannot start the async runtime")?;
        runtime.block_on(make.run())
    }
}

impl MakeArguments {
    async fn run(self) -> anyhow::Result<ExitCode> {
        anyhow::ensure!(
            !self.ids.is_empty() || !self.resource_group.is_empty() || self.subscription.is_some(),
            "nothing to import: name ARM ids, or --resource-group or --subscription for all that is in one"
        );
        for path in self.output.iter().chain(&self.output_folder) {
            folder::check_free(path, self.overwrite)?;
        }
        let types = self.types()?;
        let reader = self.reader().await?;
        let (ids, wrong) = self.ids(&reader).await?;
        let setting = Setting {
            kinds: armature_generated::KINDS,
            extensions: armature_customizations::registry()?,
            reader,
            types,
            with_defaults: self.with_defaults,
            wanted: Wanted {
                namespace: self.namespace.clone(),
                labels: self.labels.iter().cloned().collect::<BTreeMap<_, _>>(),
                annotations: self.annotations.iter().cloned().collect::<BTreeMap<_, _>>(),
                policy: self.policy.clone(),
            },
            parallel: self.workers,
            progress: match self.simple_logging {
                true => Progress::plain(),
                false => Progress::new(),
            },
        };
        let mut report = importer::import(ids, &setting).await;
        report.failed.splice(0..0, wrong);
        let Setting {
            wanted, progress, ..
        } = setting;
        drop(progress);
        self.write(&report, &wanted)?;
        Ok(match report.failed.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }

    async fn reader(&self) -> anyhow::Result<Reader> {
        let settings = self.azure.settings(self.subscription.as_deref())?;
        let client: Arc<dyn Transport> = Arc::new(Client::new(settings, Arc::new(NoSecrets))?);
        let budget = Budget::new(self.azure.arm_budget);
        Ok(Reader::new(client, budget, Time::default()).await)
    }

    fn types(&self) -> anyhow::Result<Types> {
        let known = Known::new(armature_generated::KINDS);
        let mut types = Vec::new();
        for name in &self.types {
            let found = known.called(name);
            let kinds = armature_generated::KINDS.iter();
            let names = kinds.flat_map(|kind| [kind.kind, kind.remote_type()]);
            let hint = nearest(name, names).map(|near| format!("; did you mean {near}?"));
            anyhow::ensure!(
                !found.is_empty(),
                "no kind and no ARM type of a kind is called '{name}'{}",
                hint.unwrap_or_default()
            );
            types.extend(found.iter().map(|kind| kind.remote_type().to_owned()));
        }
        Ok(Types::new(types))
    }

    /// What to begin with, and what is no id.
    async fn ids(
        &self,
        reader: &Reader,
    ) -> anyhow::Result<(Vec<ResourceId>, Vec<(String, String)>)> {
        let (mut ids, mut wrong) = (Vec::new(), Vec::new());
        for text in &self.ids {
            match ResourceId::parse(text) {
                Ok(id) => ids.push(id),
                Err(error) => wrong.push((text.clone(), error.to_string())),
            }
        }
        let subscription = match &self.subscription {
            Some(subscription) => Some(subscription.clone()),
            None if self.resource_group.is_empty() => None,
            None => Some(reader.subscription().await?),
        };
        if let Some(subscription) = subscription {
            let all = ResourceId::subscription_of(&subscription);
            for group in &self.resource_group {
                ids.push(ResourceId::parse(&format!("{all}/resourceGroups/{group}"))?);
            }
            if self.resource_group.is_empty() && self.ids.is_empty() {
                ids.push(all);
            }
        }
        Ok((ids, wrong))
    }

    /// Writes the manifests to where they are wanted, and tells the rest where no manifest goes.
    fn write(&self, report: &Report, wanted: &Wanted) -> anyhow::Result<()> {
        let files = text::files(&report.imported, wanted)?;
        let summary = text::summary(report);
        match (&self.output, &self.output_folder) {
            _ if report.imported.is_empty() => {
                eprint!("{summary}");
                return Ok(());
            }
            (_, Some(path)) => folder::write_folder(path, &text::with_kustomization(files)?)?,
            (Some(path), None) => folder::write_file(path, &text::joined(&files))?,
            (None, None) => {
                output::print(&text::joined(&files))?;
                eprint!("{summary}");
                return Ok(());
            }
        }
        output::print(&summary)
    }
}

/// There is no cluster, so no Secret with a credential.
struct NoSecrets;

#[async_trait]
impl SecretReader for NoSecrets {
    async fn read_secret(&self, _: &str, _: &str) -> Result<Option<SecretData>, String> {
        Ok(None)
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=');
    let pair = pair.filter(|(name, _)| !name.trim().is_empty());
    pair.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .ok_or_else(|| "expected name=value".to_owned())
}

//! `armature import`: manifests of what exists in Azure (see [`crate::import`]).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use armature_progress::Progress;
use armature_runtime::azure::budget::Budget;
use armature_runtime::azure::credential::{NamespaceBounds, SecretData, SecretReader};
use armature_runtime::azure::{Client, CredentialKey, Transport};
use armature_runtime::id::ResourceId;
use armature_runtime::reconcile::plain::plain;
use armature_runtime::reconcile::port::DataKind;
use armature_runtime::reconcile::time::Time;
use async_trait::async_trait;
use clap::{Args, Subcommand};

use super::asking::AzureArguments;
use super::cluster::WayArguments;
use super::names::Pairs;
use super::render::subscription;
use super::{azure, folder, names, output};
use crate::import::discover::Types;
use crate::import::importer::{self, Report, Setting};
use crate::import::known::Known;
use crate::import::reader::Reader;
use crate::import::{Wanted, text};
use crate::render::PLACEHOLDER_SUBSCRIPTION;
use crate::transports::reading::NOBODY;
use crate::worlds::applied::Live;

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
is signed in with `az login`. --credential-from takes that in a Secret of a cluster in place of both.

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

    /// Replace the file, or in the folder what an earlier import has written.
    #[arg(long)]
    overwrite: bool,

    /// Namespace of the manifests.
    #[arg(short, long, value_name = "NAME", value_parser = names::namespace)]
    namespace: Option<String>,

    /// Labels of the manifests: name=value, several separated by commas. May be given several times.
    #[arg(short, long = "label", value_name = "LABELS", value_parser = names::labels)]
    labels: Vec<Pairs>,

    /// Annotations of the manifests: name=value, several separated by commas. May be given several times.
    #[arg(short, long = "annotation", value_name = "ANNOTATIONS", value_parser = names::annotations)]
    annotations: Vec<Pairs>,

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

    /// The same, under asoctl's name.
    #[arg(long, hide_short_help = true, conflicts_with = "quiet")]
    verbose: bool,

    /// Tell neither the progress nor, where all was imported, what came of it.
    #[arg(long, hide_short_help = true)]
    quiet: bool,

    #[command(flatten)]
    azure: AzureArguments,

    #[command(flatten)]
    secret: SecretArguments,
}

/// A credential in a cluster. Most flags for clusters have other meanings here.
#[derive(Debug, Args)]
struct SecretArguments {
    /// Secret of a cluster with the credential, as the annotation credential-from names it to the operator.
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = names::namespaced)]
    credential_from: Option<(String, String)>,

    /// The kubeconfig of that cluster; else KUBECONFIG, ~/.kube/config, or the pod's service account.
    #[arg(
        long,
        value_name = "FILE",
        requires = "credential_from",
        hide_short_help = true
    )]
    kubeconfig: Option<PathBuf>,

    /// Context of the kubeconfig; else its current one.
    #[arg(
        long,
        value_name = "NAME",
        requires = "credential_from",
        hide_short_help = true
    )]
    context: Option<String>,
}

impl ImportArguments {
    /// Writes manifests.
    ///
    /// # Errors
    /// When there is nothing to import, no way to Azure, or something cannot be written.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let mut make = match self.other {
            Some(ImportCommand::AzureResource(make)) => *make,
            None => self.make,
        };
        // What is set to nothing is not set.
        make.subscription = make
            .subscription
            .filter(|id| id != PLACEHOLDER_SUBSCRIPTION);
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
                labels: all(&self.labels),
                annotations: all(&self.annotations),
                policy: self.policy.clone(),
            },
            parallel: self.workers,
            progress: match (self.quiet, self.simple_logging || self.verbose) {
                (true, _) => Progress::silent(),
                (false, true) => Progress::plain(),
                (false, false) => Progress::new(),
            },
        };
        let mut report = importer::import(ids, &setting).await;
        if let (0, Some(why)) = (report.requests, setting.reader.unanswered()) {
            anyhow::bail!("nothing was imported, because Azure gave no answer: {why}");
        }
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
        anyhow::ensure!(
            self.secret.credential_from.is_some() || azure::is_signed_in(&settings),
            "{NOBODY}, or name a Secret of a cluster with --credential-from NAMESPACE/NAME"
        );
        let (secrets, credential) = self.secret.read().await?;
        let client: Arc<dyn Transport> = Arc::new(Client::new(settings, secrets)?);
        let budget = Budget::new(self.azure.arm_budget);
        Ok(Reader::new(client, credential, budget, Time::default()).await)
    }

    fn types(&self) -> anyhow::Result<Types> {
        let known = Known::new(armature_generated::KINDS);
        let mut types = Vec::new();
        for name in &self.types {
            types.push(known.called(name)?.remote_type().to_owned());
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
        let is_silent = self.quiet && report.failed.is_empty();
        match (&self.output, &self.output_folder) {
            _ if report.imported.is_empty() => {
                eprint!("{}", plain(&summary));
                return Ok(());
            }
            (_, Some(path)) => folder::write_folder(path, files)?,
            (Some(path), None) => folder::write_file(path, &text::joined(&files))?,
            (None, None) => {
                output::print(&text::joined(&files))?;
                if !is_silent {
                    eprint!("{}", plain(&summary));
                }
                return Ok(());
            }
        }
        match is_silent {
            true => Ok(()),
            false => output::print_text(&summary),
        }
    }
}

impl SecretArguments {
    /// Which credential, and where Secrets are.
    async fn read(&self) -> anyhow::Result<(Arc<dyn SecretReader>, CredentialKey)> {
        let Some((namespace, name)) = self.credential_from.clone() else {
            return Ok((Arc::new(NoSecrets), CredentialKey::Global));
        };
        let way = WayArguments::named(self.kubeconfig.clone(), self.context.clone());
        let client = way.connect(way.config(None).await?)?;
        let secrets = ClusterSecrets(Live::new(client, None));
        Ok((Arc::new(secrets), CredentialKey::Secret { namespace, name }))
    }
}

/// The Secrets of a cluster.
struct ClusterSecrets(Live);

#[async_trait]
impl SecretReader for ClusterSecrets {
    async fn read_secret(&self, namespace: &str, name: &str) -> Result<Option<SecretData>, String> {
        let found = self.0.data(DataKind::Secret, namespace, name).await;
        let found = found.map_err(|error| error.to_string())?;
        Ok(found.map(|secret| SecretData {
            version: format!("{}/{}", secret.uid, secret.resource_version),
            data: secret.values,
        }))
    }

    async fn bounds(&self, namespace: &str, _live: bool) -> Result<NamespaceBounds, String> {
        let annotations = self.0.namespace(namespace).await;
        let annotations = annotations.map_err(|error| error.to_string())?;
        Ok(NamespaceBounds::of(&annotations))
    }
}

/// There is no cluster, so no Secret with a credential.
struct NoSecrets;

#[async_trait]
impl SecretReader for NoSecrets {
    async fn read_secret(&self, _: &str, _: &str) -> Result<Option<SecretData>, String> {
        Ok(None)
    }

    async fn bounds(&self, _: &str, _live: bool) -> Result<NamespaceBounds, String> {
        Ok(NamespaceBounds::default())
    }
}

fn all(pairs: &[Pairs]) -> BTreeMap<String, String> {
    pairs.iter().flat_map(|pairs| pairs.0.clone()).collect()
}

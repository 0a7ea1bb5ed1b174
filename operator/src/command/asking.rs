//! How a command asks Azure what the operator would do: the flags that `armature plan` and others have in common.

use std::path::PathBuf;

use armature_progress::Progress;
use armature_runtime::azure::budget::Limits;
use armature_runtime::reconcile::time::Time;
use clap::Args;

use super::azure;
use super::quantity::{DEFAULT_BUDGET, budget};
use super::render::subscription;
use crate::plan::{Setting, Way};
use crate::render::PLACEHOLDER_SUBSCRIPTION;

/// Flags for the way to Azure.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Azure")]
pub struct AskingArguments {
    /// Ask nobody in Azure: schemas, owners and references alone.
    #[arg(long)]
    pub offline: bool,

    /// Subscription to work in, where the credential is of `az login`: a GUID, or /subscriptions/GUID.
    #[arg(
        long,
        env = "AZURE_SUBSCRIPTION_ID",
        value_name = "ID",
        default_value = PLACEHOLDER_SUBSCRIPTION,
        hide_default_value = true,
        value_parser = subscription
    )]
    pub subscription: String,

    /// Folder with a file for each AZURE_… variable of the credential.
    #[arg(long, env = "ARMATURE_CREDENTIAL_FOLDER", value_name = "FOLDER")]
    pub credential_folder: Option<PathBuf>,

    /// PEM file of certificate authorities to trust for Azure beside the system's.
    #[arg(long, env = "ARMATURE_ARM_CA_FILE", value_name = "FILE")]
    pub arm_ca_file: Option<PathBuf>,

    /// Requests to Azure for each subscription and credential, as `armature run` has it.
    #[arg(
        long,
        env = "ARMATURE_ARM_BUDGET",
        default_value = DEFAULT_BUDGET,
        value_parser = budget,
        value_name = "BUDGET"
    )]
    pub arm_budget: Limits,

    /// Resources that are asked for at a time.
    #[arg(long, default_value_t = 16, value_name = "N")]
    pub parallel: usize,
}

impl AskingArguments {
    /// What a plan needs beside what is planned, for the operator in a namespace.
    ///
    /// # Errors
    /// When the environment's credential makes no sense.
    pub fn setting(&self, operator_namespace: &str) -> anyhow::Result<Setting<'static>> {
        let way = match self.offline {
            true => Way::Offline(self.subscription.clone()),
            false => {
                let is_given = self.subscription != PLACEHOLDER_SUBSCRIPTION;
                let given = is_given.then_some(self.subscription.as_str());
                let (folder, ca_file) = (self.credential_folder.clone(), self.arm_ca_file.clone());
                Way::Azure(Box::new(azure::of_person(given, folder, ca_file)?))
            }
        };
        Ok(Setting {
            kinds: armature_generated::KINDS,
            extensions: armature_customizations::registry()?,
            way,
            operator_namespace: operator_namespace.to_owned(),
            limits: self.arm_budget,
            parallel: self.parallel.max(1),
            time: Time::default(),
            progress: Progress::new(),
        })
    }
}

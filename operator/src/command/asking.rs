//! How a command asks Azure: the flags that all have who do, and what the operator would do.

use std::path::PathBuf;

use armature_progress::Progress;
use armature_runtime::azure::ClientSettings;
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
pub struct AzureArguments {
    /// Folder with a file for each AZURE_… variable of the credential.
    #[arg(long, env = "ARMATURE_CREDENTIAL_FOLDER", value_name = "FOLDER")]
    credential_folder: Option<PathBuf>,

    /// PEM file of certificate authorities to trust for Azure beside the system's.
    #[arg(long, env = "ARMATURE_ARM_CA_FILE", value_name = "FILE")]
    arm_ca_file: Option<PathBuf>,

    /// Requests to Azure for each subscription and credential, as `armature run` has it.
    #[arg(
        long,
        env = "ARMATURE_ARM_BUDGET",
        default_value = DEFAULT_BUDGET,
        value_parser = budget,
        value_name = "BUDGET"
    )]
    pub arm_budget: Limits,
}

/// The same for what the operator would do.
#[derive(Clone, Debug, Args)]
pub struct AskingArguments {
    /// Subscription to work in, where no Secret says it: a GUID, or /subscriptions/GUID.
    #[arg(
        long,
        env = "AZURE_SUBSCRIPTION_ID",
        value_name = "ID",
        default_value = PLACEHOLDER_SUBSCRIPTION,
        hide_default_value = true,
        value_parser = subscription
    )]
    subscription: String,

    #[command(flatten)]
    azure: AzureArguments,

    /// Resources that are asked for at a time.
    #[arg(long, default_value_t = 16, value_name = "N")]
    parallel: usize,
}

impl AzureArguments {
    /// The way to Azure of somebody at a terminal, to a subscription where one is given.
    ///
    /// # Errors
    /// When the credential makes no sense.
    pub fn settings(&self, subscription: Option<&str>) -> anyhow::Result<ClientSettings> {
        let (folder, ca_file) = (self.credential_folder.clone(), self.arm_ca_file.clone());
        azure::of_person(subscription, folder, ca_file)
    }
}

impl AskingArguments {
    /// What a plan needs beside what is planned, for the operator in a namespace; offline, nobody is asked.
    ///
    /// # Errors
    /// When the credential makes no sense.
    pub fn setting(
        &self,
        offline: bool,
        operator_namespace: &str,
    ) -> anyhow::Result<Setting<'static>> {
        let way = match offline {
            true => Way::Offline(self.subscription.clone()),
            false => {
                let is_given = self.subscription != PLACEHOLDER_SUBSCRIPTION;
                let given = is_given.then_some(self.subscription.as_str());
                Way::Azure(Box::new(self.azure.settings(given)?))
            }
        };
        Ok(Setting {
            kinds: armature_generated::KINDS,
            extensions: armature_customizations::registry()?,
            way,
            operator_namespace: operator_namespace.to_owned(),
            told: None,
            limits: self.azure.arm_budget,
            parallel: self.parallel.max(1),
            time: Time::default(),
            progress: Progress::new(),
        })
    }
}

//! `armature check`: what of a cluster this release refuses (see [`crate::check`]).

use std::process::ExitCode;

use armature_runtime::reconcile::allowed_scopes::AllowedScopes;
use clap::Args;

use super::cluster::ClusterArguments;
use super::form::Form;
use super::output;
use super::relations::{code, run};
use super::render::subscription;
use crate::check::{Setting, check, text};
use crate::worlds::applied::Live;

/// Arguments of `armature check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature check                          What of a cluster this release refuses; before an upgrade, with the newer program
  armature check -n shop -o json          One namespace, for programs
  armature check --allowed-scopes /subscriptions/ID/resourceGroups/shop
                                          What a default for namespaces that name no scopes would refuse

It only reads, and asks nothing of Azure. Scopes are looked at as --allowed-scopes-mode enforce does, whatever the operator's mode
is. The exit code is 1 when something would be refused, or not everything could be read.")]
pub struct CheckArguments {
    /// Namespace of the operator, whose settings count; else armature-system, or the only one with a Deployment of it.
    #[arg(long, env = "POD_NAMESPACE", value_name = "NAME")]
    operator_namespace: Option<String>,

    /// Scopes of namespaces that name none; else what the operator's Deployment says.
    #[arg(long, value_parser = AllowedScopes::parse, value_name = "IDS")]
    allowed_scopes: Option<AllowedScopes>,

    /// Subscription of the operator's own credential, where its Secret cannot be read.
    #[arg(
        long,
        env = "AZURE_SUBSCRIPTION_ID",
        value_name = "ID",
        value_parser = subscription
    )]
    subscription: Option<String>,

    /// Form of the output.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,

    #[command(flatten)]
    way: ClusterArguments,
}

impl CheckArguments {
    /// Prints what would be refused.
    ///
    /// # Errors
    /// When the cluster cannot be read.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        run(async {
            let config = self.way.config().await?;
            let client = self.way.connect(config)?;
            let live = Live::new(client.clone(), self.way.namespace().map(str::to_owned));
            let setting = Setting {
                kinds: armature_generated::KINDS,
                extensions: armature_customizations::registry()?,
                operator_namespace: self.operator_namespace.clone(),
                default_scopes: self.allowed_scopes.clone(),
                subscription: self.subscription.clone(),
            };
            let checked = check(&client, &live, &setting).await?;
            for problem in &checked.problems {
                output::print_error(problem);
            }
            output::print(&self.output.of(&checked, || text::text(&checked))?)?;
            Ok(code(
                checked.findings.is_empty() && checked.problems.is_empty(),
            ))
        })
    }
}

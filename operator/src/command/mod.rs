//! The command line of `armature`: one module per subcommand, and [`output`] for what all print.

mod asking;
mod azure;
mod cluster;
pub mod crds;
pub mod explain;
mod folder;
mod form;
pub mod import;
pub mod output;
pub mod plan;
mod quantity;
pub mod relations;
pub mod render;
pub mod run;
pub mod takeover;
pub mod version;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Manages Azure resources from Kubernetes.
#[derive(Debug, Parser)]
#[command(name = "armature", version, about, long_about = None, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the operator until it is told to stop.
    Run(Box<run::RunArguments>),
    /// Print the CRDs as manifests; needs no cluster.
    Crds(crds::CrdsArguments),
    /// Print the requests to Azure that manifests would lead to; needs no cluster.
    Render(render::RenderArguments),
    /// Show what manifests, or what runs in a cluster, would change in Azure; writes nothing.
    Plan(Box<plan::PlanArguments>),
    /// Write manifests of what exists in Azure; reads only.
    Import(Box<import::ImportArguments>),
    /// List the kinds that there are.
    Kinds(explain::KindsArguments),
    /// Explain a kind or a property of it.
    Explain(explain::ExplainArguments),
    /// Show what runs in a cluster below its owners.
    Tree(relations::TreeArguments),
    /// Tell why an object is not ready, and what to do.
    Why(relations::WhyArguments),
    /// Show which objects of a cluster are ready.
    Status(relations::StatusArguments),
    /// Take a cluster over from Azure Service Operator, or give it back.
    Takeover(takeover::TakeoverArguments),
    /// Print the version of this program.
    Version(version::VersionArguments),
}

impl Cli {
    /// Runs the chosen command. The exit code is the command's verdict; an error is what kept it from one.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Run(arguments) => arguments.run(),
            Command::Crds(arguments) => arguments.run(),
            Command::Render(arguments) => arguments.run(),
            Command::Plan(arguments) => arguments.run(),
            Command::Import(arguments) => arguments.run(),
            Command::Kinds(arguments) => arguments.run(),
            Command::Explain(arguments) => arguments.run(),
            Command::Tree(arguments) => arguments.run(),
            Command::Why(arguments) => arguments.run(),
            Command::Status(arguments) => arguments.run(),
            Command::Takeover(arguments) => arguments.run(),
            Command::Version(arguments) => arguments.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn no_two_flags_of_a_command_are_in_each_others_way() {
        Cli::command().debug_assert();
    }
}

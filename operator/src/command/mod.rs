//! The command line of `armature`: one module per subcommand, and [`output`] for what all print.

mod asking;
mod aso_arguments;
mod azure;
pub mod called;
pub mod check;
pub mod clean;
mod cluster;
pub mod completions;
mod crd_storage;
pub mod crds;
pub mod explain;
pub mod export;
mod export_template;
mod folder;
mod form;
pub mod graph;
pub mod import;
pub mod man;
mod names;
pub mod output;
pub mod plan;
mod quantity;
mod reach;
pub mod relations;
pub mod render;
pub mod run;
pub mod sign_notes;
pub mod status;
pub mod takeover;
pub mod version;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  armature plan -f manifests/            What manifests would change in Azure
  armature status -n shop                What runs, and what is ready
  armature why StorageAccount/shopdata   What keeps an object from being ready
  armature explain StorageAccount        What a manifest may say
  armature run --crd-pattern '*/*' --namespace armature-system";

/// Manages Azure resources from Kubernetes.
#[derive(Debug, Parser)]
#[command(name = "armature", version, about, long_about = None, propagate_version = true)]
#[command(after_help = EXAMPLES)]
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
    /// Clean up versions that CRDs have stored, as asoctl has it.
    Clean(clean::CleanArguments),
    /// Print what is installed, as manifests.
    Export(export::ExportArguments),
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
    /// Draw owners and references of manifests, or of what runs in a cluster.
    Graph(graph::GraphArguments),
    /// Tell why an object is not ready, and what to do.
    Why(relations::WhyArguments),
    /// Show which objects of a cluster are ready.
    Status(status::StatusArguments),
    /// Tell what of a cluster this release refuses, before an upgrade; reads only.
    Check(Box<check::CheckArguments>),
    /// Take a cluster over from Azure Service Operator, or give it back.
    Takeover(takeover::TakeoverArguments),
    /// Sign what the operator has noted in all objects, so that it believes nothing else.
    SignNotes(sign_notes::SignNotesArguments),
    /// Print a script that completes commands in a shell.
    Completions(completions::CompletionsArguments),
    /// Print or write pages of the manual.
    Man(man::ManArguments),
    /// Print the version of this program.
    Version(version::VersionArguments),
}

impl Cli {
    /// Runs the chosen command. The exit code is the command's verdict; an error is what kept it from one.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Run(arguments) => arguments.run(),
            Command::Crds(arguments) => arguments.run(),
            Command::Clean(arguments) => arguments.run(),
            Command::Export(arguments) => arguments.run(),
            Command::Render(arguments) => arguments.run(),
            Command::Plan(arguments) => arguments.run(),
            Command::Import(arguments) => arguments.run(),
            Command::Kinds(arguments) => arguments.run(),
            Command::Explain(arguments) => arguments.run(),
            Command::Tree(arguments) => arguments.run(),
            Command::Graph(arguments) => arguments.run(),
            Command::Why(arguments) => arguments.run(),
            Command::Status(arguments) => arguments.run(),
            Command::Check(arguments) => arguments.run(),
            Command::Takeover(arguments) => arguments.run(),
            Command::SignNotes(arguments) => arguments.run(),
            Command::Completions(arguments) => arguments.run(),
            Command::Man(arguments) => arguments.run(),
            Command::Version(arguments) => arguments.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory, Parser};

    use super::Cli;

    #[test]
    fn no_two_flags_of_a_command_are_in_each_others_way() {
        Cli::command().debug_assert();
    }

    /// The words of an example: what stands behind two spaces, up to two more, a pipe or a redirection.
    fn words(line: &str) -> Option<Vec<String>> {
        let line = line.strip_prefix("  ")?;
        let line = line.split("  ").next()?;
        let line = &line[line.find("armature ")?..];
        let line = line.split(['|', '>']).next()?;
        let words = line.split_whitespace();
        Some(words.map(|word| word.replace('\'', "")).collect())
    }

    fn check(command: &Command) {
        let help = command.get_after_help().map(ToString::to_string);
        let help = help.unwrap_or_default();
        let name = command.get_name();
        let examples = help.split_once("Examples:\n").map(|(_, rest)| rest);
        let examples = examples.unwrap_or_else(|| panic!("{name} has no examples"));
        let examples = examples.split("\n\n").next().unwrap_or_default();
        let mut count = 0;
        for words in examples.lines().filter_map(words) {
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("{name}: {words:?}: {error}");
            }
            count += 1;
        }
        assert!(count > 0, "{name} has no examples");
        command.get_subcommands().for_each(check);
    }

    /// Flags that `--help` puts under the heading of clusters.
    fn of_cluster(command: &Command, found: &mut Vec<String>) {
        let under = command
            .get_arguments()
            .filter(|argument| argument.get_help_heading() == Some("Cluster"));
        found.extend(under.map(|argument| argument.get_id().to_string()));
        for command in command.get_subcommands() {
            of_cluster(command, found);
        }
    }

    #[test]
    fn only_flags_for_the_way_to_a_cluster_are_under_its_heading() {
        let mut found = Vec::new();
        of_cluster(&Cli::command(), &mut found);
        let tree = Cli::command();
        let tree = tree.find_subcommand("tree").expect("a command");
        let mut known = Vec::new();
        of_cluster(tree, &mut known);
        assert!(known.contains(&"kubeconfig".to_owned()), "{known:?}");
        found.retain(|flag| !known.contains(flag));
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn every_command_has_examples_that_can_be_typed() {
        check(&Cli::command());
    }
}

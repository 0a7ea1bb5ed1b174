//! `armature plan`: what manifests, or a cluster, would change in Azure (see [`crate::plan`]).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};

use super::asking::AskingArguments;
use super::cluster::WayArguments;
use super::names::Pairs;
use super::{form, names, output};
use crate::colour::Colour;
use crate::plan::input::Prune;
use crate::plan::resource::FORMAT;
use crate::plan::{self, Input, Plan, markdown, text};
use crate::worlds::applied::Live;
use crate::worlds::manifests::manifest;

const EXAMPLES: &str = "\
Examples:
  armature plan -f manifests/                        What a folder would change, by asking Azure
  helm template shop | armature plan -f -            What a chart would change
  armature plan -f manifests/ --cluster              The same as a change of what runs in the cluster
  armature plan -f manifests/ --cluster --prune      and what goes because no manifest has it any more
  armature plan --cluster -n team                    What the operator would do to what runs in a namespace
  armature plan -f manifests/ --offline              Schemas, owners and references alone
  armature plan -f manifests/ --out plan.json        Keep it, and
  armature plan show plan.json -o markdown           show it again, as a comment on a pull request

Exit codes: 0, or 1 when something is wrong or blocked; with --detailed-exitcode also 2 when Azure would change.

Azure is only read. The credential is in the Secret that an object or its namespace names, among the manifests or in the
cluster; else in the environment, as `armature run --help` lists the variables; else it is that of who is signed in with
`az login`.";

/// Arguments of `armature plan`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct PlanArguments {
    #[command(subcommand)]
    show: Option<PlanCommand>,

    #[command(flatten)]
    make: MakeArguments,
}

#[derive(Debug, Subcommand)]
enum PlanCommand {
    /// Show a plan that was written with --out.
    Show(ShowArguments),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature plan show plan.json                As text
  armature plan show plan.json -o markdown    As a comment on a pull request")]
struct ShowArguments {
    /// The plan.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    form: FormArguments,
}

#[derive(Debug, Args)]
struct FormArguments {
    /// Form of the output.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,

    /// Exit with 2 when something in Azure would change.
    #[arg(long)]
    detailed_exitcode: bool,
}

#[derive(Debug, Args)]
struct MakeArguments {
    /// Manifests: files, folders with all .yaml, .yml and .json files below them, and - for what another program prints.
    #[arg(short = 'f', long = "filename", value_name = "PATH", num_args = 1..)]
    paths: Vec<PathBuf>,

    /// Plan what runs in the cluster; with -f, what the manifests change of it. With `=NAME`, in that cluster of the kubeconfig.
    #[arg(
        long,
        value_name = "NAME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    cluster: Option<String>,

    /// Plan the deletion of what runs in the namespaces of the manifests and is in none of them.
    #[arg(long, requires = "cluster", requires = "paths")]
    prune: bool,

    /// Labels of what --prune deletes: name=value, several separated by commas.
    #[arg(short = 'l', long, value_name = "LABELS", value_parser = names::labels, requires = "prune")]
    selector: Vec<Pairs>,

    /// Ask nobody: schemas, owners and references alone.
    #[arg(long, conflicts_with = "cluster")]
    offline: bool,

    /// Write the plan to a file too, for `armature plan show`.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    form: FormArguments,

    #[command(flatten)]
    asking: AskingArguments,

    /// Namespace of the operator that would carry it out.
    #[arg(
        long,
        env = "POD_NAMESPACE",
        default_value = "armature-system",
        value_name = "NAME"
    )]
    operator_namespace: String,

    #[command(flatten)]
    way: WayArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Text,
    Json,
    Yaml,
    Markdown,
}

impl PlanArguments {
    /// Prints what would happen.
    ///
    /// # Errors
    /// When there is nothing to plan, the cluster cannot be read, or a file cannot be read or written.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.show {
            Some(PlanCommand::Show(show)) => show.form.print(&read(&show.file)?),
            None => {
                let runtime = tokio::runtime::Builder::new_multi_thread()
                    .enable_all()
                    .build()
                    .context("cannot start the async runtime")?;
                runtime.block_on(self.make.run())
            }
        }
    }
}

impl MakeArguments {
    async fn run(self) -> anyhow::Result<ExitCode> {
        anyhow::ensure!(
            self.cluster.is_some() || !self.paths.is_empty(),
            "nothing to plan: name manifests with -f, or --cluster for what runs"
        );
        let (documents, errors) = manifest::read(&self.paths);
        let config = match self.cluster.as_deref() {
            Some(name) => {
                let name = Some(name).filter(|name| !name.is_empty());
                Some(self.way.config(name).await?)
            }
            None => None,
        };
        // Manifests without a namespace go where kubectl would put them; what else runs may be anywhere.
        let placed = self.way.namespace.clone();
        let placed = placed.or_else(|| Some(config.as_ref()?.default_namespace.clone()));
        let live = config
            .map(|config| self.way.connect(config))
            .transpose()?
            .map(|client| Live::new(client, self.way.namespace.clone()));
        let input = Input {
            documents,
            namespace: placed,
            live,
            prune: self.prune.then(|| Prune {
                labels: self
                    .selector
                    .iter()
                    .flat_map(|pairs| pairs.0.clone())
                    .collect::<BTreeMap<_, _>>(),
            }),
        };
        let mut plan = plan::plan(
            &input,
            &self
                .asking
                .setting(self.offline, &self.operator_namespace)?,
        )
        .await?;
        let errors = errors.iter().map(ToString::to_string);
        plan.problems.splice(0..0, errors);
        if let Some(file) = &self.out {
            std::fs::write(file, form::json(&plan)?)
                .with_context(|| format!("cannot write the plan to {}", file.display()))?;
        }
        self.form.print(&plan)
    }
}

impl FormArguments {
    fn print(&self, plan: &Plan) -> anyhow::Result<ExitCode> {
        let text = match self.output {
            Output::Text => text::text(plan, Colour::of(&std::io::stdout())),
            Output::Markdown => markdown::markdown(plan),
            Output::Json => form::json(plan)?,
            Output::Yaml => form::yaml(plan)?,
        };
        output::print(&text)?;
        Ok(match (plan.has_problems(), plan.changes_azure()) {
            (true, _) => ExitCode::FAILURE,
            (false, true) if self.detailed_exitcode => ExitCode::from(2),
            (false, _) => ExitCode::SUCCESS,
        })
    }
}

fn read(file: &PathBuf) -> anyhow::Result<Plan> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read the plan {}", file.display()))?;
    let plan: Plan = serde_json::from_str(&text)
        .with_context(|| format!("{} is no plan that --out has written", file.display()))?;
    anyhow::ensure!(
        plan.format == FORMAT,
        "{} has the form {}, and this release reads {FORMAT}; make it again",
        file.display(),
        plan.format
    );
    Ok(plan)
}

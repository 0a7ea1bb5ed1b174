//! `armature graph`: owners and references as a drawing (see [`crate::graph`]).

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use armature_runtime::reconcile::port::DataKind;
use clap::{Args, ValueEnum};

use super::cluster::WayArguments;
use super::output;
use crate::graph::{Graph, Source, dot, mermaid, svg};
use crate::relations::Relations;
use crate::relations::relations::Id;
use crate::worlds::applied::Live;
use crate::worlds::manifests::inventory::Manifests;
use crate::worlds::manifests::manifest;
use crate::worlds::manifests::relevant::relevant;

/// Arguments of `armature graph`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature graph -f manifests/ -o svg > shop.svg              What a folder has, as a drawing
  armature graph --cluster -n shop -o mermaid                 What runs in a namespace, for Markdown
  armature graph --cluster | dot -Tpdf -o all.pdf             What runs, drawn by Graphviz
  helm template shop > shop.yaml && armature graph -f shop.yaml

The exit code is 1 when not everything could be read; what was read is drawn.")]
pub struct GraphArguments {
    /// Manifests: files, folders with all .yaml, .yml and .json files below them, and - for what another program prints.
    #[arg(
        short = 'f',
        long = "filename",
        value_name = "PATH",
        num_args = 1..
    )]
    paths: Vec<PathBuf>,

    /// What runs in the cluster. With `=NAME`, in that cluster of the kubeconfig.
    #[arg(
        long,
        value_name = "NAME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        conflicts_with = "paths"
    )]
    cluster: Option<String>,

    /// Form of the output: text for Graphviz or for Mermaid, or a drawing.
    #[arg(short, long, value_enum, default_value_t = Output::Dot)]
    output: Output,

    #[command(flatten)]
    way: WayArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Dot,
    Mermaid,
    Svg,
}

impl GraphArguments {
    /// Prints the graph.
    ///
    /// # Errors
    /// When the cluster cannot be read.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        anyhow::ensure!(
            self.cluster.is_some() || !self.paths.is_empty(),
            "nothing to draw: name manifests with -f, or --cluster for what runs"
        );
        let (relations, problems, source) = match &self.cluster {
            Some(name) => {
                let runtime = tokio::runtime::Builder::new_multi_thread()
                    .enable_all()
                    .build()
                    .context("cannot start the async runtime")?;
                let (relations, problems) = runtime.block_on(self.of_cluster(name))?;
                (relations, problems, Source::Cluster)
            }
            None => {
                let (relations, problems) = self.of_manifests();
                (relations, problems, Source::Manifests)
            }
        };
        let graph = Graph::new(&relations, source);
        output::print(&match self.output {
            Output::Dot => dot::dot(&graph),
            Output::Mermaid => mermaid::mermaid(&graph),
            Output::Svg => svg::svg(&graph),
        })?;
        for problem in &problems {
            output::print_error(problem);
        }
        Ok(match problems.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }

    async fn of_cluster(&self, name: &str) -> anyhow::Result<(Relations, Vec<String>)> {
        let name = Some(name).filter(|name| !name.is_empty());
        let config = self.way.config(name).await?;
        let client = self.way.connect(config)?;
        let live = Live::new(client, self.way.namespace.clone());
        Ok(Relations::read(&live, armature_generated::KINDS).await?)
    }

    fn of_manifests(&self) -> (Relations, Vec<String>) {
        let kinds = armature_generated::KINDS;
        let (documents, errors) = manifest::read(&self.paths);
        let documents = relevant(&documents, kinds, self.way.namespace.as_deref());
        let (manifests, problems) = Manifests::new(&documents, kinds);
        let of_resources = manifests.resources().iter().flat_map(|one| &one.problems);
        let problems = problems.iter().chain(of_resources).map(ToString::to_string);
        let errors = errors.iter().map(ToString::to_string).chain(problems);
        let errors = errors.collect();
        let objects = manifests.resources().iter().map(|one| one.object.clone());
        let mut relations = Relations::of(&objects.collect::<Vec<_>>());
        let data: Vec<Id> = relations.data().cloned().collect();
        for id in data {
            let (_, kind, namespace, name) = &id;
            let kind = match kind.as_str() {
                "Secret" => DataKind::Secret,
                _ => DataKind::ConfigMap,
            };
            let is_there = manifests.given_data(kind, namespace, name).is_some();
            relations.set_data(&id, is_there);
        }
        (relations, errors)
    }
}

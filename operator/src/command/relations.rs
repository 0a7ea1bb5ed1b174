//! `armature tree` and `armature why`: what runs in a cluster (see [`crate::relations`]).

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use super::cluster::ClusterArguments;
use super::form::Form;
use super::output;
use crate::explain::Topic;
use crate::relations::relations::Id;
use crate::relations::{Node, Relations, Why, text};
use crate::worlds::applied::Live;

/// Arguments of `armature tree`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature tree -n shop                  All resources of a namespace below their owners
  armature tree ResourceGroup/shop       One of them, and all below it")]
pub struct TreeArguments {
    /// The object at the top: all that have no owner when it is left out.
    #[arg(value_name = "KIND/NAME")]
    object: Option<String>,

    /// Form of the output.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,

    #[command(flatten)]
    way: ClusterArguments,
}

/// Arguments of `armature why`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature why StorageAccount/shopdata -n shop
  armature why servicebus/Namespace/orders -o json

The exit code is 1 when the object is not ready.")]
pub struct WhyArguments {
    /// The object. Where several groups have a kind of the name, the group goes before it.
    #[arg(value_name = "KIND/NAME")]
    object: String,

    /// Form of the output.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,

    #[command(flatten)]
    way: ClusterArguments,
}

/// A cluster, and the namespace of objects that are named.
pub(super) struct Place {
    live: Live,
    namespace: String,
}

impl Place {
    pub(super) async fn find(way: &ClusterArguments) -> anyhow::Result<Self> {
        let config = way.config().await?;
        let given = way.namespace().map(str::to_owned);
        let namespace = given
            .clone()
            .unwrap_or_else(|| config.default_namespace.clone());
        let client = way.connect(config)?;
        Ok(Self {
            live: Live::new(client, given),
            namespace,
        })
    }

    async fn relations(&self) -> anyhow::Result<Relations> {
        Ok(self.relations_and_problems().await?.0)
    }

    /// With the number of problems, which are told.
    pub(super) async fn relations_and_problems(&self) -> anyhow::Result<(Relations, usize)> {
        let (relations, problems) = Relations::read(&self.live, armature_generated::KINDS).await?;
        for problem in &problems {
            output::print_error(problem);
        }
        Ok((relations, problems.len()))
    }

    /// The object that a text names.
    fn id(&self, text: &str) -> anyhow::Result<Id> {
        let parts = text.rsplit_once('/').filter(|(_, name)| !name.is_empty());
        let (kind, name) = parts.with_context(|| {
            format!("'{text}' names no object; expected KIND/NAME, such as StorageAccount/shopdata")
        })?;
        let kind = Topic::read(kind, None, armature_generated::KINDS)?.kind;
        let namespace = self.namespace.clone();
        Ok((
            kind.group.to_owned(),
            kind.kind.to_owned(),
            namespace,
            name.to_owned(),
        ))
    }
}

fn missing(id: &Id) -> anyhow::Error {
    let (_, kind, namespace, name) = id;
    anyhow::anyhow!("there is no {kind} {namespace}/{name}; -n names another namespace")
}

pub(super) fn run<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the async runtime")?;
    runtime.block_on(work)
}

/// One line of a tree for programs.
#[derive(Serialize)]
struct Line<'a> {
    depth: usize,
    #[serde(flatten)]
    node: &'a Node,
}

impl TreeArguments {
    /// Prints what is below what.
    ///
    /// # Errors
    /// When the cluster cannot be read, or has no such object.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        run(async {
            let place = Place::find(&self.way).await?;
            let relations = place.relations().await?;
            let root = self
                .object
                .as_deref()
                .map(|text| place.id(text))
                .transpose()?;
            let lines = relations.tree(root.as_ref());
            if let (Some(root), true) = (&root, lines.is_empty()) {
                return Err(missing(root));
            }
            let plain = lines.iter().map(|(depth, node)| Line {
                depth: *depth,
                node,
            });
            let plain: Vec<Line<'_>> = plain.collect();
            output::print(&self.output.of(&plain, || text::tree(&lines))?)?;
            Ok(ExitCode::SUCCESS)
        })
    }
}

impl WhyArguments {
    /// Prints what keeps an object from being ready.
    ///
    /// # Errors
    /// When the cluster cannot be read, or has no such object.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        run(async {
            let place = Place::find(&self.way).await?;
            let id = place.id(&self.object)?;
            let relations = place.relations().await?;
            let why = Why::of(&relations, &id).filter(|why| why.object.exists);
            let why = why.ok_or_else(|| missing(&id))?;
            output::print(&self.output.of(&why, || text::why(&why))?)?;
            Ok(code(why.cause.is_none()))
        })
    }
}

pub(super) fn code(is_good: bool) -> ExitCode {
    match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

//! `armature tree` and `armature why`: what runs in a cluster (see [`crate::relations`]).

use std::process::ExitCode;

use anyhow::Context;
use armature_runtime::kind::KindInfo;
use clap::Args;

use super::cluster::ClusterArguments;
use super::form::Form;
use super::output;
use crate::explain::Topic;
use crate::relations::relations::Id;
use crate::relations::{Relations, Why, text};
use crate::worlds::applied::Live;

/// Arguments of `armature tree`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature tree -n shop                  All resources of a namespace below their owners
  armature tree ResourceGroup/shop       One of them, and all below it

The exit code is 1 when not everything could be read.")]
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

The exit code is 1 when the object is not ready, or not everything could be read.")]
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

    /// With the number of problems, which are told.
    pub(super) async fn relations_and_problems(&self) -> anyhow::Result<(Relations, usize)> {
        let (relations, problems) = Relations::read(&self.live, armature_generated::KINDS).await?;
        for problem in &problems {
            output::print_error(problem);
        }
        Ok((relations, problems.len()))
    }

    /// The kind that a text names. Where several groups have it, that which is installed is meant.
    async fn kind(&self, text: &str) -> anyhow::Result<&'static KindInfo> {
        let all = armature_generated::KINDS;
        let named = match Topic::read(text, None, all) {
            Ok(topic) => return Ok(topic.kind),
            Err(error) => error,
        };
        let installed = self.live.installed(all).await?;
        let installed: Vec<&'static KindInfo> = installed.into_iter().map(|kind| kind.0).collect();
        Topic::read(text, None, &installed)
            .map(|topic| topic.kind)
            .map_err(|_| named)
    }

    /// The object that a text names.
    async fn id(&self, text: &str) -> anyhow::Result<Id> {
        let parts = text.rsplit_once('/').filter(|(_, name)| !name.is_empty());
        let (kind, name) = parts.with_context(|| {
            format!("'{text}' names no object; expected KIND/NAME, such as StorageAccount/shopdata")
        })?;
        let kind = self.kind(kind).await?;
        let namespace = self.namespace.clone();
        Ok((
            kind.group.to_owned(),
            kind.kind.to_owned(),
            namespace,
            name.to_owned(),
        ))
    }
}

/// Of what could not be read nobody knows whether it is there.
fn missing(id: &Id, problems: usize) -> anyhow::Error {
    let (_, kind, namespace, name) = id;
    match problems {
        0 => anyhow::anyhow!("there is no {kind} {namespace}/{name}; -n names another namespace"),
        _ => anyhow::anyhow!(
            "{kind} {namespace}/{name} was not found, and not everything could be read: it may be there all the same"
        ),
    }
}

pub(super) fn run<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the async runtime")?;
    runtime.block_on(work)
}

impl TreeArguments {
    /// Prints what is below what.
    ///
    /// # Errors
    /// When the cluster cannot be read, or has no such object.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        run(async {
            let place = Place::find(&self.way).await?;
            let root = match &self.object {
                Some(text) => Some(place.id(text).await?),
                None => None,
            };
            let (relations, problems) = place.relations_and_problems().await?;
            let branches = relations.tree(root.as_ref());
            if let (Some(root), true) = (&root, branches.is_empty()) {
                return Err(missing(root, problems));
            }
            let text = || match branches.is_empty() && problems == 0 {
                true => "There is no object of Armature's kinds here.\n".to_owned(),
                false => text::tree(&branches),
            };
            output::print(&self.output.of(&branches, text)?)?;
            Ok(code(problems == 0))
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
            let id = place.id(&self.object).await?;
            let (relations, problems) = place.relations_and_problems().await?;
            let why = Why::of(&relations, &id).filter(|why| why.object.exists);
            let why = why.ok_or_else(|| missing(&id, problems))?;
            output::print(&self.output.of(&why, || text::why(&why))?)?;
            Ok(code(why.cause.is_none() && problems == 0))
        })
    }
}

pub(super) fn code(is_good: bool) -> ExitCode {
    match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

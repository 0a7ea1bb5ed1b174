//! `armature takeover`: a cluster from Azure Service Operator, and back (see [`crate::takeover`]).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use armature_runtime::resource::Object;
use clap::{Args, Subcommand};
use kube::Client;
use tokio::time::Instant;

use super::asking::AskingArguments;
use super::cluster::ClusterArguments;
use super::form::Form;
use super::output;
use crate::installation::variables::Variables;
use crate::plan::{self, Input};
use crate::takeover::ahead::{Versions, ahead};
use crate::takeover::answers::Values;
use crate::takeover::carry_out::carry_out;
use crate::takeover::check::{self, Check, Managed, Namespaces, not_ready};
use crate::takeover::found::Found;
use crate::takeover::record::Record;
use crate::takeover::settings;
use crate::takeover::steps::{self, Readiness, State, Step, Task};
use crate::takeover::text;
use crate::worlds::applied::Live;

/// How often the cluster is looked at while something is waited for.
const LOOK: Duration = Duration::from_secs(2);

const EXAMPLES: &str = "\
Examples:
  armature takeover check                What the first passes would do to every object; zero writes are expected
  armature takeover run                  What a takeover would do, step by step
  armature takeover run --yes            Do it; where something has to be done by hand it ends, and goes on there next time
  armature takeover undo --yes           Give the cluster back

Exit codes: 0 when nothing stands against it, or all is done; else 1.";

/// Arguments of `armature takeover`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TakeoverArguments {
    #[command(subcommand)]
    command: TakeoverCommand,
}

#[derive(Debug, Subcommand)]
enum TakeoverCommand {
    /// Tell what Armature would do to the objects of a cluster that Azure Service Operator manages; writes nothing.
    Check(Box<CheckArguments>),
    /// Take the cluster over, step by step, each of them verified.
    Run(Box<RunArguments>),
    /// Give the cluster back.
    #[command(after_help = "\
Examples:
  armature takeover undo                 What would be done, step by step
  armature takeover undo --yes           Do it

The exit code is 1 when something is left to be done.")]
    Undo(Box<StepArguments>),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature takeover check                What the first passes would do to every object
  armature takeover check --values FILE  The same, with the values that you will install with
  armature takeover check -o json        The same for programs

The exit code is 1 when something is no ordinary takeover.")]
struct CheckArguments {
    /// Form of the output.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,

    #[command(flatten)]
    looking: LookingArguments,

    #[command(flatten)]
    place: PlaceArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature takeover run                  What would be done, step by step
  armature takeover run --yes            Do it; where something has to be done by hand it ends, and goes on there next time

The exit code is 1 when something is left to be done.")]
struct RunArguments {
    /// Go on although the check named exceptions.
    #[arg(long)]
    accept_exceptions: bool,

    #[command(flatten)]
    looking: LookingArguments,

    #[command(flatten)]
    steps: StepArguments,
}

/// How the check asks Azure.
#[derive(Debug, Args)]
struct LookingArguments {
    /// Do not ask Azure: schemas, owners and references alone.
    #[arg(long)]
    offline: bool,

    /// File of values with which Armature will be installed, as for helm; may be given several times. What it says of settings is no
    /// exception any more.
    #[arg(long, value_name = "FILE")]
    values: Vec<PathBuf>,

    #[command(flatten)]
    asking: AskingArguments,
}

#[derive(Debug, Args)]
struct StepArguments {
    /// Do it; without this, what would be done is shown.
    #[arg(short, long)]
    yes: bool,

    /// How long to wait for what takes time, in seconds.
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    timeout: u64,

    #[command(flatten)]
    place: PlaceArguments,
}

#[derive(Debug, Args)]
struct PlaceArguments {
    /// Namespace of Azure Service Operator, and of the Armature that comes in its place.
    #[arg(
        long,
        default_value = "azureserviceoperator-system",
        value_name = "NAME"
    )]
    aso_namespace: String,

    #[command(flatten)]
    way: ClusterArguments,
}

/// A cluster to take over.
struct Place {
    client: Client,
    live: Live,
    namespace: String,
}

/// Which way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Over,
    Back,
}

impl TakeoverArguments {
    /// Does what is asked for.
    ///
    /// # Errors
    /// When the cluster cannot be read, or refuses something.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("cannot start the async runtime")?;
        runtime.block_on(async {
            match self.command {
                TakeoverCommand::Check(arguments) => arguments.run().await,
                TakeoverCommand::Run(arguments) => arguments.run().await,
                TakeoverCommand::Undo(arguments) => arguments.run(Direction::Back).await,
            }
        })
    }
}

impl PlaceArguments {
    async fn find(&self) -> anyhow::Result<Place> {
        // Half of a cluster cannot be taken over: its operator, CRDs and webhooks are there once.
        anyhow::ensure!(
            self.way.namespace().is_none(),
            "a takeover is of a whole cluster: leave --namespace out; --aso-namespace says where Azure Service Operator is"
        );
        let config = self.way.config().await?;
        let client = self.way.connect(config)?;
        Ok(Place {
            live: Live::new(client.clone(), None),
            client,
            namespace: self.aso_namespace.clone(),
        })
    }
}

impl Place {
    /// The objects, and sentences about kinds that cannot be listed.
    async fn objects(&self) -> anyhow::Result<(Vec<Object>, Vec<String>)> {
        Ok(self.live.objects(armature_generated::KINDS).await?)
    }

    async fn check(&self, looking: &LookingArguments) -> anyhow::Result<Check> {
        let values = Values::read(&looking.values)?;
        let found = Found::read(&self.client).await?;
        let (objects, unread) = self.objects().await?;
        let mut settings = Vec::new();
        for deployment in &found.former_deployments {
            let read = settings::read(&self.client, &self.live, deployment, objects.len());
            settings.push(read.await);
        }
        // Of several operators each has its own objects, and nothing is said of all.
        let told = match settings.as_slice() {
            [one] => one.told.clone(),
            _ => Variables::default(),
        };
        let managed = Managed::of(&told)?;
        let namespaces = Namespaces::read(&self.live, &objects, managed).await?;
        let input = Input {
            documents: Vec::new(),
            namespace: None,
            live: Some(self.live.clone()),
            prune: None,
        };
        for one in &mut settings {
            values.hold_against(one);
            one.exceptions = values.unsettled(std::mem::take(&mut one.exceptions));
        }
        let mut setting = looking.asking.setting(looking.offline, &self.namespace)?;
        setting.told = Some(told);
        let mut plan = plan::plan(&input, &setting).await?;
        let untold = unread
            .into_iter()
            .filter(|one| !plan.problems.contains(one));
        let untold: Vec<String> = untold.collect();
        plan.problems.extend(untold);
        Ok(check::check(&found, settings, &objects, &namespaces, &plan))
    }

    /// How far it is, and what that was told from.
    async fn look(&self, direction: Direction) -> anyhow::Result<Look> {
        let found = Found::read(&self.client).await?;
        let record = Record::load(&self.client, &self.namespace).await?;
        self.told(direction, found, record, true).await
    }

    /// The same as far as the first step that is not done: objects are many, and are read where they count, which is for the
    /// record and for the last step.
    async fn look_at_next(&self, direction: Direction) -> anyhow::Result<Look> {
        let found = Found::read(&self.client).await?;
        let record = Record::load(&self.client, &self.namespace).await?;
        let counts = match direction {
            Direction::Over => {
                let all_ready = Readiness::default();
                let steps = steps::over(&self.namespace, &found, record.as_ref(), &all_ready);
                let next = steps.into_iter().find(|step| step.state != State::Done);
                next.is_none_or(|step| step.state == State::Open(Task::KeepRecord))
            }
            Direction::Back => false,
        };
        self.told(direction, found, record, counts).await
    }

    async fn told(
        &self,
        direction: Direction,
        found: Found,
        record: Option<Record>,
        with_objects: bool,
    ) -> anyhow::Result<Look> {
        let (not_ready, steps) = match direction {
            Direction::Over => {
                let readiness = match with_objects {
                    true => {
                        let (objects, unread) = self.objects().await?;
                        let not_ready = not_ready(&objects);
                        Readiness { not_ready, unread }
                    }
                    false => Readiness::default(),
                };
                let steps = steps::over(&self.namespace, &found, record.as_ref(), &readiness);
                (readiness.not_ready, steps)
            }
            Direction::Back => {
                let written = match &record {
                    // Once Azure Service Operator converts, it is done.
                    Some(record) if steps::is_converted_here(&found, record) => {
                        let (objects, unread) = self.objects().await?;
                        let ahead = ahead(&objects, record);
                        Versions { ahead, unread }
                    }
                    _ => Versions::default(),
                };
                let steps = steps::back(&self.namespace, &found, record.as_ref(), &written);
                (BTreeSet::new(), steps)
            }
        };
        Ok(Look {
            found,
            record,
            not_ready,
            steps,
        })
    }
}

struct Look {
    found: Found,
    record: Option<Record>,
    not_ready: BTreeSet<String>,
    steps: Vec<Step>,
}

impl CheckArguments {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let check = self.place.find().await?.check(&self.looking).await?;
        output::print(&self.output.of(&check, || text::check(&check))?)?;
        Ok(match check.exceptions.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }
}

impl RunArguments {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let place = self.steps.place.find().await?;
        // Once it has begun, objects are what it made of them.
        let has_begun = Record::load(&place.client, &place.namespace)
            .await?
            .is_some();
        if !has_begun && !self.accept_exceptions {
            let check = place.check(&self.looking).await?;
            if !check.exceptions.is_empty() {
                output::print_text(&text::check(&check))?;
                output::print(
                    "\nNothing was changed. --accept-exceptions goes on all the same.\n",
                )?;
                return Ok(ExitCode::FAILURE);
            }
        }
        self.steps.run(Direction::Over).await
    }
}

impl StepArguments {
    async fn run(self, direction: Direction) -> anyhow::Result<ExitCode> {
        let place = self.place.find().await?;
        if !self.yes {
            let look = place.look(direction).await?;
            output::print_text(&text::steps(&look.steps))?;
            let told = text::undone(&look.steps);
            output::print(told.unwrap_or_default())?;
            return Ok(match told {
                None => ExitCode::SUCCESS,
                Some(_) => ExitCode::FAILURE,
            });
        }
        let is_done = self.go(&place, direction).await?;
        if is_done && direction == Direction::Back {
            Record::remove(&place.client, &place.namespace).await?;
            output::print("The cluster is Azure Service Operator's again.\n")?;
        } else if is_done {
            output::print("The cluster is Armature's. `armature takeover undo` gives it back.\n")?;
        }
        Ok(if is_done {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    /// Goes from step to step, until all are done, somebody has to do something, or it takes too long.
    async fn go(&self, place: &Place, direction: Direction) -> anyhow::Result<bool> {
        let deadline = Instant::now() + Duration::from_secs(self.timeout);
        let mut told = 0;
        loop {
            let started = Instant::now();
            let look = place.look_at_next(direction).await?;
            let done = look
                .steps
                .iter()
                .take_while(|step| step.state == State::Done)
                .count();
            for step in look.steps.iter().take(done).skip(told) {
                output::print(&format!("{}\n", text::one(step)))?;
            }
            told = told.max(done);
            let Some(next) = look.steps.get(done) else {
                return Ok(true);
            };
            match &next.state {
                State::Open(task) => {
                    output::print(&format!("    {}\n", text::done_by(task)))?;
                    let (record, not_ready) = (look.record.as_ref(), &look.not_ready);
                    carry_out(
                        &place.client,
                        &place.namespace,
                        task,
                        &look.found,
                        record,
                        not_ready,
                    )
                    .await?;
                }
                // Most of the API server's time is for those who do the work.
                State::Waiting(_) if Instant::now() < deadline => {
                    tokio::time::sleep(LOOK.max(started.elapsed())).await;
                }
                _ => {
                    output::print(&format!("{}\n", text::one(next)))?;
                    return Ok(false);
                }
            }
        }
    }
}

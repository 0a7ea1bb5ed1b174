//! `cargo xtask dev`: a real API server, a simulated Azure, the operator and the samples, live in a table.
//!
//! One module per part: [`samples`] applies manifests, [`status`] reads conditions, [`story`] decides what happens next
//! in Azure, [`table`] shows. The two programs are started by [`crate::world`]; what they do is not here.

mod samples;
mod status;
mod story;
mod table;

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::Context;
use armature_controlplane::{ControlPlane, LogTail, Options};
use armature_progress::Progress;
use camino::Utf8PathBuf;
use clap::Args;
use reqwest::Method;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use self::{
    samples::{Applied, Sample},
    story::{Act, Story},
    table::Table,
};
use crate::programs::{self, Profile};
use crate::workspace;
use crate::world::{azure::Azure, operator::Operator};

/// How often objects are read and the table is drawn.
const REFRESH: Duration = Duration::from_secs(1);
/// How long a person may look at a state before the story goes on.
const PAUSE: Duration = Duration::from_secs(20);
/// A new value of this annotation has an object looked at.
const RECONCILE_NOW: &str = "armature.azure.com/reconcile-now";
/// A program that is asked to stop gets this long.
const GRACE: Duration = Duration::from_secs(10);

/// Arguments of `dev`.
#[derive(Debug, Args)]
pub struct DevArguments {
    /// End with 0 as soon as everything is as expected, with 1 and the reason if it is not in time. Without it, all
    /// stays up until Ctrl-C.
    #[arg(long)]
    exit_when_ready: bool,
    /// How long --exit-when-ready waits once everything runs, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    timeout: u64,
    /// Manifests to apply: a group that has samples, such as `storage`, or a file, or a folder of files in order of name.
    #[arg(long, value_name = "GROUP|PATH", default_value = "quick-start")]
    samples: Utf8PathBuf,
    /// How long Azure takes for a long-running operation: 500ms, 3s, 1m.
    #[arg(long, value_name = "TIME", default_value = "3s")]
    latency: String,
    /// Build and run with optimisations.
    #[arg(long)]
    release: bool,
}

impl DevArguments {
    fn profile(&self) -> Profile {
        match self.release {
            true => Profile::Release,
            false => Profile::Dev,
        }
    }

    /// Nobody watches a run that ends by itself.
    fn pause(&self) -> Duration {
        match self.exit_when_ready {
            true => Duration::ZERO,
            false => PAUSE,
        }
    }
}

/// Runs `dev`.
pub async fn run(arguments: &DevArguments) -> anyhow::Result<ExitCode> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let interrupted = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    };
    tokio::select! {
        // What was started stops when its owner is dropped with the other future.
        () = interrupted => Ok(if arguments.exit_when_ready {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        }),
        result = start_and_watch(arguments) => result,
    }
}

async fn start_and_watch(arguments: &DevArguments) -> anyhow::Result<ExitCode> {
    let root = workspace::root()?;
    let samples = samples::read(&samples::find(&root, &arguments.samples)?)?;
    let programs = ["armature", "armature-simulator"];
    let [operator, simulator] = programs::build(&root, programs, arguments.profile()).await?;
    let started = Instant::now();
    let folder = tempfile::Builder::new()
        .prefix("armature-dev-")
        .tempdir()
        .context("cannot create a folder for logs")?;
    let plane = ControlPlane::start(Options {
        progress: Some(Progress::new()),
        ..Options::default()
    })
    .await?;
    println!("an API server runs, by {}", plane.kubeconfig().display());
    let flags = [
        format!("--latency={}", arguments.latency),
        "--retry-after=1".to_owned(),
    ];
    let azure = Azure::start(&simulator, folder.path(), &flags).await?;
    println!("simulated Azure at {}", azure.endpoint());
    let client = plane.client().await?;
    let operator = Operator::start(&operator, folder.path(), &plane, &azure, &[]).await?;
    println!(
        "all programs run after {:.1} s; logs are in {}",
        started.elapsed().as_secs_f64(),
        folder.path().display()
    );
    let mut stage = Stage {
        client,
        azure,
        operator,
        story: Story::new(&samples, arguments.pause()),
        pending: samples,
        applied: Vec::new(),
        table: Table::new(),
        invitation: Some(format!(
            "kinds are installed: export KUBECONFIG={}",
            plane.kubeconfig().display()
        )),
    };
    let deadline = arguments
        .exit_when_ready
        .then(|| Instant::now() + Duration::from_secs(arguments.timeout));
    let verdict = stage.watch(deadline).await;
    if verdict.is_err() {
        eprintln!(
            "last lines of the operator:\n{}",
            LogTail::of_file(stage.operator.log())
        );
    }
    stage.operator.stop(GRACE).await;
    stage.azure.stop(GRACE).await;
    plane.stop().await;
    verdict.map(|()| ExitCode::SUCCESS)
}

/// Does what somebody in Azure would do, or Azure itself.
async fn perform(azure: &Azure, act: &Act) -> anyhow::Result<()> {
    let (path, body) = match act {
        Act::Approve { endpoint } => (
            "private-endpoint-connections",
            json!({"endpoint": endpoint, "status": "Approved", "description": "Approved by the owner"}),
        ),
        Act::SetCluster { cluster, state } => (
            "kusto-clusters",
            json!({"cluster": cluster, "provisioningState": state}),
        ),
        Act::Autoscale { id, count, .. } => {
            ("act", json!({"id": id, "act": "autoscale", "value": count}))
        }
    };
    azure.control(Method::POST, path, Some(&body)).await?;
    Ok(())
}

/// Everything that runs, and what is known about it.
struct Stage {
    client: kube::Client,
    azure: Azure,
    operator: Operator,
    story: Story,
    pending: Vec<Sample>,
    applied: Vec<Applied>,
    table: Table,
    /// Said once the API server takes objects: before, somebody's own would be refused.
    invitation: Option<String>,
}

impl Stage {
    /// Applies, watches and shows. With a deadline it ends as soon as all is as expected; an error says what is not.
    async fn watch(&mut self, deadline: Option<Instant>) -> anyhow::Result<()> {
        let started = Instant::now();
        loop {
            self.operator.check_running()?;
            self.azure.check_running()?;
            self.apply().await?;
            let rows = status::read(&self.client, &self.applied, &self.pending).await?;
            for act in self.story.next(&rows, Instant::now()) {
                self.table.note(&act.to_string());
                perform(&self.azure, &act).await?;
                if let Act::Autoscale { pool, .. } = &act {
                    self.look_again(pool).await?;
                }
            }
            self.table.draw(&rows, self.story.remark());
            let finished = self.pending.is_empty() && self.story.is_over();
            if let Some(deadline) = deadline {
                if finished && rows.iter().all(status::Row::is_ready) {
                    println!(
                        "all {} objects are Ready after {:.1} s",
                        rows.len(),
                        started.elapsed().as_secs_f64()
                    );
                    return Ok(());
                }
                if Instant::now() > deadline {
                    return Err(unexpected(&rows, &self.story));
                }
            }
            tokio::time::sleep(REFRESH).await;
        }
    }

    /// Has the operator look at an object now: nobody wants to wait until the change is found by itself.
    async fn look_again(&self, name: &str) -> anyhow::Result<()> {
        let mut named = self.applied.iter();
        let Some(applied) = named.find(|applied| applied.sample.name == name) else {
            return Ok(());
        };
        samples::annotate(&self.client, applied, RECONCILE_NOW, "after-autoscaling").await
    }

    /// Applies what is left and not held back. What the API server cannot take yet is tried again next time.
    async fn apply(&mut self) -> anyhow::Result<()> {
        let mut left = Vec::new();
        for sample in std::mem::take(&mut self.pending) {
            if self.story.holds_back(&sample) {
                left.push(sample);
                continue;
            }
            match samples::apply(&self.client, &sample).await? {
                Some(applied) if applied.sample.is_of_azure() => self.applied.push(applied),
                Some(_) => {}
                None => left.push(sample),
            }
        }
        self.pending = left;
        if !self.applied.is_empty()
            && let Some(invitation) = self.invitation.take()
        {
            self.table.note(&invitation);
        }
        Ok(())
    }
}

fn unexpected(rows: &[status::Row], story: &Story) -> anyhow::Error {
    let mut lines: Vec<String> = rows
        .iter()
        .filter(|row| !row.is_ready())
        .map(|row| format!("  {row}"))
        .collect();
    lines.extend(
        story
            .unseen()
            .map(|missing| format!("  never seen: {missing}")),
    );
    anyhow::anyhow!("not as expected in time:\n{}", lines.join("\n"))
}

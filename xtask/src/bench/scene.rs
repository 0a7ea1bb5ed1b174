//! A stage for benchmarks: a real API server, a simulated Azure without latency, and the operator as its release build.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use armature_controlplane::{ControlPlane, LogTail, Options, Usage};
use armature_progress::Progress;
use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;

use super::Context;
use crate::world::azure::Azure;
use crate::world::operator::Operator;

/// The simulator's configuration: the log of requests would only take memory.
const AZURE: &str = "log-limit = 1000\n";

/// Subscriptions beside the operator's own: one for each namespace of the largest load.
pub const SUBSCRIPTIONS: usize = 600;

/// Id of a subscription that exists.
pub fn subscription(number: usize) -> String {
    format!("00000000-0000-0000-0001-{number:012}")
}

/// How often something that is waited for is looked at.
pub const POLL: Duration = Duration::from_millis(100);
/// Azure hears nothing for this long: the operator has settled.
const QUIET: Duration = Duration::from_secs(3);
/// Longest wait for the operator to come up, or to settle.
const LIMIT: Duration = Duration::from_secs(2 * 3600);
/// Longest wait for the operator's events to be written.
const EVENTS_LIMIT: Duration = Duration::from_secs(300);
/// A program that is asked to stop gets this long.
const GRACE: Duration = Duration::from_secs(20);

/// Requests that Azure has had, by method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Of every method.
    pub all: u64,
    /// Reads.
    pub get: u64,
    /// Writes.
    pub put: u64,
    /// Deletions.
    pub delete: u64,
}

impl std::ops::Sub for Requests {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            all: self.all - before.all,
            get: self.get - before.get,
            put: self.put - before.put,
            delete: self.delete - before.delete,
        }
    }
}

/// The sum of the series of a metric that have this label, in the text format of Prometheus.
fn sum(metrics: &str, name: &str, label: &str) -> f64 {
    let series = metrics.lines().filter_map(|line| line.rsplit_once(' '));
    let wanted = series.filter(|(series, _)| {
        let is_named = series.split('{').next() == Some(name);
        is_named && series.contains(label)
    });
    wanted
        .filter_map(|(_, value)| value.parse::<f64>().ok())
        .sum()
}

/// Everything that runs. Dropping it stops it all.
pub struct Scene {
    operator: Option<Operator>,
    azure: Azure,
    /// A client with all rights.
    pub client: kube::Client,
    plane: ControlPlane,
    folder: TempDir,
}

impl Scene {
    /// Starts everything, with further flags of the operator, and waits until the operator has settled.
    pub async fn start(context: &Context, flags: &[&str]) -> anyhow::Result<Self> {
        Self::start_with(context, flags, "").await
    }

    /// The same with further settings of the simulator.
    pub async fn start_with(
        context: &Context,
        flags: &[&str],
        azure: &str,
    ) -> anyhow::Result<Self> {
        let program = match &context.operator {
            Some(operator) => operator.clone(),
            None => context.build("armature").await?,
        };
        let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        let mut scene = Self::without_operator(context, azure).await?;
        let folder = scene.folder.path();
        let operator =
            Operator::start(&program, folder, &scene.plane, &scene.azure, &flags).await?;
        scene.operator = Some(operator);
        scene.settle().await?;
        Ok(scene)
    }

    /// The same with another operator, started by a command of the shell. When it serves is not known.
    pub async fn start_other(context: &Context, command: &str) -> anyhow::Result<Self> {
        let mut scene = Self::without_operator(context, "").await?;
        let folder = scene.folder.path();
        let operator = Operator::start_other(command, folder, &scene.plane, &scene.azure)?;
        scene.operator = Some(operator);
        Ok(scene)
    }

    async fn without_operator(context: &Context, azure: &str) -> anyhow::Result<Self> {
        let simulator = context.build("armature-simulator").await?;
        let folder = tempfile::Builder::new()
            .prefix("armature-bench-")
            .tempdir()
            .context("cannot create a folder for logs")?;
        let plane = ControlPlane::start(Options {
            progress: Some(Progress::silent()),
            ..Options::default()
        })
        .await?;
        let settings = folder.path().join("simulator.toml");
        std::fs::write(&settings, format!("{AZURE}{azure}"))
            .context("cannot write the simulator's settings")?;
        let mut settings = vec![format!("--config={}", settings.display())];
        let subscriptions = (0..SUBSCRIPTIONS).map(subscription);
        settings.extend(subscriptions.map(|id| format!("--subscription={id}")));
        let azure = Azure::start(&simulator, folder.path(), &settings).await?;
        Ok(Self {
            operator: None,
            azure,
            client: plane.client().await?,
            plane,
            folder,
        })
    }

    /// The operator.
    ///
    /// # Errors
    /// After a restart that failed.
    pub fn operator(&self) -> anyhow::Result<&Operator> {
        self.operator.as_ref().context("the operator is stopped")
    }

    /// Stops the operator and starts it again.
    pub async fn restart_operator(&mut self) -> anyhow::Result<()> {
        let operator = self.operator.take().context("the operator is stopped")?;
        self.operator = Some(operator.restart(GRACE).await?);
        Ok(())
    }

    /// Stops the operator for good.
    pub async fn stop_operator(&mut self) {
        if let Some(operator) = self.operator.take() {
            operator.stop(GRACE).await;
        }
    }

    /// Kills the API server and starts it again, with what is stored.
    pub async fn restart_apiserver(&mut self) -> anyhow::Result<()> {
        self.plane.stop_apiserver().await;
        Ok(self.plane.start_apiserver().await?)
    }

    /// Time and memory of the operator.
    pub fn usage(&self) -> anyhow::Result<Usage> {
        let usage = self.operator()?.process().usage();
        usage.context(
            "the system does not tell the operator's time and memory; benchmarks of it need Linux",
        )
    }

    /// Time and memory of the API server.
    pub fn apiserver_usage(&self) -> anyhow::Result<Usage> {
        let usage = self.plane.apiserver_usage();
        usage.context("the system does not tell the API server's time; benchmarks of it need Linux")
    }

    /// Reads a page of the API server.
    pub async fn get(&self, path: &str) -> anyhow::Result<String> {
        let request = http::Request::get(path).body(Vec::new())?;
        let answer = self.client.request_text(request).await;
        answer.with_context(|| format!("GET {path} of the API server"))
    }

    /// A resource as Azure has it.
    pub async fn resource(&self, id: &str) -> anyhow::Result<Value> {
        let path = format!("resources{id}");
        self.azure.control(Method::GET, &path, None).await
    }

    /// Changes a resource behind the operator's back.
    pub async fn change(&self, id: &str, patch: &Value) -> anyhow::Result<()> {
        let path = format!("resources{id}");
        let changed = self.azure.control(Method::PATCH, &path, Some(patch));
        changed.await.map(drop)
    }

    /// The sum of a metric's series that have this label, by the operator's own metrics; nothing of another operator.
    pub async fn metric(&self, name: &str, label: &str) -> anyhow::Result<Option<f64>> {
        let Some(addresses) = self.operator()?.addresses() else {
            return Ok(None);
        };
        let url = format!("http://{}/metrics", addresses.metrics);
        let text = reqwest::get(&url).await?.text().await?;
        Ok(Some(sum(&text, name, label)))
    }

    /// How many events the operator has lost, once none waits to be written; nothing of another operator.
    pub async fn lost_events(&self) -> anyhow::Result<Option<f64>> {
        let started = Instant::now();
        while let Some(waiting) = self.metric("armature_events_waiting", "").await?
            && waiting > 0.0
        {
            let limit = EVENTS_LIMIT.as_secs();
            anyhow::ensure!(
                started.elapsed() < EVENTS_LIMIT,
                "{waiting} events are not written after {limit} s"
            );
            tokio::time::sleep(POLL).await;
        }
        self.metric("armature_events_total", "result=\"lost\"")
            .await
    }

    /// Requests that Azure has had since its start.
    pub async fn requests(&self) -> anyhow::Result<Requests> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Stats {
            requests: u64,
            by_method: std::collections::BTreeMap<String, u64>,
        }
        let stats = self.azure.control(Method::GET, "stats", None).await?;
        let stats: Stats = serde_json::from_value(stats)?;
        let of = |method: &str| stats.by_method.get(method).copied().unwrap_or_default();
        Ok(Requests {
            all: stats.requests,
            get: of("GET"),
            put: of("PUT"),
            delete: of("DELETE"),
        })
    }

    /// Waits until the operator serves and Azure has heard nothing from it for a while. Returns when the last request was
    /// seen, or when the operator began to serve if there was none.
    pub async fn settle(&mut self) -> anyhow::Result<Instant> {
        let started = Instant::now();
        while !self.serves().await? {
            self.check(started)?;
            tokio::time::sleep(POLL).await;
        }
        let mut known = self.requests().await?;
        let mut last = Instant::now();
        while last.elapsed() < QUIET {
            self.check(started)?;
            tokio::time::sleep(POLL).await;
            let requests = self.requests().await?;
            if requests != known {
                known = requests;
                last = Instant::now();
            }
        }
        Ok(last)
    }

    /// Waits until Azure has had more requests than these: a standby is quiet, too, and reads many objects before it leads.
    pub async fn hear_more_than(&mut self, before: Requests) -> anyhow::Result<()> {
        let started = Instant::now();
        while self.requests().await? == before {
            self.check(started)?;
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    /// Whether the operator manages objects: the webhook is up and `/metrics` is served, which comes last.
    async fn serves(&self) -> anyhow::Result<bool> {
        let addresses = self.operator()?.addresses();
        let metrics = addresses
            .context("another operator does not tell whether it serves")?
            .metrics;
        Ok(tokio::net::TcpStream::connect(metrics).await.is_ok())
    }

    /// An error if a program ended or the wait is too long.
    pub fn check(&mut self, started: Instant) -> anyhow::Result<()> {
        self.azure.check_running()?;
        let Some(operator) = &mut self.operator else {
            return Ok(());
        };
        operator.check_running()?;
        anyhow::ensure!(
            started.elapsed() < LIMIT,
            "nothing came of it in {} minutes. Last lines of the operator:\n{}",
            LIMIT.as_secs() / 60,
            LogTail::of_file(operator.log())
        );
        Ok(())
    }

    /// Stops everything.
    pub async fn stop(mut self) {
        self.stop_operator().await;
        self.azure.stop(GRACE).await;
        self.plane.stop().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_of_a_metric_are_added_up() {
        let metrics = r#"
# TYPE armature_events counter
armature_events_total{result="written"} 7
armature_events_total{result="lost"} 2
armature_events_waiting 3
"#;
        for (name, label, expected) in [
            ("armature_events_total", "result=\"lost\"", 2.0),
            ("armature_events_total", "", 9.0),
            ("armature_events_waiting", "", 3.0),
            ("armature_events", "", 0.0),
        ] {
            assert_eq!(sum(metrics, name, label), expected, "{name} {label}");
        }
    }
}

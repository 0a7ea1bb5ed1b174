//! `armature-simulator`: Azure on a laptop. The README beside this crate explains the flags.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use armature_simulator::{Chaos, Normalise, Options, Settings, Simulator};
use clap::Parser;
use tracing_subscriber::EnvFilter;

/// A fake Azure: Resource Manager and sign-in over HTTPS, for every kind that Armature knows.
#[derive(Debug, Parser)]
#[command(name = "armature-simulator", version)]
struct Arguments {
    /// Address and port to listen on; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// Host name to put into the certificate, beside loopback. Can be repeated.
    #[arg(long = "name")]
    names: Vec<String>,
    /// File to write the certificate authority to, in PEM.
    #[arg(long)]
    ca_file: Option<PathBuf>,
    /// File to write the endpoint to once the simulator answers.
    #[arg(long)]
    endpoint_file: Option<PathBuf>,
    /// Subscription that exists. Can be repeated.
    #[arg(long = "subscription")]
    subscriptions: Vec<String>,
    /// Tenant of the subscriptions.
    #[arg(long)]
    tenant: Option<String>,
    /// Configuration in TOML; flags override it.
    #[arg(long)]
    config: Option<PathBuf>,
    /// Time that long-running operations take: 500ms, 10s, 2m.
    #[arg(long, value_parser = armature_simulator::parse_duration)]
    latency: Option<Duration>,
    /// Polls that find an operation still running.
    #[arg(long)]
    polls: Option<u32>,
    /// Retry-After of long-running operations, in seconds.
    #[arg(long)]
    retry_after: Option<u64>,
    /// Rewrite locations, ids and lists as real services do.
    #[arg(long)]
    normalise: bool,
    /// Let something happen in Azure by itself each time: 30s, 5m.
    #[arg(long, value_parser = armature_simulator::parse_duration)]
    autonomy: Option<Duration>,
    /// Share of ARM requests that fail at random, from 0 to 1.
    #[arg(long)]
    chaos: Option<f64>,
    /// Seed of the random faults, and of what happens by itself.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Arguments {
    fn settings(&self) -> anyhow::Result<Settings> {
        let mut settings = match &self.config {
            Some(path) => Settings::from_file(path)?,
            None => Settings::default(),
        };
        if !self.subscriptions.is_empty() {
            settings.subscriptions.clone_from(&self.subscriptions);
        }
        if let Some(tenant) = &self.tenant {
            settings.tenant.clone_from(tenant);
        }
        let operations = &mut settings.operations;
        operations.latency = self.latency.or(operations.latency);
        operations.polls = self.polls.or(operations.polls);
        operations.retry_after = self.retry_after.or(operations.retry_after);
        if self.normalise {
            settings.normalise = Normalise::ALL;
        }
        if self.autonomy.is_some() {
            settings.autonomy.every = self.autonomy;
            settings.autonomy.seed = self.seed;
        }
        if let Some(rate) = self.chaos {
            settings.chaos = Some(Chaos {
                seed: self.seed,
                rate,
            });
        }
        Ok(settings)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    let settings = arguments.settings()?;
    let (tenant, subscriptions) = (settings.tenant.clone(), settings.subscriptions.join(" "));
    let running = Simulator::start(Options {
        listen: arguments.listen.clone(),
        names: arguments.names.clone(),
        settings,
        ..Options::new(armature_generated::KINDS)
    })
    .await?;
    if let Some(path) = &arguments.ca_file {
        std::fs::write(path, running.ca_pem()).with_context(|| {
            format!(
                "cannot write the certificate authority to {}",
                path.display()
            )
        })?;
    }
    println!("endpoint      {}", running.endpoint());
    println!("tenant        {tenant}");
    println!("subscriptions {subscriptions}");
    println!("control       {}/simulator", running.endpoint());
    if let Some(path) = &arguments.endpoint_file {
        std::fs::write(path, running.endpoint())
            .with_context(|| format!("cannot write the endpoint to {}", path.display()))?;
    }
    wait_for_stop().await?;
    running.stop().await;
    Ok(())
}

/// Ctrl-C, or SIGTERM where there is one.
async fn wait_for_stop() -> anyhow::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted?,
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await?;
    Ok(())
}

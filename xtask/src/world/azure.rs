//! The simulator as a child process, and its control endpoints.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::Context;
use armature_controlplane::{LogTail, Supervised, waiting::LIMIT};
use reqwest::Method;
use serde_json::Value;

use super::ensure_running;

/// The subscription of the samples.
pub const SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000000";
/// The tenant of that subscription.
pub const TENANT: &str = "00000000-0000-0000-0000-000000000001";

/// A running simulator.
#[derive(Debug)]
pub struct Azure {
    process: Supervised,
    endpoint: String,
    ca_file: PathBuf,
    client: reqwest::Client,
}

impl Azure {
    /// Starts `program` with further flags and waits until it answers.
    pub async fn start(program: &Path, folder: &Path, flags: &[String]) -> anyhow::Result<Self> {
        let ca_file = folder.join("azure-ca.pem");
        let endpoint_file = folder.join("azure-endpoint");
        let mut arguments = vec![
            "--listen=127.0.0.1:0".to_owned(),
            format!("--subscription={SUBSCRIPTION}"),
            format!("--tenant={TENANT}"),
            format!("--ca-file={}", ca_file.display()),
            format!("--endpoint-file={}", endpoint_file.display()),
        ];
        arguments.extend_from_slice(flags);
        let log = folder.join("simulator.log");
        let mut process = Supervised::spawn(program, &arguments, &[], &log, Some(folder))?;
        let started = Instant::now();
        let endpoint = loop {
            // The file is written at the end of the start, and once written it is complete.
            match std::fs::read_to_string(&endpoint_file) {
                Ok(endpoint) if !endpoint.is_empty() => break endpoint.trim().to_owned(),
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
            ensure_running("the simulator", &mut process)?;
            anyhow::ensure!(
                started.elapsed() < LIMIT,
                "the simulator does not answer. Its last lines:\n{}",
                LogTail::of_file(&log)
            );
        };
        let ca = std::fs::read(&ca_file)
            .with_context(|| format!("cannot read {}", ca_file.display()))?;
        let client = reqwest::Client::builder()
            .tls_certs_only([reqwest::Certificate::from_pem(&ca)?])
            .timeout(LIMIT)
            .build()?;
        Ok(Self {
            process,
            endpoint,
            ca_file,
            client,
        })
    }

    /// Base URL: Resource Manager, sign-in and control.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// PEM file of the authority that signed the simulator's certificate.
    pub fn ca_file(&self) -> &Path {
        &self.ca_file
    }

    /// Sends a request to a control endpoint and returns its answer, `null` when there is none.
    ///
    /// # Errors
    /// When the simulator does not answer, or refuses.
    pub async fn control(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<Value> {
        let url = format!("{}/simulator/{path}", self.endpoint);
        let mut request = self.client.request(method, &url);
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        let response = request
            .send()
            .await
            .with_context(|| format!("the simulator does not answer {url}"))?;
        let status = response.status();
        let text = response.text().await.unwrap_or_default();
        anyhow::ensure!(
            status.is_success(),
            "the simulator refused {path}: {status} {text}"
        );
        if text.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&text).with_context(|| format!("{url} does not answer with JSON"))
    }

    /// An error with the end of its log if the simulator ended.
    pub fn check_running(&mut self) -> anyhow::Result<()> {
        ensure_running("the simulator", &mut self.process)
    }

    /// Stops it.
    pub async fn stop(self, grace: Duration) {
        self.process.stop(grace).await;
    }
}

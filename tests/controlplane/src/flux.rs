//! Flux's own library for server-side apply, as a program that is built with Go into the user's cache.
//!
//! The program is `flux/main.go`: a few lines around `github.com/fluxcd/pkg/ssa`, which `flux/go.mod` pins. It reads
//! requests as lines of JSON and answers each with one.

use std::path::Path;
use std::process::Stdio;

use armature_progress::Progress;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::Error;
use crate::go_program::GoProgram;

const PROGRAM: GoProgram = GoProgram {
    name: "flux",
    package: "github.com/fluxcd/pkg/ssa",
    sources: [
        ("go.mod", include_str!("../flux/go.mod")),
        ("go.sum", include_str!("../flux/go.sum")),
        ("main.go", include_str!("../flux/main.go")),
    ],
};

/// Flux's side of a control plane: applies and diffs objects as its kustomize-controller does.
pub struct Flux {
    _child: Child,
    requests: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Flux {
    /// Starts Flux for the API server of this kubeconfig, building it if it is nowhere yet: 3 minutes on two cores, once
    /// per version.
    ///
    /// # Errors
    /// Go is missing or cannot build it, or it does not start.
    pub async fn start(kubeconfig: &Path, progress: &Progress) -> Result<Self, Error> {
        let program = PROGRAM.locate_or_build(progress).await?;
        let spawn = |source| Error::Spawn {
            program: "flux".to_owned(),
            source,
        };
        let mut child = Command::new(program)
            .env("KUBECONFIG", kubeconfig)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(spawn)?;
        let closed = || spawn(std::io::Error::other("its input or output is closed"));
        let requests = child.stdin.take().ok_or_else(closed)?;
        let answers = child.stdout.take().ok_or_else(closed)?;
        Ok(Self {
            _child: child,
            requests,
            answers: BufReader::new(answers).lines(),
        })
    }

    /// Applies an object and says what became of it: `created`, `configured` or `unchanged`.
    ///
    /// # Errors
    /// What Flux says of a failure.
    pub async fn apply(&mut self, object: &Value) -> Result<String, String> {
        self.ask("apply", object)
            .await
            .map(|answer| action(&answer))
    }

    /// What an apply would do, as Flux finds drift: `unchanged`, or `configured` with the live object and the one that an
    /// apply would make of it.
    ///
    /// # Errors
    /// What Flux says of a failure.
    pub async fn diff(&mut self, object: &Value) -> Result<(String, Value), String> {
        let answer = self.ask("diff", object).await?;
        Ok((action(&answer), answer))
    }

    /// What kstatus makes of an object as it was read: `Current`, `InProgress`, `Failed`, `Terminating`.
    ///
    /// # Errors
    /// What Flux says of a failure.
    pub async fn status(&mut self, object: &Value) -> Result<String, String> {
        self.ask("status", object)
            .await
            .map(|answer| action(&answer))
    }

    async fn ask(&mut self, what: &str, object: &Value) -> Result<Value, String> {
        let request = json!({"do": what, "object": object});
        let text = |error: std::io::Error| error.to_string();
        let line = format!("{request}\n");
        self.requests
            .write_all(line.as_bytes())
            .await
            .map_err(text)?;
        let line = self.answers.next_line().await.map_err(text)?;
        let line = line.ok_or("Flux has ended")?;
        let answer: Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        match answer["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(answer),
        }
    }
}

fn action(answer: &Value) -> String {
    answer["action"].as_str().unwrap_or_default().to_owned()
}

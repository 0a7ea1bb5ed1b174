//! What a health script of Argo CD says of an object, with the Lua that Argo CD has: `argo/main.go`, whose `argo/go.mod` pins it.

use std::process::Stdio;

use armature_progress::Progress;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::Error;
use crate::go_program::GoProgram;

const PROGRAM: GoProgram = GoProgram {
    name: "argo",
    package: "github.com/yuin/gopher-lua",
    sources: [
        ("go.mod", include_str!("../argo/go.mod")),
        ("go.sum", include_str!("../argo/go.sum")),
        ("main.go", include_str!("../argo/main.go")),
    ],
};

/// The status (`Healthy`, `Progressing`, `Degraded`, `Suspended`) and the message.
///
/// # Errors
/// Go is missing or cannot build the program, or the script fails.
pub async fn argo_health(script: &str, object: &Value) -> Result<(String, String), Error> {
    let program = PROGRAM.locate_or_build(&Progress::default()).await?;
    let failed = |source| Error::Spawn {
        program: "argo".to_owned(),
        source,
    };
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    let request = json!({"script": script, "object": object}).to_string();
    if let Some(mut input) = child.stdin.take() {
        input.write_all(request.as_bytes()).await.map_err(failed)?;
    }
    let output = child.wait_with_output().await.map_err(failed)?;
    let answer: Value = serde_json::from_slice(&output.stdout).map_err(|_| {
        failed(std::io::Error::other(
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ))
    })?;
    let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
    Ok((text("status"), text("message")))
}

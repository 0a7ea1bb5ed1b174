//! Figures of `armature-bench`: engines of the runtime, without processes around them.

use anyhow::Context as _;
use tokio::process::Command;

use super::Context;
use super::figure::Figure;

/// Measures one thing; its figures have no bars.
///
/// # Errors
/// When the program cannot be built or run, or prints something else than figures.
pub async fn figures(context: &Context, what: &str) -> anyhow::Result<Vec<Figure>> {
    let program = context.build("armature-bench").await?;
    let output = Command::new(&program)
        .args([what, "--runs", &context.runs.to_string()])
        .output()
        .await
        .with_context(|| format!("cannot run {}", program.display()))?;
    anyhow::ensure!(
        output.status.success(),
        "armature-bench {what} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout)
        .with_context(|| format!("armature-bench {what} printed no figures"))
}

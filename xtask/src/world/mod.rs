//! The two programs as child processes, for `dev` and `bench`: a simulated [`azure`], and the [`operator`] told about it
//! and about a control plane.
//!
//! What is done with them is not here.

pub mod azure;
pub mod operator;

use anyhow::bail;
use armature_controlplane::{LogTail, Supervised};

/// An error with the end of its log if a program ended.
fn ensure_running(name: &str, process: &mut Supervised) -> anyhow::Result<()> {
    match process.exited() {
        None => Ok(()),
        Some(status) => bail!(
            "{name} ended with {status}. Its last lines:\n{}",
            LogTail::of_file(process.log())
        ),
    }
}

//! What is committed: files as they are at a revision.

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};

/// Whether `root` is in a git repository that has a commit.
pub fn has_commits(root: &Utf8Path) -> bool {
    git(root, &["rev-parse", "--verify", "--quiet", "HEAD"]).is_ok()
}

/// Text of a file, relative to `root`, at a revision.
pub fn read(root: &Utf8Path, revision: &str, file: &Utf8Path) -> anyhow::Result<String> {
    git(root, &["show", &format!("{revision}:./{file}")])
}

/// Files below a folder, both relative to `root`, at a revision.
pub fn files_in(root: &Utf8Path, revision: &str, folder: &str) -> anyhow::Result<Vec<Utf8PathBuf>> {
    let listed = git(
        root,
        &[
            "ls-tree",
            "-r",
            "--name-only",
            revision,
            &format!("{folder}/"),
        ],
    )?;
    Ok(listed.lines().map(Utf8PathBuf::from).collect())
}

fn git(root: &Utf8Path, arguments: &[&str]) -> anyhow::Result<String> {
    let shown = arguments.join(" ");
    let output = std::process::Command::new("git")
        .args(arguments)
        .current_dir(root)
        .output()
        .context("cannot run git")?;
    anyhow::ensure!(
        output.status.success(),
        "`git {shown}` in {root}: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    String::from_utf8(output.stdout)
        .with_context(|| format!("`git {shown}` printed something that is not UTF-8"))
}

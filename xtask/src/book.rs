//! `cargo xtask book`: the documentation as web pages, by a pinned mdBook.
//!
//! mdBook is a program of its own and not part of the workspace: it is built once, into the user's cache. That links lead
//! somewhere is said by `cargo test -p armature-tidy`, which needs nothing built.

mod browser;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use armature_controlplane::cache_root;
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use tokio::process::Command;

use crate::workspace;

/// The pinned version.
const VERSION: &str = "0.5.4";

/// Where the pages go, relative to the workspace.
const PAGES: &str = "target/book";

/// Largest index of the search, in bytes: a reader's browser loads all of it.
const LARGEST_INDEX: u64 = 6_000_000;

/// Arguments of `book`.
#[derive(Debug, Args)]
pub struct BookArguments {
    /// Keep nothing; exit 1 when mdBook has an error or a warning, or the index of the search is large.
    #[arg(long)]
    check: bool,

    /// Look at every page in Chromium, 1,280 pixels wide; exit 1 when something is wider than its place or a picture is not
    /// shown. Without Chromium it says so.
    #[arg(long)]
    browser: bool,
}

/// Builds and checks the book, and looks at it in a browser.
pub async fn check() -> anyhow::Result<ExitCode> {
    run(&BookArguments {
        check: true,
        browser: true,
    })
    .await
}

/// Builds the book.
pub async fn run(arguments: &BookArguments) -> anyhow::Result<ExitCode> {
    let root = workspace::root()?;
    let program = locate_or_install().await?;
    let started = Instant::now();
    let temporary = tempfile::tempdir().context("cannot create a folder")?;
    let pages = match arguments.check {
        true => Utf8PathBuf::try_from(temporary.path().to_owned())?,
        false => root.join(PAGES),
    };
    let output = Command::new(&program)
        .args(["build", "--dest-dir", pages.as_str()])
        .arg(root.join("docs"))
        .kill_on_drop(true)
        .output()
        .await
        .with_context(|| format!("cannot run {program}"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    let complaints = complaints(&told);
    anyhow::ensure!(
        output.status.success(),
        "mdBook cannot build docs/:\n{told}"
    );
    let count = pages_below(&pages)?;
    let index = size_of_index(&pages)?;
    println!(
        "{count} pages in {:.1} s, {:.1} MB of them for the search{}",
        started.elapsed().as_secs_f64(),
        index as f64 / 1e6,
        match arguments.check {
            true => String::new(),
            false => format!("; begin with {PAGES}/index.html"),
        }
    );
    if arguments.browser {
        look(&pages).await?;
    }
    if !arguments.check {
        return Ok(ExitCode::SUCCESS);
    }
    anyhow::ensure!(
        complaints.is_empty(),
        "mdBook warns:\n{}",
        complaints.join("\n")
    );
    anyhow::ensure!(
        index <= LARGEST_INDEX,
        "the index of the search has {index} bytes, and {LARGEST_INDEX} are allowed: leave pages of tables out of it in \
         docs/book.toml"
    );
    Ok(ExitCode::SUCCESS)
}

/// Looks at each page in a browser.
async fn look(pages: &Utf8Path) -> anyhow::Result<()> {
    let started = Instant::now();
    let Some((found, count)) = browser::measure(pages).await? else {
        println!("skipped: there is no Chromium in PATH, so nobody has looked at the pages");
        return Ok(());
    };
    anyhow::ensure!(
        found.is_empty(),
        "at 1,280 pixels something is cut or scrolls sideways; let docs/book.css wrap it, or make it narrower:\n{}",
        found.join("\n")
    );
    println!(
        "{count} pages fit 1,280 pixels, looked at in {:.0} s",
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Lines of mdBook's log that are errors or warnings.
fn complaints(log: &str) -> Vec<&str> {
    let is_complaint = |line: &&str| {
        // A level is the first word, or the second behind a time.
        let mut words = line.split_whitespace().take(2);
        words.any(|word| ["ERROR", "WARN"].contains(&word.trim_matches(['[', ']', ':'])))
            && !line.trim_start().starts_with("INFO")
    };
    log.lines().filter(is_complaint).collect()
}

fn pages_below(folder: &Utf8Path) -> anyhow::Result<usize> {
    let files = workspace::files_below(folder)?;
    Ok(files
        .iter()
        .filter(|file| file.extension() == Some("html"))
        .count())
}

/// Bytes of the search's index, whose name has a hash in it.
fn size_of_index(folder: &Utf8Path) -> anyhow::Result<u64> {
    let mut size = 0;
    for file in workspace::files_below(folder)? {
        let is_script = file.extension() == Some("js");
        if is_script && file.as_str().starts_with("searchindex") {
            size += std::fs::metadata(folder.join(&file))?.len();
        }
    }
    Ok(size)
}

/// The program, built into the user's cache if it is not there yet.
async fn locate_or_install() -> anyhow::Result<Utf8PathBuf> {
    let folder = Utf8PathBuf::try_from(cache_root()?.join("mdbook").join(VERSION))?;
    let program = folder.join("bin/mdbook");
    if program.is_file() {
        return Ok(program);
    }
    println!("building mdBook {VERSION} into {folder}, once");
    let status = Command::new(workspace::cargo())
        .args([
            "install",
            "mdbook",
            "--version",
            VERSION,
            "--locked",
            "--root",
            folder.as_str(),
        ])
        // No server and no watcher. It runs for seconds, so it is not worth a build with optimisations.
        .args(["--no-default-features", "--features", "search", "--debug"])
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env_remove("CARGO_TARGET_DIR")
        .current_dir(std::env::temp_dir())
        .kill_on_drop(true)
        .status()
        .await
        .context("cannot run cargo install")?;
    anyhow::ensure!(
        status.success(),
        "mdBook {VERSION} cannot be built, see above"
    );
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_told_from_news() {
        let log = " INFO Book building has started\n WARN unclosed HTML tag `<a>` in a.md\n\
                   2026-01-01 [ERROR] (mdbook): no such file\n INFO The WARN of a page\n";
        let found = complaints(log);
        assert_eq!(found.len(), 2, "{found:?}");
    }
}

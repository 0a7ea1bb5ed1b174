//! `cargo xtask test`: every test of the workspace, with what they need made ready first, and `parity` after them.
//!
//! A failure ends its suite and nothing else; the last lines name what failed.

mod failures;

use std::io::{BufRead, BufReader, PipeReader, Write};
use std::process::{Command, ExitCode};

use anyhow::Context;
use armature_controlplane::Binaries;
use armature_progress::Progress;
use clap::Args;

use self::failures::Failures;
use crate::{book, parity, workspace};

/// Lets the other suites run after one that failed.
const NO_FAIL_FAST: &str = "--no-fail-fast";

/// What ends the output of cargo: a process that a test has left behind may hold its end open for ever.
const END: &[u8] = b"\0the end of cargo test\0\n";

/// Arguments of `test`.
#[derive(Debug, Args)]
pub struct TestArguments {
    /// Take the long way: every version of every kind in tests of properties, not only the newest, and all samples in those of
    /// Flux and of takeovers.
    #[arg(long)]
    all: bool,

    /// Arguments for `cargo test` in place of --workspace, for example `-p armature-reconcile` and a test's name.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    rest: Vec<String>,
}

/// Gets the control plane first, with progress, so that no test seems to hang while it is built; then `cargo test`,
/// and after all tests the comparison with Azure Service Operator.
pub async fn run(arguments: &TestArguments) -> anyhow::Result<ExitCode> {
    Binaries::locate_or_install(&Progress::new()).await?;
    let command = command(arguments)?;
    let (passed, failures) =
        tokio::task::spawn_blocking(move || run_tests(command, std::io::stdout())).await??;
    let mut told = failures.to_string();
    if !passed && failures.is_empty() {
        told += "failed: cargo test; it says above why\n";
    }
    if arguments.rest.is_empty() {
        match parity::check().await {
            Ok(code) if code == ExitCode::SUCCESS => {}
            Ok(_) => told += "failed: cargo xtask parity --check\n",
            Err(error) => told += &format!("failed: cargo xtask parity --check: {error:#}\n"),
        }
    }
    if arguments.all && arguments.rest.is_empty() {
        match book::check().await {
            Ok(code) if code == ExitCode::SUCCESS => {}
            Ok(_) => told += "failed: cargo xtask book --check --browser\n",
            Err(error) => {
                told += &format!("failed: cargo xtask book --check --browser: {error:#}\n")
            }
        }
    }
    if told.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("\n{}", told.trim_end());
    Ok(ExitCode::FAILURE)
}

fn command(arguments: &TestArguments) -> anyhow::Result<Command> {
    let mut command = Command::new(workspace::cargo());
    // Its output passes through here, so it sees no terminal.
    let terminal = console::Term::stdout();
    if terminal.is_term() {
        let (_, width) = terminal.size();
        command.args(["--color=always", "--config=term.progress.when='always'"]);
        command.arg(format!("--config=term.progress.width={width}"));
    }
    command
        .arg("test")
        .args(flags(&arguments.rest))
        .args(&arguments.rest)
        .current_dir(workspace::root()?);
    if arguments.all {
        command.env("ARMATURE_ALL_VERSIONS", "1");
    }
    Ok(command)
}

/// What `cargo test` gets before the arguments of the user.
fn flags(rest: &[String]) -> Vec<&'static str> {
    let mut own = rest.iter().take_while(|argument| *argument != "--");
    let mut flags = Vec::new();
    if rest.is_empty() {
        flags.push("--workspace");
    }
    if own.all(|argument| argument != NO_FAIL_FAST) {
        flags.push(NO_FAIL_FAST);
    }
    flags
}

/// Runs `cargo test` and shows what it prints as it comes, in one stream: only so the suites stand before their tests. Returns
/// whether all passed, and what failed.
fn run_tests(
    mut command: Command,
    mut shown: impl Write + Send + 'static,
) -> anyhow::Result<(bool, Failures)> {
    let (reader, mut end) = std::io::pipe().context("cannot make a pipe")?;
    command
        .stdout(end.try_clone().context("cannot make a pipe")?)
        .stderr(end.try_clone().context("cannot make a pipe")?);
    let mut child = command.spawn().context("cannot run cargo test")?;
    let showing = std::thread::spawn(move || show(reader, &mut shown));
    let status = child.wait().context("cannot wait for cargo test")?;
    end.write_all(END).context("cannot end the output")?;
    let failures = showing
        .join()
        .map_err(|_| anyhow::anyhow!("showing the output of cargo test panicked"))?;
    Ok((status.success(), failures?))
}

/// Passes everything on at once, half lines too, and reads the lines.
fn show(output: PipeReader, shown: &mut impl Write) -> anyhow::Result<Failures> {
    let mut output = BufReader::new(output);
    let mut failures = Failures::default();
    let mut line = Vec::new();
    loop {
        let piece = output.fill_buf().context("cannot read from cargo test")?;
        if piece.is_empty() {
            break;
        }
        let length = piece.len();
        let from = line.len();
        line.extend_from_slice(piece);
        output.consume(length);
        let end = line.windows(END.len()).position(|found| found == END);
        let until = end.unwrap_or(line.len());
        // Who reads may have gone; the tests go on.
        let _ = shown.write_all(line.get(from..until).unwrap_or_default());
        let _ = shown.flush();
        line.truncate(until);
        while let Some(at) = line.iter().position(|byte| *byte == b'\n') {
            let rest = line.split_off(at + 1);
            failures.read(&String::from_utf8_lossy(&line));
            line = rest;
        }
        if end.is_some() {
            break;
        }
    }
    failures.read(&String::from_utf8_lossy(&line));
    Ok(failures)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use super::*;

    #[test]
    fn cargo_goes_on_after_a_failure_whatever_it_is_asked_for() {
        let flags = |rest: &str| {
            let rest: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
            flags(&rest)
        };
        assert_eq!(flags(""), ["--workspace", "--no-fail-fast"]);
        assert_eq!(flags("-p armature --test crash"), ["--no-fail-fast"]);
        assert_eq!(flags("-p armature --no-fail-fast"), [""; 0]);
        assert_eq!(flags("a -- --no-fail-fast"), ["--no-fail-fast"]);
    }

    #[test]
    fn output_is_passed_on_and_ends_although_somebody_holds_the_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let mut script = Command::new("sh");
        script.current_dir(folder.path()).args([
            "-c",
            "touch held; while [ -e held ]; do sleep 0.1; done & echo 'test a ... FAILED'; printf half; exit 1",
        ]);
        // Not to standard output: who runs these tests reads there what failed.
        let mut shown = tempfile::tempfile().unwrap();
        let (passed, failures) = run_tests(script, shown.try_clone().unwrap()).unwrap();
        let mut text = String::new();
        shown.rewind().unwrap();
        shown.read_to_string(&mut text).unwrap();
        assert_eq!(text, "test a ... FAILED\nhalf");
        assert!(folder.path().join("held").exists());
        assert!(!passed);
        assert_eq!(failures.to_string(), "failed: \n    a\n");
    }
}

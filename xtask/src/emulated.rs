//! `cargo xtask emulated`: the program for 64-bit ARM, and the tests of commands that need neither the operator nor Azure, run with it
//! by qemu's emulator of user programs.
//!
//! Only the program is for the other machine. The tests are those of this one, and are told by `ARMATURE_PROGRAM` what to run.

use std::os::unix::fs::PermissionsExt;
use std::process::ExitCode;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use tokio::process::Command;

use crate::workspace;

/// The machine, as Rust calls it.
const TARGET: &str = "aarch64-unknown-linux-gnu";
/// What links for it, and compiles the C code of the TLS provider.
const COMPILER: &str = "aarch64-linux-gnu-gcc";
/// What runs programs for it, by either name that Debian has.
const EMULATORS: [&str; 2] = ["qemu-aarch64-static", "qemu-aarch64"];
/// Where the C library for it is.
const LIBRARY: &str = "/usr/aarch64-linux-gnu";
/// Test programs of commands that work on files, or on a cluster alone.
const TESTS: [&str; 4] = ["explain", "closed_pipe", "command_line", "unreachable"];

/// Arguments of `emulated`.
#[derive(Debug, Args)]
pub struct EmulatedArguments {
    /// Fail where something is missing on this machine, in place of saying so.
    #[arg(long)]
    strict: bool,
}

/// Runs `emulated`.
pub async fn run(arguments: &EmulatedArguments) -> anyhow::Result<ExitCode> {
    let root = workspace::root()?;
    let emulator = match tools().await? {
        Ok(emulator) => emulator,
        Err(missing) => {
            anyhow::ensure!(!arguments.strict, "{missing}");
            eprintln!("skipped: the program for 64-bit ARM, because {missing}");
            return Ok(ExitCode::SUCCESS);
        }
    };
    let built = build(&root).await?;
    let wrapper = wrap(&built, emulator)?;
    let mut test = Command::new(workspace::cargo());
    test.args(["test", "--locked", "--workspace", "--no-fail-fast"]);
    for name in TESTS {
        test.args(["--test", name]);
    }
    let status = test
        .env("ARMATURE_PROGRAM", &wrapper)
        .current_dir(&root)
        .status()
        .await
        .context("cannot start cargo")?;
    Ok(match status.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// The emulator, where everything is there; else what is missing, in a sentence.
async fn tools() -> anyhow::Result<Result<&'static str, String>> {
    if std::env::consts::ARCH == "aarch64" {
        return Ok(Err(
            "this machine is one: its tests are the usual ones".to_owned()
        ));
    }
    let mut emulator = None;
    for name in EMULATORS {
        if emulator.is_none() && is_there(name).await {
            emulator = Some(name);
        }
    }
    let has_compiler = is_there(COMPILER).await;
    let missing = missing(has_compiler, emulator.is_some(), has_std().await?);
    Ok(match (emulator, missing) {
        (Some(emulator), None) => Ok(emulator),
        (_, missing) => Err(missing.unwrap_or_default()),
    })
}

/// What is missing, and how it is had.
fn missing(has_compiler: bool, has_emulator: bool, has_std: bool) -> Option<String> {
    let table = [
        (
            has_compiler,
            COMPILER,
            "`apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross` has it",
        ),
        (
            has_emulator,
            EMULATORS[0],
            "`apt-get install qemu-user-static` has it",
        ),
        (
            has_std,
            "the standard library",
            "`rustup target add aarch64-unknown-linux-gnu` has it; Debian's is of another release of Rust, and does not fit",
        ),
    ];
    let missing = table.iter().filter(|(is_there, ..)| !is_there);
    let told: Vec<_> = missing
        .map(|(_, what, how)| format!("{what} for it is not there ({how})"))
        .collect();
    (!told.is_empty()).then(|| told.join(", and "))
}

async fn is_there(program: &str) -> bool {
    let output = Command::new(program).arg("--version").output().await;
    output.is_ok_and(|output| output.status.success())
}

/// Whether the toolchain has the standard library for the machine; rustup gets it where it can.
async fn has_std() -> anyhow::Result<bool> {
    // Without rustup, or without a network, what is there counts.
    let _ = Command::new("rustup")
        .args(["target", "add", TARGET])
        .output()
        .await;
    let output = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .await
        .context("cannot start rustc")?;
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let mut files = workspace::files_below(Utf8Path::new(&folder))
        .unwrap_or_default()
        .into_iter();
    Ok(files.any(|file| file.as_str().starts_with("libstd-")))
}

/// Builds the program and returns where it is.
async fn build(root: &Utf8Path) -> anyhow::Result<Utf8PathBuf> {
    let status = Command::new(workspace::cargo())
        // By the name of the program, as in .cargo/config.toml: what builds run on this machine is built already.
        .args(["build", "--locked", "--bin", "armature"])
        .args(["--target", TARGET])
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", COMPILER)
        .current_dir(root)
        .status()
        .await
        .context("cannot start cargo")?;
    anyhow::ensure!(status.success(), "cargo build for {TARGET} failed");
    let target = std::env::var("CARGO_TARGET_DIR")
        .map_or_else(|_| root.join("target"), |folder| root.join(folder));
    Ok(target.join(TARGET).join("debug").join("armature"))
}

/// A program for this machine that has the emulator run the other one, under whatever name it is called by itself.
fn wrap(built: &Utf8Path, emulator: &str) -> anyhow::Result<Utf8PathBuf> {
    let wrapper = built.with_file_name("armature-emulated");
    let script = format!("#!/bin/sh\nexec {emulator} -L {LIBRARY} -0 \"$0\" {built} \"$@\"\n");
    workspace::write(&wrapper, &script)?;
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&wrapper, executable)
        .with_context(|| format!("cannot make {wrapper} a program"))?;
    Ok(wrapper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_where_it_is_had() {
        assert_eq!(missing(true, true, true), None);
        for (has, parts) in [
            (
                (false, true, true),
                &["aarch64-linux-gnu-gcc", "libc6-dev-arm64-cross"][..],
            ),
            ((true, false, true), &["qemu-user-static"]),
            ((true, true, false), &["rustup target add"]),
            (
                (false, false, true),
                &["gcc-aarch64-linux-gnu", ", and ", "qemu-user-static"],
            ),
        ] {
            let (compiler, emulator, std) = has;
            let told = missing(compiler, emulator, std).expect("something is missing");
            for part in parts {
                assert!(told.contains(part), "{has:?}: {told}");
            }
        }
    }
}

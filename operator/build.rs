//! Has the linker settle where everything is (on glibc): tables of shapes are mostly pointers, and a program that may be loaded
//! anywhere has them all written when it starts, which makes 6 MB of the binary memory of each process. Programs in Go, such as
//! Kubernetes' own, are linked like that, too; heap, stack and libraries are still placed at random. `cargo xtask image` does the
//! same for musl. Where the target has no such way, relative relocations are packed, each of which otherwise takes 24 bytes.
//!
//! And compresses Azure's descriptions of the groups that are built in, which `cargo xtask gen` keeps as text beside their crates,
//! into one asset (`src/descriptions` reads it).

use std::env;
use std::io::{Error, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// The first glibc whose loader reads packed relocations.
const FIRST_GLIBC: (u32, u32) = (2, 36);

fn main() -> Result<(), Error> {
    println!("cargo::rerun-if-changed=build.rs");
    if target_reads_packed_relocations() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    if links_to_fixed_addresses() {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    let variable = |name: &str| env::var(name).map_err(Error::other);
    let generated = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../generated");
    let asset = Path::new(&variable("OUT_DIR")?).join("descriptions.bin");
    std::fs::write(asset, descriptions(&generated)?)
}

/// The descriptions of all groups that are built in: for each its name and its compressed text, with their lengths before them.
fn descriptions(generated: &Path) -> Result<Vec<u8>, Error> {
    let folders = std::fs::read_dir(generated)?;
    let paths = folders.map(|entry| entry.map(|entry| entry.path()));
    let mut groups: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
    groups.sort();
    let mut asset = Vec::new();
    for group in groups {
        let path = group.join("descriptions.txt");
        let name = group.file_name().unwrap_or_default().to_string_lossy();
        let feature = format!("CARGO_FEATURE_{}", name.replace('-', "_").to_uppercase());
        if env::var_os(feature).is_none() || !path.exists() {
            continue;
        }
        println!("cargo::rerun-if-changed={}", path.display());
        let text = std::fs::read_to_string(&path)?;
        let api_group = text.lines().find_map(|line| line.strip_prefix("G "));
        let api_group = api_group.ok_or_else(|| {
            Error::other(format!(
                "{} names no API group; `cargo xtask gen` writes it",
                path.display()
            ))
        })?;
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text.as_bytes())?;
        for part in [api_group.as_bytes(), &encoder.finish()?] {
            let length = u32::try_from(part.len()).map_err(Error::other)?;
            asset.extend_from_slice(&length.to_le_bytes());
            asset.extend_from_slice(part);
        }
    }
    Ok(asset)
}

/// Whether the linker of the target takes that by an option of its own. For musl it takes other start files, which only rustc
/// can choose.
fn links_to_fixed_addresses() -> bool {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu"
}

/// Whether a program of the target can start with packed relocations: those of musl bring what reads them (musl 1.2.4), those of glibc
/// need it where they run, which is taken to be like where they are built.
fn target_reads_packed_relocations() -> bool {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    if variable("CARGO_CFG_TARGET_OS") != "linux" {
        return false;
    }
    match variable("CARGO_CFG_TARGET_ENV").as_str() {
        "musl" => true,
        "gnu" => {
            variable("HOST") == variable("TARGET") && glibc().is_some_and(|it| it >= FIRST_GLIBC)
        }
        _ => false,
    }
}

/// Version of this machine's glibc.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let text = String::from_utf8(output.ok()?.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

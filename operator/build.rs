//! Has the linker settle where everything is (on glibc): tables of shapes are mostly pointers, and a program that may be loaded
//! anywhere has them all written when it starts, which makes 6 MB of the binary memory of each process. Programs in Go, such as
//! Kubernetes' own, are linked like that, too; heap, stack and libraries are still placed at random. For musl that takes other start
//! files, which only rustc can choose: `cargo xtask image` has it do so. Without it such a program has its relative relocations
//! packed, each of which otherwise takes 24 bytes beside the pointer.
//!
//! And compresses Azure's descriptions of the groups that are built in, which `cargo xtask gen` keeps as text beside their crates,
//! into one asset (`src/descriptions` reads it).

use std::env;
use std::io::{Error, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::DeflateEncoder;

fn main() -> Result<(), Error> {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    match (target("OS").as_str(), target("ENV").as_str()) {
        ("linux", "gnu") => println!("cargo::rustc-link-arg-bins=-no-pie"),
        // What reads them comes with the program (musl 1.2.4).
        ("linux", "musl") => println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs"),
        _ => {}
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

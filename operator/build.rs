//! Has the linker pack relative relocations. Tables of shapes are mostly pointers, each of which otherwise takes 24 bytes of
//! the binary beside itself: a fifth of it.

use std::env;
use std::process::Command;

/// The first glibc whose loader reads packed relocations.
const FIRST_GLIBC: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if target_reads_packed_relocations() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Whether a program of the target can start with them: those of musl bring what reads them (musl 1.2.4), those of glibc
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

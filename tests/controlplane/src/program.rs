//! The program that tests of commands run.

use std::path::PathBuf;

/// Names another program than the one that was built with the tests: one for another machine, behind an emulator
/// (`cargo xtask emulated`).
pub const VARIABLE: &str = "ARMATURE_PROGRAM";

/// What [`VARIABLE`] names, else the program that was built with the tests.
pub fn program(built: &str) -> PathBuf {
    std::env::var_os(VARIABLE).map_or_else(|| PathBuf::from(built), PathBuf::from)
}

//! Golden and fault tests of passes 1 to 3 on small specs of our own (`tests/specs`), and runs over the real ones.
//!
//! One binary for the three passes: each test names the pass it is about.

mod bicep;
mod convert;
mod discover;
mod faults;
mod findings;
mod formats;
mod generate;
mod mutations;
mod names;
mod openapi3;
mod real;
mod render;
mod sources;
mod survey;
mod types;

use armature_generator::load::{LoadError, SpecRoot, SpecSet, load};

/// The folder of small specs.
fn specs() -> SpecRoot {
    SpecRoot::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/specs"))
}

/// Loads small specs.
fn load_specs(files: &[&str]) -> Result<SpecSet, LoadError> {
    let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
    load(&specs(), &files)
}

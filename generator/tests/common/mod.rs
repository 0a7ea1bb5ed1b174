//! What tests of several passes need: small specs, Azure's specs, models by hand, and models as text.

pub mod lines;
pub mod models;
pub mod outline;
pub mod real;

use armature_generator::load::{LoadError, SpecRoot, SpecSet, load};

/// The folder of small specs.
pub fn specs() -> SpecRoot {
    SpecRoot::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/specs"))
}

/// Loads small specs.
pub fn load_specs(files: &[&str]) -> Result<SpecSet, LoadError> {
    let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
    load(&specs(), &files)
}

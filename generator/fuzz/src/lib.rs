//! What the targets share: the small specs, and a text in place of one of their files.
//!
//! Each target is a few lines below `fuzz_targets`. Changed specs and what must hold are in `armature-fuzz`, which also
//! runs without coverage (`cargo xtask fuzz`).

use armature_generator::discover::discover;
use armature_generator::load::{SpecRoot, load};
use armature_generator::model::ApiVersion;
use armature_generator::types::build;

/// Folder of the small specs.
pub const SPECS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/specs");

/// Passes 1 to 3 over `text` in place of `file`. A refusal must name a file.
pub fn read(root: &SpecRoot, file: &str, text: &[u8]) {
    let root = root.with_text(file, text);
    if let Err(error) = passes(&root, file) {
        assert!(error.contains(".json"), "the error names no file: {error}");
    }
}

fn passes(root: &SpecRoot, file: &str) -> Result<(), String> {
    let set = load(root, &[file.to_owned()]).map_err(|error| error.to_string())?;
    let found = discover(&set).map_err(|error| error.to_string())?;
    let version = build(&set, ApiVersion::new("2024-01-01"), &found);
    version.map(|_| ()).map_err(|error| error.to_string())
}

//! Pages of the book that tests write.

use std::path::Path;

use anyhow::{Context, Result, ensure};

/// Keeps a page of `docs/`: writes it when `ARMATURE_WRITE_DOCS` is set, else compares it.
///
/// # Errors
/// When the page is stale or cannot be written.
pub fn keep(name: &str, page: &str) -> Result<()> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name);
    if std::env::var_os("ARMATURE_WRITE_DOCS").is_some() {
        return std::fs::write(&file, page).with_context(|| file.display().to_string());
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    ensure!(
        written == page,
        "docs/{name} is stale: run this test with ARMATURE_WRITE_DOCS=1"
    );
    Ok(())
}

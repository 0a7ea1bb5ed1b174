//! Pages of the book that tests write.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// Keeps a page of `docs/`: writes it when `ARMATURE_WRITE_DOCS` is set, else compares it.
///
/// # Errors
/// When the page is stale or cannot be written.
pub fn keep(name: &str, page: &str) -> Result<()> {
    let file = docs().join(name);
    if is_writing() {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        return std::fs::write(&file, page).with_context(|| file.display().to_string());
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    ensure!(
        written == page,
        "docs/{name} is stale: run this test with ARMATURE_WRITE_DOCS=1"
    );
    Ok(())
}

/// Keeps the pages of groups in a folder of `docs/`, as [`keep`] does, and nothing else in it.
///
/// # Errors
/// When a page is stale, cannot be written, or is of a group that is gone.
pub fn keep_groups(folder: &str, pages: &BTreeMap<String, String>) -> Result<()> {
    let names: BTreeMap<String, &String> = pages
        .iter()
        .map(|(group, page)| (format!("{group}.md"), page))
        .collect();
    for (name, page) in &names {
        keep(&format!("{folder}/{name}"), page)?;
    }
    for name in files_in(&docs().join(folder))? {
        if names.contains_key(&name) {
            continue;
        }
        ensure!(
            is_writing(),
            "docs/{folder}/{name} is of a group that has nothing: run this test with ARMATURE_WRITE_DOCS=1"
        );
        let file = docs().join(folder).join(&name);
        std::fs::remove_file(&file).with_context(|| file.display().to_string())?;
    }
    Ok(())
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn is_writing() -> bool {
    std::env::var_os("ARMATURE_WRITE_DOCS").is_some()
}

/// Names of the files in a folder; none where there is no such folder.
fn files_in(folder: &Path) -> Result<BTreeSet<String>> {
    if !folder.is_dir() {
        return Ok(BTreeSet::new());
    }
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect()
}

//! Where things are: the root of the workspace and the paths that commands share.

use std::path::{Path, PathBuf};

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};

/// Folder of the workspace's `Cargo.toml`: where cargo says it is, else where this program was built.
pub fn root() -> anyhow::Result<Utf8PathBuf> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let root = package
        .parent()
        .map(Path::to_owned)
        .with_context(|| format!("{} has no parent folder", package.display()))?;
    Utf8PathBuf::from_path_buf(root)
        .map_err(|path| anyhow::anyhow!("the path {} is not UTF-8; move the clone", path.display()))
}

/// Reads a text file; the error names it.
pub fn read(path: &Utf8Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))
}

/// Writes a file and the folders above it; the error names it.
pub fn write(path: &Utf8Path, content: impl AsRef<[u8]>) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {folder}"))?;
    }
    std::fs::write(path, content).with_context(|| format!("cannot write {path}"))
}

/// As [`write`], all or nothing: whoever reads the file finds the old content or the new one, never a part.
pub fn replace(path: &Utf8Path, content: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push_str(".new");
    let beside = path.with_file_name(name);
    write(&beside, content)?;
    std::fs::rename(&beside, path).with_context(|| format!("cannot write {path}"))
}

/// Deletes a file if it is there; the error names it.
pub fn remove(path: &Utf8Path) -> anyhow::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot delete {path}"))
        }
        _ => Ok(()),
    }
}

/// Files below `folder`, relative to it and sorted. A missing folder has none.
pub fn files_below(folder: &Utf8Path) -> anyhow::Result<Vec<Utf8PathBuf>> {
    let mut found = Vec::new();
    let mut pending = vec![Utf8PathBuf::new()];
    while let Some(relative) = pending.pop() {
        let entries = match folder.join(&relative).read_dir_utf8() {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {folder}/{relative}"));
            }
        };
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot read {folder}/{relative}"))?;
            let path = relative.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                pending.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The cargo that runs us, else the one on `PATH`.
pub fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// `page` with other text between the comments `<!-- begin NAME -->` and `<!-- end NAME -->`.
///
/// # Errors
/// When the page lacks one of them.
pub fn with_section(page: &str, name: &str, text: &str) -> anyhow::Result<String> {
    let (begin, end) = (
        format!("<!-- begin {name} -->\n"),
        format!("<!-- end {name} -->"),
    );
    let parts = page.split_once(&begin).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(&end)?;
        Some((before, after))
    });
    let (before, after) = parts.with_context(|| {
        format!(
            "the page needs the lines `{}` and `{end}` around the generated part",
            begin.trim_end()
        )
    })?;
    Ok(format!("{before}{begin}{text}{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_replaced_and_all_around_it_stays() {
        let page = "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n";
        let next = with_section(page, "x", "new\n").unwrap();
        assert_eq!(next, "a\n<!-- begin x -->\nnew\n<!-- end x -->\nb\n");
        assert_eq!(with_section(&next, "x", "new\n").unwrap(), next);
        let error = with_section(page, "y", "").unwrap_err().to_string();
        assert!(error.contains("<!-- begin y -->"), "{error}");
    }
}

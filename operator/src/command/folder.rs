//! Files and folders that are written whole or not at all.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;

/// Refuses what would be overwritten without having been told to. A folder with nothing in it is none.
///
/// # Errors
/// When something is there.
pub fn check_free(path: &Path, overwrite: bool) -> anyhow::Result<()> {
    let is_empty = path
        .read_dir()
        .is_ok_and(|mut entries| entries.next().is_none());
    anyhow::ensure!(
        overwrite || is_empty || !path.exists(),
        "{} is there already; name another one, or --overwrite",
        path.display()
    );
    Ok(())
}

/// Writes a file by way of another beside it.
///
/// # Errors
/// When it cannot be written; what was there is there still.
pub fn write_file(file: &Path, text: &str) -> anyhow::Result<()> {
    let new = beside(file, "new");
    let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, file));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&new);
        anyhow::Error::new(error).context(format!("cannot write {}", file.display()))
    })
}

/// Writes these files into a folder, each of them whole, by way of another folder. Of a folder that is there already, what an
/// earlier import has written goes, and nothing else: its kustomization.yaml names that. Secrets that somebody may have filled
/// stay as they are.
///
/// # Errors
/// When a file cannot be written, or would take the place of one that no import has written; then nothing has changed.
pub fn write_folder(folder: &Path, files: &[(String, String)]) -> anyhow::Result<()> {
    let Some(former) = former(folder)? else {
        let new = beside(folder, "new");
        return fill(&new, files)
            .and_then(|()| {
                std::fs::rename(&new, folder)
                    .with_context(|| format!("cannot make {}", folder.display()))
            })
            .inspect_err(|_| {
                let _ = std::fs::remove_dir_all(&new);
            });
    };
    for (name, _) in files {
        let path = folder.join(name);
        anyhow::ensure!(
            former.contains(name) || !path.exists(),
            "{} is there, and no import has written it; move it away, or name another folder",
            path.display()
        );
    }
    // In the folder itself, so that it is on the same disk whatever the folder is.
    let new = folder.join(format!(".armature-import.{}", std::process::id()));
    let replaced = fill(&new, files).and_then(|()| replace(folder, &new, files, &former));
    let _ = std::fs::remove_dir_all(&new);
    replaced
}

fn replace(
    folder: &Path,
    new: &Path,
    files: &[(String, String)],
    former: &BTreeSet<String>,
) -> anyhow::Result<()> {
    for (name, _) in files {
        let path = folder.join(name);
        if path.exists() && is_secret(name) {
            continue;
        }
        std::fs::rename(new.join(name), &path)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let wanted: BTreeSet<&String> = files.iter().map(|(name, _)| name).collect();
    for name in former.iter().filter(|name| !wanted.contains(name)) {
        let path = folder.join(name);
        if path.exists() && !is_secret(name) {
            std::fs::remove_file(&path)
                .with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

/// Whether somebody fills the file.
fn is_secret(name: &str) -> bool {
    name.starts_with("secret-")
}

/// What an earlier import has written into a folder; nothing where there is no folder.
fn former(folder: &Path) -> anyhow::Result<Option<BTreeSet<String>>> {
    if !folder.exists() {
        return Ok(None);
    }
    let list = folder.join(KUSTOMIZATION);
    let text = match std::fs::read_to_string(&list) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Some(BTreeSet::new()));
        }
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", list.display()));
        }
    };
    let value: Value = serde_saphyr::from_str(&text)
        .with_context(|| format!("{} cannot be read as YAML", list.display()))?;
    let names = value["resources"].as_array().into_iter().flatten();
    let names = names.filter_map(Value::as_str);
    // What lies elsewhere no import has written.
    let plain = names.filter(|name| Path::new(name).components().count() == 1 && *name != "..");
    let named = plain.chain([KUSTOMIZATION]).map(str::to_owned);
    Ok(Some(named.collect()))
}

/// Names what a folder has.
const KUSTOMIZATION: &str = "kustomization.yaml";

fn fill(folder: &Path, files: &[(String, String)]) -> anyhow::Result<()> {
    if let Some(above) = folder
        .parent()
        .filter(|above| !above.as_os_str().is_empty())
    {
        std::fs::create_dir_all(above)
            .with_context(|| format!("cannot make {}", above.display()))?;
    }
    std::fs::create_dir(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (name, text) in files {
        let file = folder.join(name);
        std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// A path in the same folder, which only this process uses.
fn beside(path: &Path, what: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.{what}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = folder.read_dir().unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    fn file(name: &str) -> (String, String) {
        (name.to_owned(), "x".to_owned())
    }

    fn kustomization(names: &[&str]) -> (String, String) {
        (KUSTOMIZATION.to_owned(), format!("resources: {names:?}\n"))
    }

    #[test]
    fn a_folder_is_written_whole_and_nothing_is_left_of_what_was_not() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("a/b");
        let wrong = write_folder(&folder, &[file("one"), file("no/such/folder")]);
        assert!(wrong.is_err());
        assert_eq!(names(&above.path().join("a")), Vec::<String>::new());
        let list = kustomization(&["one", "two"]);
        write_folder(&folder, &[file("one"), file("two"), list]).unwrap();
        assert_eq!(names(&folder), ["kustomization.yaml", "one", "two"]);
        assert!(check_free(&folder, false).is_err());
        check_free(&folder, true).unwrap();
        // A name that cannot be written: nothing of it stays, and what was there does.
        let wrong = write_folder(&folder, &[file("three"), file("no/such/folder")]);
        assert!(wrong.is_err());
        assert_eq!(names(&folder), ["kustomization.yaml", "one", "two"]);
        let list = kustomization(&["three"]);
        write_folder(&folder, &[file("three"), list]).unwrap();
        assert_eq!(names(&folder), ["kustomization.yaml", "three"]);
        assert_eq!(names(&above.path().join("a")), ["b"]);
    }

    #[test]
    fn what_no_import_has_written_stays() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path();
        let list = kustomization(&["one", "secret-login.yaml", "../other.yaml"]);
        write_folder(folder, &[file("one"), file("secret-login.yaml"), list]).unwrap();
        for name in ["mine.txt", ".git"] {
            std::fs::write(folder.join(name), "mine").unwrap();
        }
        std::fs::write(folder.join("secret-login.yaml"), "filled").unwrap();
        let list = kustomization(&["two", "secret-login.yaml"]);
        let files = [file("two"), file("secret-login.yaml"), list];
        write_folder(folder, &files).unwrap();
        let expected = [
            ".git",
            "kustomization.yaml",
            "mine.txt",
            "secret-login.yaml",
            "two",
        ];
        assert_eq!(names(folder), expected);
        let secret = std::fs::read_to_string(folder.join("secret-login.yaml"));
        assert_eq!(secret.unwrap(), "filled");
        let taken = write_folder(folder, &[file("mine.txt"), kustomization(&["mine.txt"])]);
        let error = taken.unwrap_err().to_string();
        assert!(error.contains("no import has written it"), "{error}");
        assert_eq!(names(folder), expected);
    }

    #[test]
    fn a_file_takes_the_place_of_another_only_where_that_is_wanted() {
        let above = tempfile::tempdir().unwrap();
        let file = above.path().join("all.yaml");
        check_free(&file, false).unwrap();
        write_file(&file, "one").unwrap();
        assert!(check_free(&file, false).is_err());
        write_file(&file, "two").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "two");
        assert_eq!(names(above.path()), ["all.yaml"]);
    }
}

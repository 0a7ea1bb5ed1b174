//! Files and folders that are written whole or not at all.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::import::kustomization::{FILE, Kustomization};
use crate::import::text;

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

/// Writes manifests into a folder and a `kustomization.yaml` that names them, each of them whole, by way of another folder. Of a
/// folder that is there already, what an earlier import has written goes, and nothing else: its `kustomization.yaml` tells that,
/// and what somebody has added to that stays. Secrets that somebody may have filled stay as they are.
///
/// # Errors
/// When a file cannot be written, or would take the place of one that no import has written; then nothing has changed.
pub fn write_folder(folder: &Path, mut files: Vec<(String, String)>) -> anyhow::Result<()> {
    let there = kustomization(folder)?;
    let former = there.imported();
    for (name, _) in &files {
        let path = folder.join(name);
        anyhow::ensure!(
            former.contains(name) || !path.exists(),
            "{} is there, and no import has written it; move it away, or name another folder",
            path.display()
        );
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let list = there.with_imported(&names);
    // One that says the same keeps its comments.
    if list != there {
        files.push((FILE.to_owned(), text::kustomization(&list)?));
    }
    if folder.exists() {
        // In the folder itself, so that it is on the same disk whatever the folder is.
        let new = folder.join(format!(".armature-import.{}", std::process::id()));
        let replaced = fill(&new, &files).and_then(|()| replace(folder, &new, &files, &former));
        let _ = std::fs::remove_dir_all(&new);
        return replaced;
    }
    let new = beside(folder, "new");
    fill(&new, &files)
        .and_then(|()| {
            std::fs::rename(&new, folder)
                .with_context(|| format!("cannot make {}", folder.display()))
        })
        .inspect_err(|_| {
            let _ = std::fs::remove_dir_all(&new);
        })
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

/// The `kustomization.yaml` of a folder; an empty one where there is none.
fn kustomization(folder: &Path) -> anyhow::Result<Kustomization> {
    let file = folder.join(FILE);
    match std::fs::read_to_string(&file) {
        Ok(text) => Kustomization::read(&text).map_err(|why| {
            anyhow::anyhow!("{}: {why}; mend it, or name another folder", file.display())
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Kustomization::default()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

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

    #[test]
    fn a_folder_is_written_whole_and_nothing_is_left_of_what_was_not() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("a/b");
        let wrong = write_folder(&folder, vec![file("one"), file("no/such/folder")]);
        assert!(wrong.is_err());
        assert_eq!(names(&above.path().join("a")), Vec::<String>::new());
        write_folder(&folder, vec![file("one"), file("two")]).unwrap();
        assert_eq!(names(&folder), ["kustomization.yaml", "one", "two"]);
        assert!(check_free(&folder, false).is_err());
        check_free(&folder, true).unwrap();
        // A name that cannot be written: nothing of it stays, and what was there does.
        let wrong = write_folder(&folder, vec![file("three"), file("no/such/folder")]);
        assert!(wrong.is_err());
        assert_eq!(names(&folder), ["kustomization.yaml", "one", "two"]);
        write_folder(&folder, vec![file("three")]).unwrap();
        assert_eq!(names(&folder), ["kustomization.yaml", "three"]);
        assert_eq!(names(&above.path().join("a")), ["b"]);
    }

    #[test]
    fn what_no_import_has_written_stays() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path();
        write_folder(folder, vec![file("one"), file("secret-login.yaml")]).unwrap();
        for name in ["mine.txt", "mine.yaml", ".git"] {
            std::fs::write(folder.join(name), "mine").unwrap();
        }
        std::fs::write(folder.join("secret-login.yaml"), "filled").unwrap();
        // Somebody has the folder deliver a manifest of their own, too.
        let list = folder.join(FILE);
        let text = std::fs::read_to_string(&list).unwrap();
        let text = format!("# ours\n{text}- mine.yaml\nnamespace: team\n");
        std::fs::write(&list, &text).unwrap();
        write_folder(folder, vec![file("one"), file("secret-login.yaml")]).unwrap();
        let listed = || Kustomization::read(&std::fs::read_to_string(&list).unwrap()).unwrap();
        assert_eq!(listed().members()["namespace"], "team");
        write_folder(folder, vec![file("two"), file("secret-login.yaml")]).unwrap();
        let expected = [
            ".git",
            "kustomization.yaml",
            "mine.txt",
            "mine.yaml",
            "secret-login.yaml",
            "two",
        ];
        assert_eq!(names(folder), expected);
        let secret = std::fs::read_to_string(folder.join("secret-login.yaml"));
        assert_eq!(secret.unwrap(), "filled");
        let resources = ["secret-login.yaml", "mine.yaml", "two"];
        assert_eq!(
            listed().members()["resources"],
            serde_json::json!(resources)
        );
        assert_eq!(listed().members()["namespace"], "team");
        let taken = write_folder(folder, vec![file("mine.txt")]);
        let error = taken.unwrap_err().to_string();
        assert!(error.contains("no import has written it"), "{error}");
        assert_eq!(names(folder), expected);
        // What cannot be understood is not replaced.
        std::fs::write(&list, "resources: [").unwrap();
        let wrong = write_folder(folder, vec![file("two")]).unwrap_err();
        assert!(wrong.to_string().contains("kustomization.yaml"), "{wrong}");
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

//! Files and folders that are written whole or not at all.

use std::path::{Path, PathBuf};

use anyhow::Context;

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

/// Writes a folder with these files and no others, by way of another beside it. What was there before goes last.
///
/// # Errors
/// When a file cannot be written; what was there is there still.
pub fn write_folder(folder: &Path, files: &[(String, String)]) -> anyhow::Result<()> {
    let (new, old) = (beside(folder, "new"), beside(folder, "old"));
    let filled = fill(&new, files).and_then(|()| {
        if folder.exists() {
            std::fs::rename(folder, &old)
                .with_context(|| format!("cannot replace {}", folder.display()))?;
        }
        std::fs::rename(&new, folder).map_err(|error| {
            let _ = std::fs::rename(&old, folder);
            anyhow::Error::new(error).context(format!("cannot make {}", folder.display()))
        })
    });
    if filled.is_err() {
        let _ = std::fs::remove_dir_all(&new);
    } else if old.exists() {
        std::fs::remove_dir_all(&old)
            .with_context(|| format!("cannot remove what was there, {}", old.display()))?;
    }
    filled
}

fn fill(folder: &Path, files: &[(String, String)]) -> anyhow::Result<()> {
    if let Some(above) = folder.parent() {
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

    #[test]
    fn a_folder_is_written_whole_and_nothing_is_left_of_what_was_not() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("a/b");
        let file = |name: &str| (name.to_owned(), "x".to_owned());
        write_folder(&folder, &[file("one"), file("two")]).unwrap();
        assert_eq!(names(&folder), ["one", "two"]);
        assert!(check_free(&folder, false).is_err());
        check_free(&folder, true).unwrap();
        // A name that cannot be written: nothing of it stays, and what was there does.
        let wrong = write_folder(&folder, &[file("three"), file("no/such/folder")]);
        assert!(wrong.is_err());
        assert_eq!(names(&folder), ["one", "two"]);
        write_folder(&folder, &[file("three")]).unwrap();
        assert_eq!(names(&folder), ["three"]);
        assert_eq!(names(&above.path().join("a")), ["b"]);
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

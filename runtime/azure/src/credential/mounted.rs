//! Files that are mounted into the operator's container: tokens and identities. A Secret of any namespace may name one, so what is
//! read is an ordinary file, short, and below a folder that is meant for it.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::time::timeout;

/// What a file with an identity is called in messages.
pub(super) const IDENTITY_FILE: &str = "user-assigned identity";

/// Bytes of the longest file.
const LONGEST: u64 = 64 << 10;

/// How long a file may take; mounts of other machines may hang.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads a file. `folders` are those that it must be below, wherever links lead; it may be anywhere where there are none.
///
/// # Errors
/// A sentence on why it is not read.
pub(super) async fn read(path: &Path, folders: Option<&[PathBuf]>) -> Result<Vec<u8>, String> {
    let content = timeout(PATIENCE, content(path, folders)).await;
    content.map_err(|_| format!("it cannot be read within {} s", PATIENCE.as_secs()))?
}

async fn content(path: &Path, folders: Option<&[PathBuf]>) -> Result<Vec<u8>, String> {
    if let Some(folders) = folders
        && !is_below(path, folders).await
    {
        return Err(outside(folders));
    }
    let of_system = |error: std::io::Error| error.to_string();
    // Opening a pipe waits for somebody to write into it.
    let metadata = tokio::fs::metadata(path).await.map_err(of_system)?;
    if !metadata.is_file() {
        return Err("it is no ordinary file".to_owned());
    }
    let file = tokio::fs::File::open(path).await.map_err(of_system)?;
    let mut content = Vec::new();
    let mut start = file.take(LONGEST + 1);
    start.read_to_end(&mut content).await.map_err(of_system)?;
    if content.len() as u64 > LONGEST {
        return Err(format!("it is longer than {} KiB", LONGEST >> 10));
    }
    Ok(content)
}

/// Whether the file is below one of the folders when all links are followed: mounts are made of them.
async fn is_below(path: &Path, folders: &[PathBuf]) -> bool {
    let Ok(path) = tokio::fs::canonicalize(path).await else {
        return false;
    };
    for folder in folders {
        if let Ok(folder) = tokio::fs::canonicalize(folder).await
            && path.starts_with(folder)
        {
            return true;
        }
    }
    false
}

/// What [`read`] would say of a path in another container, where links cannot be followed: a path that leads out of the folders by
/// itself.
///
/// # Errors
/// The sentence of [`read`].
pub(super) fn check_path(path: &Path, folders: &[PathBuf]) -> Result<(), String> {
    let goes_up = path.components().any(|part| part == Component::ParentDir);
    match !goes_up && folders.iter().any(|folder| path.starts_with(folder)) {
        true => Ok(()),
        false => Err(outside(folders)),
    }
}

/// It is not told whether there is such a file.
fn outside(folders: &[PathBuf]) -> String {
    let folders: Vec<String> = folders
        .iter()
        .map(|folder| folder.display().to_string())
        .collect();
    format!(
        "it is not in a folder for such files ({}): mount it there, or have the operator's administrator name its folder in \
         ARMATURE_IDENTITY_FILE_FOLDERS",
        folders.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_alone_shows_whether_it_leads_out_of_the_folders() {
        let folders = ["/var/run/secrets/tokens", "/mnt/a"].map(PathBuf::from);
        for (path, expected) in [
            ("/mnt/a/identity.json", true),
            ("/var/run/secrets/tokens/azure-identity", true),
            ("/mnt/ab/identity.json", false),
            ("/mnt/a/../b/identity.json", false),
            ("/dev/zero", false),
            ("mnt/a/identity.json", false),
        ] {
            let found = check_path(Path::new(path), &folders);
            assert_eq!(found.is_ok(), expected, "{path}: {found:?}");
        }
    }

    #[tokio::test]
    async fn an_ordinary_short_file_below_its_folder_is_read_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        std::fs::create_dir(path("mounted")).unwrap();
        std::fs::create_dir(path("elsewhere")).unwrap();
        let long = "x".repeat(LONGEST as usize + 1);
        for (name, content) in [
            ("mounted/file", "identity"),
            ("mounted/longest", &long[1..]),
            ("mounted/long", &long),
            ("elsewhere/file", "secret"),
        ] {
            std::fs::write(path(name), content).unwrap();
        }
        // As the kubelet mounts: a link to a link to a folder.
        std::os::unix::fs::symlink("file", path("mounted/link")).unwrap();
        std::os::unix::fs::symlink("../elsewhere/file", path("mounted/out")).unwrap();
        let pipe = std::process::Command::new("mkfifo")
            .arg(path("mounted/pipe"))
            .status();
        assert!(pipe.unwrap().success());
        let folders = [path("mounted"), path("absent")];
        let read = async |name: &str| read(&path(name), Some(&folders)).await;
        assert_eq!(read("mounted/file").await.unwrap(), b"identity");
        assert_eq!(read("mounted/link").await.unwrap(), b"identity");
        assert_eq!(
            read("mounted/longest").await.unwrap().len(),
            LONGEST as usize
        );
        for (name, expected) in [
            ("mounted/long", "longer than 64 KiB"),
            ("mounted/pipe", "no ordinary file"),
            ("mounted", "no ordinary file"),
            ("mounted/out", "not in a folder for such files"),
            ("mounted/../elsewhere/file", "not in a folder"),
            ("elsewhere/file", "not in a folder"),
            ("elsewhere/absent", "not in a folder"),
            ("mounted/absent", "not in a folder"),
        ] {
            let refused = read(name).await.unwrap_err();
            assert!(refused.contains(expected), "{name}: {refused}");
        }
        let anywhere = super::read(&path("elsewhere/file"), None).await;
        assert_eq!(anywhere.unwrap(), b"secret");
        let zero = super::read(Path::new("/dev/zero"), None).await;
        assert_eq!(zero.unwrap_err(), "it is no ordinary file");
    }
}

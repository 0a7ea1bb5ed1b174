//! Small programs in Go around somebody else's library, for what only that library does. Each is built once, into the user's cache.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use armature_progress::Progress;
use sha2::{Digest, Sha256};
use tokio::process::Command;

use crate::binaries::lock;
use crate::{Error, LogTail, cache_root};

/// A program and its sources.
pub struct GoProgram {
    /// Name of its folder in the cache.
    pub name: &'static str,
    /// The library that it is about.
    pub package: &'static str,
    /// Names and texts of its files.
    pub sources: [(&'static str, &'static str); 3],
}

impl GoProgram {
    /// Finds the program, building it if it is nowhere yet.
    pub async fn locate_or_build(&self, progress: &Progress) -> Result<PathBuf, Error> {
        let texts = self.sources.map(|(_, text)| text).concat();
        let digest = Sha256::digest(texts);
        let version: String = digest[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let folder = cache_root()?.join(self.name).join(version);
        let program = folder.join("program");
        if program.is_file() {
            return Ok(program);
        }
        std::fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
        let _lock = lock(&folder.join("lock"), progress).await?;
        if !program.is_file() {
            progress.line(&format!("building a program with {} with Go", self.package));
            self.build(&folder, &program).await?;
        }
        Ok(program)
    }

    /// Builds the program in `folder`. It gets its name when it is complete.
    async fn build(&self, folder: &Path, program: &Path) -> Result<(), Error> {
        for (name, text) in self.sources {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(Error::file("write", &path))?;
        }
        let part = folder.join("part");
        let output = Command::new("go")
            .args(["build", "-ldflags", "-s -w", "-o"])
            .arg(&part)
            .arg(".")
            .current_dir(folder)
            .env("CGO_ENABLED", "0")
            .env("GOFLAGS", "-mod=mod -buildvcs=false")
            .env("GOWORK", "off")
            .stdin(Stdio::null())
            .output()
            .await
            .map_err(|source| Error::Spawn {
                program: "go".to_owned(),
                source,
            })?;
        if !output.status.success() {
            return Err(Error::GoBuild {
                package: self.package,
                log: LogTail::of(&String::from_utf8_lossy(&output.stderr)),
            });
        }
        std::fs::rename(&part, program).map_err(Error::file("create", program))
    }
}

//! `specs fetch`: the pinned files into the cache folder, each accepted only with its pinned hash.

use std::process::ExitCode;

use anyhow::Context;
use armature_progress::Progress;
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::MirrorArguments;
use crate::sources::{CopyArguments, Lock, Source, hash, locate::cache_folder, upstream::Upstream};
use crate::workspace;

/// Arguments of `specs fetch`.
#[derive(Debug, Args)]
pub struct FetchArguments {
    #[command(flatten)]
    copy: CopyArguments,
    #[command(flatten)]
    mirror: MirrorArguments,
    /// Take the lock as it is committed there, for example HEAD, in place of the one in the working tree.
    #[arg(long, value_name = "REVISION")]
    base: Option<String>,
}

/// Fetches what is missing or changed in the cache, from GitHub or from a copy.
pub async fn fetch(
    root: &Utf8Path,
    lock: &Lock,
    arguments: &FetchArguments,
) -> anyhow::Result<ExitCode> {
    let committed = match &arguments.base {
        Some(revision) => Some(Lock::committed(root, revision)?),
        None => None,
    };
    let lock = committed.as_ref().unwrap_or(lock);
    let from = arguments.copy.from.as_deref();
    let progress = Progress::new();
    for source in &lock.source {
        let target = cache_folder(source)?.join(&source.name);
        let comparison = source.compare(&target)?;
        let mut wanted = comparison.missing;
        wanted.extend(comparison.changed);
        if !wanted.is_empty() {
            let upstream = Upstream::new(source, from, &arguments.mirror.mirror)?;
            get(source, &upstream, &target, &wanted, &progress).await?;
        }
        progress.line(&format!(
            "{}: {} files fetched, {} were there, all verified, in {target}",
            source.name,
            wanted.len(),
            comparison.unchanged
        ));
    }
    Ok(ExitCode::SUCCESS)
}

async fn get(
    source: &Source,
    upstream: &Upstream,
    target: &Utf8PathBuf,
    wanted: &[String],
    progress: &Progress,
) -> anyhow::Result<()> {
    let mut done = 0;
    let take = |file: &str, bytes: Option<Vec<u8>>| {
        let bytes = bytes.with_context(|| {
            format!(
                "{file} is pinned and {} has no such file at commit {}",
                source.repository, source.commit
            )
        })?;
        accept(source, target, file, &bytes)?;
        done += 1;
        progress.update(&format!("{done}/{} {file}", wanted.len()));
        Ok(())
    };
    upstream.read_all(wanted, take).await
}

/// Writes a file into the cache if it has the pinned hash.
fn accept(source: &Source, target: &Utf8Path, file: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let found = hash(bytes);
    let pinned = source.files.get(file).map(String::as_str);
    anyhow::ensure!(
        pinned == Some(&found),
        "{file} has SHA-256 {found}, but {} is pinned for commit {}; nothing was written",
        pinned.unwrap_or("nothing"),
        source.commit
    );
    workspace::replace(&target.join(file), bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[tokio::test]
    async fn only_pinned_bytes_reach_the_cache() {
        let folder = tempfile::tempdir().unwrap();
        let target = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let source = Source {
            name: "specs".into(),
            repository: "owner/specs".into(),
            commit: "abc".into(),
            files: BTreeMap::from([("a/b.json".into(), hash(b"good"))]),
        };
        let error = accept(&source, &target, "a/b.json", b"bad").unwrap_err();
        assert!(error.to_string().contains("nothing was written"), "{error}");
        assert!(!target.join("a/b.json").exists());
        accept(&source, &target, "a/b.json", b"good").unwrap();
        assert!(source.compare(&target).unwrap().is_complete());
    }
}

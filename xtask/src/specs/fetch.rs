//! `specs fetch`: the pinned files into the cache folder, each accepted only with its pinned hash.

use std::{process::ExitCode, time::Duration};

use anyhow::Context;
use armature_controlplane::Progress;
use camino::{Utf8Path, Utf8PathBuf};
use futures::{StreamExt, TryStreamExt};

use super::{Lock, Source, hash, locate, locate::cache_folder};
use crate::workspace;

/// Downloads at a time: polite to the server, and most of the gain.
const CONCURRENT: usize = 8;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Fetches what is missing or changed in the cache, from GitHub or from the copy that `from` names.
pub async fn fetch(lock: &Lock, from: Option<&Utf8Path>) -> anyhow::Result<ExitCode> {
    let progress = Progress::new();
    for source in &lock.source {
        let target = cache_folder(source)?.join(&source.name);
        let comparison = source.compare(&target)?;
        let wanted: Vec<&String> = comparison
            .missing
            .iter()
            .chain(&comparison.changed)
            .collect();
        match from {
            Some(from) => {
                let origin = locate(&target, source, Some(from))?.path;
                for file in &wanted {
                    let bytes = std::fs::read(origin.join(file))
                        .with_context(|| format!("cannot read {origin}/{file}"))?;
                    accept(source, &target, file, &bytes)?;
                }
            }
            None => download_all(source, &target, &wanted, &progress).await?,
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

async fn download_all(
    source: &Source,
    target: &Utf8PathBuf,
    wanted: &[&String],
    progress: &Progress,
) -> anyhow::Result<()> {
    // The provider may be installed already; either way there is one now.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let client = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(READ_TIMEOUT)
        .build()?;
    let mut done = 0;
    let mut downloads = futures::stream::iter(wanted)
        .map(|file| download(&client, source, target, file))
        .buffer_unordered(CONCURRENT);
    while let Some(file) = downloads.try_next().await? {
        done += 1;
        progress.update(&format!("{done}/{} {file}", wanted.len()));
    }
    Ok(())
}

async fn download<'a>(
    client: &reqwest::Client,
    source: &Source,
    target: &Utf8Path,
    file: &'a str,
) -> anyhow::Result<&'a str> {
    let url = format!(
        "https://raw.githubusercontent.com/{}/{}/{file}",
        source.repository, source.commit
    );
    let bytes = async {
        let response = client.get(&url).send().await?.error_for_status()?;
        response.bytes().await
    }
    .await
    .with_context(|| {
        format!("cannot download {url}. Without internet, use --from DIR with a local copy of the repository")
    })?;
    accept(source, target, file, &bytes)?;
    Ok(file)
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
    workspace::write(&target.join(file), bytes)
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

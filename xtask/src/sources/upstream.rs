//! Where files of a source come from: its repository on the web, or a copy on this machine.

use std::time::Duration;

use anyhow::Context;
use armature_generator::load::path_in_copy;
use camino::{Utf8Path, Utf8PathBuf};
use futures::{StreamExt, TryStreamExt};
use reqwest::StatusCode;

use super::{Source, locate};

/// Where GitHub serves files of repositories.
pub const GITHUB: &str = "https://raw.githubusercontent.com";

/// Downloads at a time: polite to the server, and most of the gain.
const CONCURRENT: usize = 8;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Where files of one source come from.
#[derive(Debug)]
pub enum Upstream {
    /// A copy on this machine.
    Folder(Utf8PathBuf),
    /// A server with files under `<repository>/<commit>/`.
    Web {
        /// The client.
        client: reqwest::Client,
        /// URL of the commit, without a slash at the end.
        url: String,
    },
}

impl Upstream {
    /// The copy in `from`, else the source's commit on the server at `mirror`.
    pub fn new(source: &Source, from: Option<&Utf8Path>, mirror: &str) -> anyhow::Result<Self> {
        if let Some(from) = from {
            let folder = locate(Utf8Path::new(""), source, Some(from))?;
            return Ok(Self::Folder(folder.path));
        }
        // The provider may be installed already; either way there is one now.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let client = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .build()?;
        let mirror = mirror.trim_end_matches('/');
        Ok(Self::Web {
            client,
            url: format!("{mirror}/{}/{}", source.repository, source.commit),
        })
    }

    /// Reads files, several at a time, and gives each to `take` as it is there; `None` for a file that does not exist.
    pub async fn read_all(
        &self,
        files: &[String],
        mut take: impl FnMut(&str, Option<Vec<u8>>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut reads = futures::stream::iter(files)
            .map(|file| async move { anyhow::Ok((file, self.read(file).await?)) })
            .buffer_unordered(CONCURRENT);
        while let Some((file, bytes)) = reads.try_next().await? {
            take(file, bytes)?;
        }
        Ok(())
    }

    async fn read(&self, file: &str) -> anyhow::Result<Option<Vec<u8>>> {
        match self {
            Self::Folder(folder) => match std::fs::read(path_in_copy(folder, file)) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error).with_context(|| format!("cannot read {folder}/{file}")),
            },
            Self::Web { client, url } => {
                let url = format!("{url}/{file}");
                download(client, &url).await.with_context(|| {
                    format!(
                        "cannot download {url}. Without internet, use --from DIR with a local copy of the repository"
                    )
                })
            }
        }
    }
}

async fn download(client: &reqwest::Client, url: &str) -> reqwest::Result<Option<Vec<u8>>> {
    let response = client.get(url).send().await?;
    if response.status() == StatusCode::NOT_FOUND {
        return Ok(None);
    }
    let bytes = response.error_for_status()?.bytes().await?;
    Ok(Some(bytes.to_vec()))
}

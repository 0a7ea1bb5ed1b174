//! The official release binaries: kube-apiserver from dl.k8s.io, etcd from its GitHub release, each checked against
//! the SHA-256 that is published beside it. Linux only, because Kubernetes publishes its server for Linux only.

use std::{path::Path, time::Duration};

use sha2::{Digest, Sha256};
use tokio::process::Command;

use super::{ETCD_VERSION, KUBERNETES_VERSION};
use armature_progress::Progress;

use crate::Error;

/// Without internet this is all the time that trying costs.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);
/// A connection that goes silent for this long is given up.
const READ_TIMEOUT: Duration = Duration::from_secs(20);

/// Downloads both binaries into `out`.
///
/// # Errors
/// [`Error::Download`] for anything on the way: no release for this platform, no internet, a wrong checksum.
pub(super) async fn release_binaries(out: &Path, progress: &Progress) -> Result<(), Error> {
    let arch = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "amd64",
        ("linux", "aarch64") => "arm64",
        (os, arch) => {
            return Err(failed(
                "https://dl.k8s.io",
                format!("no release of kube-apiserver for {os} on {arch}"),
            ));
        }
    };
    let client = client()?;
    kube_apiserver(&client, arch, out, progress).await?;
    etcd(&client, arch, out, progress).await
}

async fn kube_apiserver(
    client: &reqwest::Client,
    arch: &str,
    out: &Path,
    progress: &Progress,
) -> Result<(), Error> {
    let url = format!("https://dl.k8s.io/{KUBERNETES_VERSION}/bin/linux/{arch}/kube-apiserver");
    let sums = get(client, &format!("{url}.sha256"), "checksum", progress).await?;
    let expected = String::from_utf8_lossy(&sums).trim().to_owned();
    let bytes = get(client, &url, "downloading kube-apiserver", progress).await?;
    verify(&url, &bytes, &expected)?;
    write_program(&out.join("kube-apiserver"), &bytes)
}

async fn etcd(
    client: &reqwest::Client,
    arch: &str,
    out: &Path,
    progress: &Progress,
) -> Result<(), Error> {
    let base = format!("https://github.com/etcd-io/etcd/releases/download/{ETCD_VERSION}");
    let name = format!("etcd-{ETCD_VERSION}-linux-{arch}");
    let url = format!("{base}/{name}.tar.gz");
    let sums = get(client, &format!("{base}/SHA256SUMS"), "checksums", progress).await?;
    let expected = sum_of(&String::from_utf8_lossy(&sums), &format!("{name}.tar.gz"))
        .ok_or_else(|| failed(&url, "SHA256SUMS does not list it"))?;
    let bytes = get(client, &url, "downloading etcd", progress).await?;
    verify(&url, &bytes, &expected)?;
    let archive = out.join("etcd.tar.gz");
    std::fs::write(&archive, &bytes).map_err(Error::file("write", &archive))?;
    let unpacked = Command::new("tar")
        .arg("-xzf")
        .arg(&archive)
        .arg("-C")
        .arg(out)
        .args(["--strip-components=1", &format!("{name}/etcd")])
        .output()
        .await;
    match unpacked {
        Ok(run) if run.status.success() => {}
        Ok(run) => return Err(failed(&url, String::from_utf8_lossy(&run.stderr))),
        Err(error) => return Err(failed(&url, format!("cannot run tar: {error}"))),
    }
    std::fs::remove_file(&archive).map_err(Error::file("remove", &archive))
}

fn client() -> Result<reqwest::Client, Error> {
    // The provider may be installed already; either way there is one now.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(READ_TIMEOUT)
        .build()
        .map_err(|error| failed("https://dl.k8s.io", error))
}

/// The body of `url`, with progress.
async fn get(
    client: &reqwest::Client,
    url: &str,
    label: &str,
    progress: &Progress,
) -> Result<Vec<u8>, Error> {
    let fail = |error: reqwest::Error| failed(url, error.without_url());
    let mut response = client
        .get(url)
        .send()
        .await
        .and_then(reqwest::Response::error_for_status)
        .map_err(fail)?;
    let total = response.content_length();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(fail)? {
        body.extend_from_slice(&chunk);
        progress.bytes(label, body.len() as u64, total);
    }
    Ok(body)
}

/// The sum of `file` in the output format of `sha256sum`.
fn sum_of(sums: &str, file: &str) -> Option<String> {
    sums.lines()
        .filter_map(|line| line.split_once(char::is_whitespace))
        .find(|(_, name)| name.trim_start_matches([' ', '*']) == file)
        .map(|(sum, _)| sum.to_owned())
}

fn verify(url: &str, bytes: &[u8], expected: &str) -> Result<(), Error> {
    let found: String = Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if found.eq_ignore_ascii_case(expected) {
        Ok(())
    } else {
        Err(failed(
            url,
            format!("SHA-256 is {found}, published is {expected}"),
        ))
    }
}

fn write_program(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, bytes).map_err(Error::file("write", path))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
        .map_err(Error::file("make executable", path))
}

fn failed(url: &str, reason: impl ToString) -> Error {
    Error::Download {
        url: url.to_owned(),
        reason: reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_sum_of_a_file() {
        let sums = "aa  etcd-v1-linux-arm64.tar.gz\nbb  etcd-v1-linux-amd64.tar.gz\n";
        assert_eq!(
            sum_of(sums, "etcd-v1-linux-amd64.tar.gz").as_deref(),
            Some("bb")
        );
        assert_eq!(sum_of(sums, "etcd-v1-linux"), None);
    }

    #[test]
    fn refuses_a_wrong_checksum() {
        // SHA-256 of "abc", from FIPS 180-2.
        let abc = "BA7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(verify("u", b"abc", abc).is_ok());
        let error = verify("u", b"abd", abc).unwrap_err().to_string();
        assert!(error.contains("published is"), "{error}");
    }
}

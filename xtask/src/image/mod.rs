//! `cargo xtask image`: a container image from scratch with the static binary, without a container engine.
//!
//! [`compile`] makes the binary, [`symbols`] takes the names of functions out of it, [`archive`] makes the image. The image holds
//! `/armature`, `/armature.symbols`, the authorities that TLS trusts and nothing else: no shell, no C library.

mod archive;
mod compile;
mod symbols;

use std::process::ExitCode;

use anyhow::Context;
use armature_progress::Progress;
use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

use crate::workspace;

/// Arguments of `image`.
#[derive(Debug, Args)]
pub struct ImageArguments {
    /// File to write: an OCI image archive, as `docker load`, `podman load`, `skopeo copy oci-archive:…` and
    /// `kind load image-archive` read it.
    #[arg(long, default_value = "target/armature-image.tar", value_name = "FILE")]
    output: Utf8PathBuf,
    /// Name and tag of the image; the chart's repository and this version by default.
    #[arg(long, default_value = concat!("ghcr.io/armature/armature:", env!("CARGO_PKG_VERSION")), value_name = "NAME:TAG")]
    tag: String,
    /// Machine that the image is for.
    #[arg(long, value_enum, default_value_t = Platform::of_this_machine())]
    platform: Platform,
    /// Take this static binary instead of building one.
    #[arg(long, value_name = "FILE")]
    binary: Option<Utf8PathBuf>,
    /// PEM file with the certificate authorities that the image trusts.
    #[arg(
        long,
        default_value = "/etc/ssl/certs/ca-certificates.crt",
        value_name = "FILE"
    )]
    authorities: Utf8PathBuf,
}

/// A machine that images are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Platform {
    /// 64-bit x86.
    #[value(name = "linux/amd64")]
    Amd64,
    /// 64-bit ARM.
    #[value(name = "linux/arm64")]
    Arm64,
}

impl Platform {
    fn of_this_machine() -> Self {
        match std::env::consts::ARCH {
            "aarch64" => Self::Arm64,
            _ => Self::Amd64,
        }
    }

    /// Rust's name of the target.
    fn target(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64-unknown-linux-musl",
            Self::Arm64 => "aarch64-unknown-linux-musl",
        }
    }
}

/// Runs `image`.
pub async fn run(arguments: &ImageArguments) -> anyhow::Result<ExitCode> {
    let root = workspace::root()?;
    let progress = Progress::new();
    let path = match &arguments.binary {
        Some(path) => path.clone(),
        None => compile::binary(&root, arguments.platform.target(), &progress).await?,
    };
    let binary = std::fs::read(&path).with_context(|| format!("cannot read {path}"))?;
    let symbols = symbols::table(&binary).with_context(|| format!("{path} cannot be used"))?;
    let content = archive::Content {
        binary: match symbols {
            Some(_) => symbols::stripped(&path).await?,
            None => binary,
        },
        symbols,
        authorities: std::fs::read(&arguments.authorities).with_context(|| {
            format!(
                "cannot read {}; install ca-certificates, or name a PEM file with --authorities",
                arguments.authorities
            )
        })?,
    };
    archive::check_static(&content.binary).with_context(|| format!("{path} cannot be used"))?;
    let archive = archive::build(&content, arguments.platform, &arguments.tag)?;
    let output = root.join(&arguments.output);
    workspace::write(&output, &archive)?;
    println!(
        "{} for {} is in {output}: {:.1} MB, the binary {:.1} MB",
        arguments.tag,
        arguments.platform.target(),
        megabytes(archive.len()),
        megabytes(content.binary.len()),
    );
    Ok(ExitCode::SUCCESS)
}

fn megabytes(bytes: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "shown with one digit")]
    let bytes = bytes as f64;
    bytes / 1e6
}

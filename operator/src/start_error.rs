//! Why an operator does not start.

use std::net::SocketAddr;

use armature_runtime::azure;
use armature_runtime::extension::RegisterError;
use armature_runtime::kubernetes::{
    AnnounceError, CertificateError, ClientError, CrdError, PatternError, UnknownVersions,
};

/// Why an operator does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No connection to Kubernetes can be made.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The CRD pattern names nothing.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// There is nothing to manage.
    #[error(
        "no CRD is installed and no CRD pattern is given; name the kinds to install, for example \
         --crd-pattern 'resources.azure.com/*;storage.azure.com/*'"
    )]
    NoKinds,
    /// CRDs cannot be installed.
    #[error(transparent)]
    Crd(#[from] CrdError),
    /// Objects would be lost.
    #[error(transparent)]
    UnknownVersions(#[from] UnknownVersions),
    /// Other replicas cannot be told that this one is there.
    #[error(transparent)]
    Announce(#[from] AnnounceError),
    /// The webhook has no certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The settings for Azure cannot be used.
    #[error(transparent)]
    Arm(#[from] azure::ClientError),
    /// Handwritten extensions contradict each other; a defect of this program.
    #[error(transparent)]
    Extensions(#[from] RegisterError),
    /// The system gives no threads for passes.
    #[error("threads for passes over objects cannot be started: {0}")]
    Threads(#[source] std::io::Error),
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    /// The URL of the webhook cannot be used.
    #[error("the webhook's URL {url} cannot be used: {reason}; expected https://HOST:PORT/convert")]
    WebhookUrl {
        /// As given.
        url: String,
        /// What is wrong.
        reason: String,
    },
    /// An address is taken or not ours.
    #[error("cannot listen on {address} for {purpose}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What would be served there.
        purpose: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

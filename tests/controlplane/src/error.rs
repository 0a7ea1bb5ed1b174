//! What can go wrong while getting, starting or stopping the control plane, as sentences to act on.

use std::path::PathBuf;

use crate::log_tail::LogTail;

/// An error of the control plane.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `KUBEBUILDER_ASSETS` is set, but a binary is missing there.
    #[error(
        "KUBEBUILDER_ASSETS is {} but {} is not there: put etcd and kube-apiserver in that folder, or unset the variable",
        folder.display(), missing
    )]
    AssetsIncomplete {
        /// Value of the variable.
        folder: PathBuf,
        /// Name of the missing binary.
        missing: &'static str,
    },

    /// Neither `XDG_CACHE_HOME` nor `HOME` is set.
    #[error(
        "no cache folder: set HOME or XDG_CACHE_HOME, or point KUBEBUILDER_ASSETS at a folder with etcd and kube-apiserver"
    )]
    NoCacheFolder,

    /// No binaries in the cache, no download, and no Go to build them with.
    #[error(
        "etcd and kube-apiserver are neither cached nor downloadable ({download}), and `go` was not found to build them: \
         install Go {minimum} or newer (https://go.dev/dl) and put it on PATH, or set KUBEBUILDER_ASSETS to a folder with both"
    )]
    GoMissing {
        /// Why the download did not work.
        download: String,
        /// Oldest Go that builds the pinned versions.
        minimum: &'static str,
    },

    /// The Go on `PATH` is too old for the pinned versions.
    #[error(
        "{found} cannot build kube-apiserver: install Go {minimum} or newer (https://go.dev/dl), or set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver"
    )]
    GoTooOld {
        /// What `go env GOVERSION` printed.
        found: String,
        /// Oldest Go that works.
        minimum: &'static str,
    },

    /// There is no helm, and no Go to build it with.
    #[error(
        "helm is not on PATH and `go` cannot be started to build it ({source}): install helm 3 (https://helm.sh) or Go (https://go.dev/dl)"
    )]
    HelmMissing {
        /// Error of the operating system.
        source: std::io::Error,
    },

    /// `go build` failed.
    #[error(
        "go build of {package} failed; it needs a Go module proxy, 4 GB of memory and 3 GB of disk. Its last lines:\n{log}"
    )]
    GoBuild {
        /// Go package that was built.
        package: &'static str,
        /// Tail of the compiler's output.
        log: LogTail,
    },

    /// A download did not work; callers fall back to building.
    #[error("download of {url}: {reason}")]
    Download {
        /// What was requested.
        url: String,
        /// What went wrong.
        reason: String,
    },

    /// A file operation failed.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// Verb, such as `write`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },

    /// A process could not be started.
    #[error("cannot start {program}: {source}")]
    Spawn {
        /// Program.
        program: String,
        /// Error of the operating system.
        source: std::io::Error,
    },

    /// A process ended although it should run.
    #[error("{program} ended with {status} while starting. Its last lines:\n{log}")]
    Exited {
        /// Program.
        program: &'static str,
        /// Exit status.
        status: std::process::ExitStatus,
        /// Tail of its log.
        log: LogTail,
    },

    /// The API server does not answer `/readyz` with `ok` in time.
    #[error("kube-apiserver was not ready after {seconds} s ({last}). Its last lines:\n{log}")]
    NotReady {
        /// How long was waited.
        seconds: u64,
        /// Last answer or error.
        last: String,
        /// Tail of its log.
        log: LogTail,
    },

    /// Certificates could not be made.
    #[error("cannot issue certificates for the control plane: {0}")]
    Certificate(#[from] rcgen::Error),

    /// The Kubernetes client could not be built from our own kubeconfig.
    #[error("cannot build a Kubernetes client: {0}")]
    Client(String),
}

impl Error {
    /// A closure for `map_err` that adds the action and the path to an I/O error.
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::File {
            action,
            path: path.into(),
            source,
        }
    }
}

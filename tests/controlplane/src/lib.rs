//! A real Kubernetes control plane, `etcd` and `kube-apiserver` as processes, for tests and `cargo xtask dev`.
//!
//! Lives here: finding, downloading or building the two binaries ([`Binaries`]), certificates, starting, watching
//! and stopping the processes ([`ControlPlane`]), finding or building helm ([`locate_or_build_helm`]),
//! kubectl ([`locate_or_build_kubectl`]) and Flux's library for server-side apply ([`Flux`]), how tests wait for what is to
//! come ([`waiting`]), and which program those of commands run ([`program`]).
//! Does not live here: anything of Azure or of the operator, and any imitation of Kubernetes.
//!
//! What a control plane of two processes lacks, because no controller manager runs: no garbage collection by
//! owner reference, a deleted namespace stays `Terminating`, no default service accounts (the ServiceAccount
//! admission is off for that reason), and no workload ever starts. Everything that the API server itself does is
//! there: validation, CEL, RBAC, conversion webhooks, server-side apply, watches, finalizers.
//!
//! ```no_run
//! # async fn example() -> Result<(), armature_controlplane::Error> {
//! use armature_controlplane::{ControlPlane, Options};
//!
//! let plane = ControlPlane::start(Options::default()).await?;
//! let client = plane.client().await?;
//! println!("export KUBECONFIG={}", plane.kubeconfig().display());
//! # let _ = client; Ok(()) }
//! ```

mod argo;
mod binaries;
mod certificates;
mod error;
mod flux;
mod go_program;
mod helm;
mod kubeconfig;
mod kubectl;
mod log_tail;
mod plane;
mod ports;
mod process;
mod program;
mod usage;
pub mod waiting;

pub use argo::argo_health;
pub use binaries::{Binaries, ETCD_VERSION, KUBERNETES_VERSION, cache_root};
pub use error::Error;
pub use flux::Flux;
pub use helm::{HELM_VERSION, locate_or_build_helm};
pub use kubectl::locate_or_build_kubectl;
pub use log_tail::LogTail;
pub use plane::{ControlPlane, Options};
pub use ports::free_port;
pub use process::Supervised;
pub use program::program;
pub use usage::Usage;

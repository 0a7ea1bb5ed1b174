//! The operator behind the `armature` binary, as a library: tests and other programs start it in their own
//! process with [`Operator::start`].
//!
//! | module | what lives here |
//! |---|---|
//! | [`operator`] | puts the parts together, starts and stops them |
//! | [`config`] | what an operator is told, checked |
//! | [`command`] | the command line: flags and environment variables to [`config`] |
//! | [`relations`] | what runs in a cluster, how it hangs together, and what is in the way |
//! | [`graph`] | the same as a drawing |
//! | [`render`] | what manifests would lead to, without a cluster |
//! | [`import`] | manifests of what exists in Azure |
//! | [`explain`] | kinds and properties, from shapes alone |
//! | [`export`] | the installation as manifests |
//! | [`descriptions`] | Azure's own words for properties |
//! | [`plan`] | what manifests, or a cluster, would change in Azure |
//! | [`check`] | what of a cluster this release refuses |
//! | [`settings`] | what the Secret of the operator's settings says, and what changed since the last start |
//! | [`installation`] | the operator that is installed in a cluster, and what it is told |
//! | [`takeover`] | a cluster from Azure Service Operator, and back |
//! | [`worlds`], [`transports`] | what the reconciler reaches where that is no cluster and no Azure |
//! | `metrics`, `profile` | figures for Prometheus, and CPU profiles of the process |
//! | [`colour`] | who gets colours |
//! | [`logging`] | where log lines go and how they look |
//! | [`traces`] | spans for an OpenTelemetry collector |
//!
//! What does not live here: anything that reconciles (`armature_runtime`) and anything of one Azure service
//! (`armature_customizations`).

mod build_id;
pub mod check;
pub mod colour;
pub mod command;
pub mod config;
mod crd_report;
mod crds;
pub mod descriptions;
pub mod explain;
pub mod export;
#[cfg(test)]
mod fake_api;
pub mod graph;
mod health;
pub mod import;
pub mod installation;
pub mod logging;
mod manager;
mod memory;
mod metrics;
mod migration;
pub mod operator;
mod pass_threads;
pub mod plan;
mod platform;
mod profile;
pub mod relations;
pub mod render;
mod secret_bounds;
pub mod settings;
mod start_error;
pub mod takeover;
pub mod traces;
pub mod transports;
mod turn;
mod webhook;
pub mod worlds;

pub use config::{
    CONVERSION_MEMORY, CrdManagement, MetricsReaders, OperatorConfig, OperatorMode, VersionChoice,
    WebhookReach,
};
pub use operator::Operator;
pub use start_error::StartError;

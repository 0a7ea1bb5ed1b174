//! The chart in `deploy/chart`, with the real helm against a real API server.
//!
//! [`chart`] renders it, [`cluster`] is where it is installed, [`rights`] reads roles and the API server's audit log,
//! [`pod`] runs the binary as the rendered Deployment would, [`service`] stands for the Service before pods. What no test
//! here does is start a container: nothing runs pods.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

mod again;
#[path = "../aso/mod.rs"]
mod aso;
mod chart;
mod cluster;
mod crds_command;
mod export;
mod files;
mod flow;
mod install;
mod lists;
mod meanings;
mod metrics;
mod migration;
mod modes;
mod moving_in;
mod namespaces;
mod neighbours;
mod pages;
mod pod;
mod profile;
mod protection;
mod rights;
mod scopes;
mod service;
mod several_tenants;
mod stop;
mod storage_version;
mod takeover;
mod upgrade;
mod values;
mod versions;

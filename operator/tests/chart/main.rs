//! The chart in `deploy/chart`, with the real helm against a real API server.
//!
//! [`chart`] renders it, [`rights`] reads roles and the API server's audit log, [`pod`] runs the binary as the rendered
//! Deployment would. What no test here does is start a container: nothing runs pods.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

mod chart;
mod install;
mod pod;
mod rights;
mod values;

//! Manifests are read value by value as kubectl reads them, compared with kubectl itself.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

mod oracle;
mod scalars;
mod syntax;

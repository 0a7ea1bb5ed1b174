//! The whole simulator over HTTPS, as a client that knows nothing about it sees it.
//!
//! | module | what is tested |
//! |---|---|
//! | [`sign_in`] | tokens, and the metadata that leads clients to them |
//! | [`resources`] | the life of resources, with what the simulator knows of single kinds |
//! | [`control`] | the request log, faults, limits, and the hand of somebody else |
//! | [`faults`] | faults that only a client over HTTP sees, stale reads, operations without end |
//! | [`serving`] | starting and stopping |
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

#[path = "../common/mod.rs"]
mod common;

mod control;
mod faults;
mod resources;
mod serving;
mod sign_in;

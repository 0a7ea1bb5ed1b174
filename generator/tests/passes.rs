//! Golden and fault tests of the generator, a folder for each pass, on small specs and models of our own and, where they
//! are on this machine, on Azure's.
//!
//! One binary for all of them, since linking takes longer than running. What several need is in `common`.

mod common;
mod curate;
mod diff;
mod discover;
mod emit;
mod explain;
mod hub;
mod inherit;
mod load;
mod pipeline;
mod propose;
mod survey;
mod types;

//! Azure's specs in; types, shapes, kind descriptors and reference pages out.
//!
//! A pipeline of eight passes over one model. Each pass is a module with one entry function, pure but
//! for `load` (reads spec files) and the caller (writes what `emit` returns).
//!
//! | pass | module | from → to |
//! |---|---|---|
//! | 1 load | [`load`] | spec files → documents with resolved references |
//! | 2 discover | [`discover`] | documents → resources with their verbs, scope, owner and name rules |
//! | 3 types | [`types`] | schemas → [`model::TypeTable`]: merged, flattened, discriminated |
//! | 4 curate | [`curate`] | heuristics and `specs/<group>/group.toml` → exported kinds with references and secrets |
//! | 5 hub | [`hub`] | versions of a kind → hub type and one conversion plan per version |
//! | 6 name | [`naming::Names`] | identities of types → names in Rust |
//! | 7 share | [`share`] | equal types across versions → one definition |
//! | 8 emit | [`emit`] | model → files in memory, deterministic to the byte |
//!
//! What a curation file may say, and reading it, is [`curation`]: passes 1 to 3 ask it which specs to read and what to keep
//! whole. To versions that only Bicep types describe, [`inherit`] adds what OpenAPI knows of the same resources; that lies in
//! an [`overlay`], which pass 3 asks.
//!
//! [`pipeline`] runs all of them, [`survey`] the first three over a whole spec tree. [`diff`] compares what pass 4 returns
//! before and after a change, [`crd`] tells what CRDs will check of it, [`explain`] what the passes noted of their decisions.
//! [`propose`] finds an ARM type and what a curation file must say to export it.
//!
//! This crate knows nothing of `runtime`: the two meet only in the text that `emit` writes.

pub mod crd;
pub mod curate;
pub mod curation;
pub mod diff;
pub mod discover;
pub mod emit;
pub mod explain;
pub mod hub;
pub mod inherit;
pub mod load;
pub mod model;
pub mod naming;
pub mod overlay;
pub mod pipeline;
pub mod propose;
pub mod share;
pub mod survey;
pub mod types;

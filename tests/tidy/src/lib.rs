//! What must hold for the structure of the workspace, checked by reading its files.
//!
//! The tests in `tests/workspace.rs` run each check over this workspace; the tests beside each check run it over a few
//! files in memory and show that it can fail. What the workspace does not keep to yet is listed in `known.toml`, which
//! only shrinks; which crate may depend on which is in `direction.toml`.
//!
//! | module | what it does |
//! |---|---|
//! | [`workspace`] | everything that the checks need, read once |
//! | [`tree`] | the files of a workspace, read once or given in memory |
//! | [`members`] | the crates of a workspace, from its manifests |
//! | [`text`] | comments, strings and identifiers of a Rust file |
//! | [`source`] | imports, definitions, functions and lints of a Rust file |
//! | [`modules`] | the module tree of a crate, and which file a path leads to |
//! | [`graph`] | circles, and the edges that close them |
//! | [`known`] | the list of what is known |
//! | [`circles`] | check: no file and no folder imports another in a circle |
//! | [`direction`] | check: crates depend on each other in one direction |
//! | [`customizations`] | check: the page about extensions names files and tests that exist |
//! | [`features`] | check: every generated group is in the operator |
//! | [`services`] | check: `runtime` names no Azure service |
//! | [`sizes`] | check: files and functions are short |
//! | [`sections`] | check: every section that is cited exists |
//! | [`cited`] | check: files and modules that are cited exist |
//! | [`links`] | check: links of the documentation lead somewhere |
//! | [`book`] | check: pages of the book are listed, lead to pages, and can be read |
//! | [`merges`] | check: no merge was left unfinished |
//! | [`lints`] | check: no module switches off what keeps panics out |
//! | [`platform`] | check: one module of the command depends on the operating system |
//! | [`toolchain`] | check: every place names the same versions of Rust and Go |
//! | [`waits`] | check: tests wait by one limit, against hanging only |
//!
//! What does not live here: anything that needs the code of the workspace to be built.

pub mod book;
pub mod circles;
pub mod cited;
pub mod customizations;
pub mod direction;
pub mod features;
pub mod graph;
pub mod known;
pub mod links;
pub mod lints;
pub mod members;
pub mod merges;
pub mod modules;
pub mod platform;
pub mod sections;
pub mod services;
pub mod sizes;
pub mod source;
pub mod text;
pub mod toolchain;
pub mod tree;
pub mod waits;
pub mod workspace;

//! End to end: a real API server, a simulated Azure and the operator in one process.
//!
//! [`World::shared`] starts them once per test binary, on a runtime of its own that outlives the tests. Every test
//! works in a namespace and with Azure names of its own.

#![allow(clippy::panic, reason = "support for tests fails as tests do")]

mod choices;
mod objects;
mod shown;
mod world;

pub use choices::Choices;
pub use objects::{Objects, condition, kind_info};
pub use shown::Shown;
pub use world::{OPERATOR_NAMESPACE, World, create_namespace, identity, operator_config};

//! End to end: a real API server, a simulated Azure and the operator in one process.
//!
//! [`World::shared`] starts them once per test binary, on a runtime of its own that outlives the tests. Every test
//! works in a namespace and with Azure names of its own.

mod objects;
mod world;

pub use objects::{Objects, condition};
pub use world::World;

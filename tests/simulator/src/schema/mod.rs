//! ARM's JSON seen through shapes: checking request bodies and splitting off what Azure does not return.
//!
//! Shapes describe the Kubernetes side and say for each field where its value sits in ARM's JSON; this module
//! reads them from the other end. What does not live here: anything about a particular type.

mod check;
mod cursor;
mod project;
mod shown;

pub use check::{Mode, check, refusal};
pub use project::{carry_read_only, has_status_path, returned, writable};
pub use shown::shown;
